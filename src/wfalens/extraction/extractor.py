"""The whole extraction: from a model and texts to an automaton (paper §3)."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import COMPLETIONS, DISTANCES, Completion, Empirical, Fitted, Null, Probe, Uniform
from wfalens.automaton.kernels import Rows
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.rows import MAX_STATES, rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.vectors import WordVectors
from wfalens.corpus.vocabulary import UNKNOWN
from wfalens.errors import InputError
from wfalens.extraction.abstraction import ABSTRACTIONS, Abstraction, States, state_centres
from wfalens.extraction.augmentation import Augmentation, augmented
from wfalens.extraction.distillation import Distillation
from wfalens.extraction.fitting import Fitting, fit_rows
from wfalens.extraction.probing import (
    Representatives,
    affordable,
    choose_representatives,
    probe_rows,
    probing_queries,
)
from wfalens.extraction.queries import (
    AUGMENTATION,
    BLACK_BOX_QUERIES,
    FITTING_SHARE,
    LOOK_AHEAD_SHARE,
    PROBING,
    SEARCH,
    SEARCH_SHARE,
    Ledger,
)
from wfalens.extraction.transitions import TransitionCounts, count_transitions, weighted_sum
from wfalens.extraction.tuning import ALPHAS, BETAS, FIT_LADDER, LADDER, Tuning, choose
from wfalens.extraction.views import Outputs, Seen, View, most_look_ahead_queries, see
from wfalens.models.causality import check_causal
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged

INITIAL = ("model", "uniform")
KINDS = (StochasticWFA.kind, LinearWFA.kind)
AUTO, CORPUS = "auto", "corpus"


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
    initial: str = "model"
    sample: int | None = 256
    distillation: Distillation = field(default_factory=Distillation)
    vectors: WordVectors | None = None
    budget: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
        if not isinstance(self.abstraction, Abstraction):
            _one_of("abstraction", self.abstraction, (*ABSTRACTIONS, AUTO))
        _one_of("completion", self.completion, COMPLETIONS)
        _one_of("distance", self.distance, DISTANCES)
        _one_of("initial", self.initial, INITIAL)
        self._settle("states", _whole, 1, MAX_STATES - 1, words=(AUTO,))
        self._settle("alpha", _real, 0.0, 1.0, words=(AUTO,))
        self._settle("beta", _real, 0.0, 1.0, words=(AUTO, CORPUS))
        self._settle("representatives", _whole, 1, 1 << 20)
        self._settle("strength", _real, 1e-9, 1e9)
        if self.sample is not None:
            self._settle("sample", _whole, 1, 1 << 40)
        if self.queries is not None:
            self._settle("queries", _whole, 1, 1 << 60)
            if self.kind == LinearWFA.kind:
                raise InputError("queries limit the stochastic kind only; for the linear one limit epochs and tokens")
        if self.budget is not None:
            self._settle("budget", _whole, 1, 1 << 60)
        self._settle("seed", _whole, 0, 1 << 64)

    def _settle(
        self, name: str, kind: Callable[[Any], float | None], least: float, most: float, words: Sequence[str] = ()
    ) -> None:
        """Turn an option into a plain Python number within bounds, or one of the words; else refuse it."""
        given = getattr(self, name)
        if isinstance(given, str) and given in words:
            return
        value = kind(given)
        if value is None or not least <= value <= most:
            also = "".join(f" or be {word!r}" for word in words)
            raise InputError(f"{name} must lie between {least:g} and {most:g}{also}, not {given!r}")
        object.__setattr__(self, name, value)

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
        ids, name = _texts(model, corpus, progress)
        check_causal(model, ids)
        provenance = self._provenance(model, ids, name)
        if self.kind == LinearWFA.kind:
            return self._trained(model, ids, provenance, progress, checkpoint)
        return self._counted(model, ids, provenance, progress)

    @property
    def _sized_distillation(self) -> Distillation:
        return self.distillation if self.states == AUTO else self.distillation.sized(int(self.states))

    def _trained(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        provenance: dict[str, Any],
        progress: Progress,
        checkpoint: Path | None,
    ) -> LinearWFA:
        from wfalens.extraction.distiller import distil

        return distil(
            model,
            ids,
            self._sized_distillation,
            vectors=self.vectors,
            seed=self.seed,
            checkpoint=checkpoint,
            provenance=provenance,
            progress=progress,
        )

    def _counted(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], provenance: dict[str, Any], progress: Progress
    ) -> StochasticWFA:
        ledger = Ledger(self.query_limit(model))
        settled = self
        if AUTO in (self.states, self.alpha, self.beta, self.abstraction):
            tuning, seen, view = self._tuned(model, ids, ledger, progress)
            provenance["tuning"] = tuning.to_json()
            settled = tuning.settled(self)
        else:
            seen, view = self._seen(model, ids, ledger, progress)
        words = np.arange(1, len(model.encoder.vocabulary), dtype=np.int32)
        return settled._build(model, seen, view, words, provenance, ledger, progress)

    def query_limit(self, model: StepwiseClassifier) -> int | None:
        """How often the model may be asked beyond the texts."""
        if self.queries is None and not isinstance(model, SteppableClassifier):
            return BLACK_BOX_QUERIES
        return self.queries

    def _seen(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, progress: Progress
    ) -> tuple[Seen, View]:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed).spawn(5)[4])
        view = self._abstraction.view(model, ids, rng, ledger)
        ledger.texts += len(ids.values)
        return see(model, ids, view, progress), view

    def _tuned(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, progress: Progress
    ) -> tuple[Tuning, Seen, View]:
        """Choose what is "auto", and what was seen of the texts in the view that was chosen."""
        tried = [self]
        if self.abstraction == AUTO:
            most = ledger.share(LOOK_AHEAD_SHARE)
            looks = isinstance(model, SteppableClassifier) and (most is None or most_look_ahead_queries(ids) <= most)
            tried = [replace(self, abstraction=name) for name in (ABSTRACTIONS if looks else (Outputs.name,))]
        searches = {each._abstraction.name: each._searched(model, ids, ledger, len(tried), progress) for each in tried}
        tuning = Tuning.best([found for found, _, _ in searches.values()])
        _, seen, view = searches[tuning.chosen.abstraction]
        return tuning, seen, view

    def _searched(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, views: int, progress: Progress
    ) -> tuple[Tuning, Seen, View]:
        """The search in one view.

        For speed it leaves out augmented texts and the fitting of rows, which gains alike for all settings.
        """
        fits = self.completion == Fitted.name
        seen, view = self._seen(model, ids, ledger, progress)
        ladder = (FIT_LADDER if fits else LADDER) if self.states == AUTO else (int(self.states),)
        plain = replace(
            self,
            alpha=0.0,
            beta=CORPUS if self.beta == AUTO else self.beta,
            completion=Probe.name if fits else self.completion,
            augmentation=None,
        )

        def build(states: int, part: Seen, words: NDArray[np.int32]) -> StochasticWFA:
            return replace(plain, states=states)._build(
                model, part, view, words, {}, ledger, SILENT, trial=SEARCH_SHARE / views / len(ladder), soft=fits
            )

        alphas = ALPHAS if not fits else ALPHAS[:1]  # fitted rows know best when to stay
        tuning = choose(
            seen,
            self._abstraction.name,
            build,
            ladder,
            alphas if self.alpha == AUTO else (float(self.alpha),),
            BETAS if self.beta == AUTO else (),
            self.budget,
            np.random.default_rng(np.random.SeedSequence(self.seed).spawn(4)[3]),
            progress,
        )
        return tuning, seen, view

    @property
    def _abstraction(self) -> Abstraction:
        return ABSTRACTIONS[self.abstraction] if isinstance(self.abstraction, str) else self.abstraction

    def _build(
        self,
        model: StepwiseClassifier,
        seen: Seen,
        view: View,
        words: NDArray[np.int32],
        provenance: dict[str, Any],
        ledger: Ledger,
        progress: Progress,
        trial: float | None = None,
        soft: bool = False,
    ) -> StochasticWFA:
        """The automaton of texts and what the model showed on them, with rows for some words.

        trial: the share of the query budget that it may cost where it is only tried
        """
        # one stream per step: a step's draws do not depend on whether another one ran
        for_states, for_texts, for_probing = (
            np.random.default_rng(stream) for stream in np.random.SeedSequence(self.seed).spawn(3)
        )
        ids, alphabet = seen.ids, len(model.encoder.vocabulary)
        progress.start("clustering the outputs")
        states = self._abstraction.divide(seen, int(self.states), self.sample, for_states)
        states, path = states.visited(seen.points)
        progress.finish()
        counts = count_transitions(ids, path, len(states))
        more = self._augmented_counts(model, ids, states, view, for_texts, ledger, progress)
        centres = state_centres(seen.outputs, path, self._initial_output(model), len(states))
        completion: Completion
        if self.completion in (Probe.name, Fitted.name):
            word_counts = np.bincount(ids.values, minlength=alphabet)
            chosen = choose_representatives(ids, path, self.representatives, for_probing)
            words, chosen = self._affordable(model, words, word_counts, chosen, ledger, trial, soft, progress)
            hardness = self.fitting.hardness if soft or self.completion == Fitted.name else None
            ledger.enter(PROBING if trial is None else SEARCH, probing_queries(model, chosen, len(words)))
            probed = probe_rows(model, chosen, states, view, words, hardness, progress)
            rows = rows_from_keys(probed.keys, probed.counts, alphabet, len(states))
            completion = Probe(self.strength, chosen.per_state, rows)
            if self.completion == Fitted.name:
                rule = self.fitting.within(ledger.left(), ids)
                fitted, moved = fit_rows(model, ids, rows, centres, rule, for_probing, progress, ledger)
                completion = Fitted(fitted, float(np.abs(moved - centres).sum(1).mean()))
                centres = moved
        else:
            completion = self._rule(counts)
        if len(words) < alphabet - 1:
            counts, more = counts.of_words(words), more.of_words(words)
        provenance["queries"] = ledger.to_json()
        return StochasticWFA(
            encoder=model.encoder,
            class_names=model.class_names,
            centres=centres,
            rows=_weighted_rows(counts, more, self.augmentation, alphabet),
            completion=completion,
            alpha=0.0 if isinstance(completion, Fitted) else float(self.alpha),
            state_visits=np.bincount(path, minlength=len(states)) + np.eye(1, len(states), dtype=int)[0] * len(ids),
            word_counts=np.bincount(ids.values, minlength=alphabet),
            provenance=provenance,
        )

    def _affordable(
        self,
        model: StepwiseClassifier,
        words: NDArray[np.int32],
        word_counts: NDArray[np.int64],
        chosen: Representatives,
        ledger: Ledger,
        trial: float | None,
        soft: bool,
        progress: Progress,
    ) -> tuple[NDArray[np.int32], Representatives]:
        fitting = FITTING_SHARE if soft or self.completion == Fitted.name else 0.0
        budget = ledger.left(1 - fitting) if trial is None else ledger.share((1 - SEARCH_SHARE) * (1 - fitting))
        # what the whole alphabet can afford, even if only some words are wanted now, as in a search
        everything = np.arange(1, len(word_counts), dtype=np.int32)
        kept, fewer = affordable(model, everything, word_counts, chosen, budget)
        if len(kept) < len(everything):
            progress.say(
                f"{budget:,} queries pay for {len(kept):,} of {len(everything):,} words; the others act as <unk>"
            )
            words = np.union1d(np.intersect1d(words, kept), np.int32(UNKNOWN)).astype(np.int32)
        elif fewer.per_state < self.representatives:
            progress.say(
                f"{budget:,} queries pay for {fewer.per_state} of {self.representatives} representatives per state"
            )
        if trial is None:
            return words, fewer
        allowed = ledger.share(trial)
        if allowed is not None and allowed < probing_queries(model, fewer.first(1), 1):
            allowed = ledger.unspent(SEARCH, SEARCH_SHARE)  # a small budget tries fewer numbers of states
        return affordable(model, words, word_counts, fewer, allowed)

    def _rule(self, counts: TransitionCounts) -> Completion:
        if self.completion == Null.name:
            return Null()
        if self.completion == Uniform.name:
            return Uniform()
        beta = 1 - counts.self_transition_share() if self.beta == CORPUS else float(self.beta)
        return Empirical(beta, self.distance)

    def _augmented_counts(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        states: States,
        view: View,
        rng: np.random.Generator,
        ledger: Ledger,
        progress: Progress,
    ) -> TransitionCounts:
        total = TransitionCounts.empty(len(states))
        if self.augmentation is None:
            return total
        progress.start("looking for synonyms")
        synonyms = self.augmentation.synonyms(model.encoder.vocabulary)
        progress.finish()
        epochs = []
        for _ in range(self.augmentation.epochs):
            fresh = augmented(ids, synonyms, self.augmentation.chances, rng)
            ledger.enter(AUGMENTATION, len(fresh.values))
            path = states.assign(see(model, fresh, view, progress).points)
            epochs.append(count_transitions(fresh, path, len(states)))
        return total.merge(*epochs)

    def _initial_output(self, model: StepwiseClassifier) -> NDArray[np.float32]:
        own = getattr(model, "initial_output", None) if self.initial == "model" else None
        return np.full(len(model.class_names), 1 / len(model.class_names), np.float32) if own is None else own

    def _provenance(self, model: StepwiseClassifier, ids: Ragged[np.int32], name: str) -> dict[str, Any]:
        from wfalens import __version__

        apart = {"augmentation", "distillation", "vectors"}
        parameters = {key: value for key, value in vars(self).items() if key not in apart}
        parameters["abstraction"] = self.abstraction if self.abstraction == AUTO else self._abstraction.name
        parameters["fitting"] = asdict(self.fitting) if self.completion == Fitted.name else None
        if self.kind == LinearWFA.kind:
            parameters = {"kind": self.kind, "states": self.states, "seed": self.seed}
            parameters |= asdict(self._sized_distillation)
        return {
            "corpus": {"name": name, "texts": len(ids), "tokens": len(ids.values)},
            "model": {"type": type(model).__name__, "fingerprint": model.fingerprint},
            "parameters": parameters,
            "augmentation": self.augmentation.parameters if self.augmentation else None,
            "vectors": self.vectors.source if self.vectors else None,
            "versions": {
                "wfalens": __version__,
                "numpy": np.__version__,
                "python": platform.python_version(),
            },
        }


def _texts(
    model: StepwiseClassifier, corpus: Corpus | Sequence[str] | Ragged[np.int32], progress: Progress
) -> tuple[Ragged[np.int32], str]:
    """Word ids of the texts that have words, and the corpus' name."""
    if isinstance(corpus, Ragged):
        ids, name = model.encoder.checked(corpus), "ids"
    else:
        texts, name = (corpus.texts, corpus.name) if isinstance(corpus, Corpus) else (corpus, "texts")
        ids = model.encoder.encode(texts)
        cut = int(np.sum(ids.lengths == model.encoder.max_length)) and model.encoder.count_cut(texts)
        if cut:
            progress.say(f"{cut} of {len(texts)} texts were cut after {model.encoder.max_length} tokens")
    worded = np.flatnonzero(ids.lengths)
    if len(worded) == 0:
        raise InputError("there is no text with a word in it to extract from")
    return ids if len(worded) == len(ids) else ids.take(worded), name


def _weighted_rows(
    counts: TransitionCounts, more: TransitionCounts, augmentation: Augmentation | None, words: int
) -> Rows:
    """Rows of `T̂ + weight · T̂'`, T̂' the counts of the augmented texts."""
    weight = augmentation.weight if augmentation else 1.0
    return rows_from_keys(*weighted_sum(counts, more, weight), words, counts.states)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"unknown {name} {value!r}; choose one of {', '.join(allowed)}")
