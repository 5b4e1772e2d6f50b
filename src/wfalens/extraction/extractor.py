"""The whole extraction: from a model and texts to an automaton (paper §3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.vectors import WordVectors
from wfalens.extraction.building import build
from wfalens.extraction.choice.search import settle
from wfalens.extraction.completion.augmentation import Augmentation
from wfalens.extraction.completion.fitting import Fitting
from wfalens.extraction.completion.queries import BLACK_BOX_QUERIES, Ledger
from wfalens.extraction.linear.distillation import Distillation
from wfalens.extraction.options import AUTO, CORPUS, check_choices, checked_numbers
from wfalens.extraction.provenance import origin
from wfalens.extraction.reading import read_texts
from wfalens.extraction.states.abstraction import Abstraction
from wfalens.extraction.states.views import Outputs
from wfalens.models.causality import check_causal
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
from wfalens.models.traces import MODEL
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """How to extract an automaton; every argument is checked at once.

    kind            stochastic (states are label distributions: the paper's) or linear (real weights, trained against
                    the model: the most faithful)
    states          K, the number of clusters; the automaton has one state more, the initial one
    abstraction     what makes two prefixes alike: outputs (the paper's), or lookahead (also what the model would say
                    after continuations; needs a steppable model), or an `Abstraction` of your own
    completion      rule for missing rows: null, uniform, empirical (the paper's), probe (asks the model) or fit (all
                    rows and centres fitted to the model, starting from probed ones)
    alpha           static probability α: how much of each step stays where it is; fitted rows know that themselves
                    and have none
    beta            reference rate β of empirical completion; "corpus": 1 − the share of self-transitions
    distance        between centres in empirical completion: euclidean (paper) or squared (authors' code)
    representatives r, occurrences that stand for a state in probe completion
    strength        m, how many observations a probed row is worth
    queries         that the whole extraction may ask the model beyond running over the texts (None: no limit for a
                    model that can be stepped, else 4,000,000): a quarter at most for an automatic choice, then, where
                    rows are fitted, half of the rest for that; words that cannot be paid for, the rarest, act as
                    <unk>. What was asked stands in `provenance["queries"]`
    fitting         how rows are fitted
    augmentation    synonym replacement and dropout on the extraction texts, or None
    initial         output of the state before any word: the model's own where it has one, or uniform
    sample          outputs that k-means sees at most, per state (None: all)
    distillation    shape and training of a linear automaton; completion, α, β and augmentation do not concern it
    vectors         word vectors from which a linear automaton may learn beside what the model tells, or None
    budget          bytes that the file may have, by an estimate, where the number of states is chosen
    seed            of everything random: equal seeds give equal bytes

    `states`, `abstraction`, `alpha` and `beta` may be "auto": they are then chosen on a tenth of the texts, held out
    for it, and the automaton is made from all of them. The choice and the curve stand in `provenance["tuning"]`.
    """

    kind: str = StochasticWFA.kind
    states: int | str = 40
    abstraction: str | Abstraction = Outputs.name
    completion: str = "empirical"
    alpha: float | str = 0.4
    beta: float | str = CORPUS
    distance: str = "euclidean"
    representatives: int = 10
    strength: float = 2.0
    queries: int | None = None
    fitting: Fitting = field(default_factory=Fitting)
    augmentation: Augmentation | None = None
    initial: str = MODEL
    sample: int | None = 256
    distillation: Distillation = field(default_factory=Distillation)
    vectors: WordVectors | None = None
    budget: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_choices(self)
        for name, value in checked_numbers(self).items():
            object.__setattr__(self, name, value)

    @property
    def is_open(self) -> bool:
        """Whether something is left to be chosen automatically."""
        return AUTO in (self.states, self.alpha, self.beta, self.abstraction)

    @property
    def sized_distillation(self) -> Distillation:
        """The distillation with as many states as were asked for."""
        return self.distillation if self.states == AUTO else self.distillation.sized(int(self.states))

    def query_limit(self, model: StepwiseClassifier) -> int | None:
        """How often the model may be asked beyond the texts."""
        if self.queries is None and not isinstance(model, SteppableClassifier):
            return BLACK_BOX_QUERIES
        return self.queries

    def extract(
        self,
        model: StepwiseClassifier,
        corpus: Corpus | Sequence[str] | Ragged[np.int32],
        progress: Progress = SILENT,
        checkpoint: Path | None = None,
    ) -> WFA:
        """Extract an automaton from what `model` says about the prefixes of `corpus`.

        The training of a linear automaton is kept in the file `checkpoint` after every epoch and taken up from there.
        """
        ids, name = read_texts(model.encoder, corpus, progress)
        check_causal(model, ids)
        about = {"name": name, "texts": len(ids), "tokens": len(ids.values)}
        provenance = {"corpus": about, **origin(self, model)}
        if self.kind == LinearWFA.kind:
            from wfalens.extraction.linear.distiller import distil

            return distil(
                model,
                ids,
                self.sized_distillation,
                vectors=self.vectors,
                seed=self.seed,
                checkpoint=checkpoint,
                provenance=provenance,
                progress=progress,
            )
        ledger = Ledger(self.query_limit(model))
        settled = settle(self, model, ids, ledger, progress)
        if settled.tuning is not None:
            provenance["tuning"] = settled.tuning.to_json()
        return build(settled.extractor, model, settled.seen, settled.view, provenance, ledger, progress)
