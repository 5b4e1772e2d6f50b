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

from wfalens.automaton.completion import COMPLETIONS, DISTANCES, Completion, Empirical, Null, Probe, Uniform
from wfalens.automaton.kernels import Rows
from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.rows import MAX_STATES, rows_from_keys
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.vectors import WordVectors
from wfalens.errors import InputError
from wfalens.extraction.abstraction import OutputStates, cluster_outputs, state_centres
from wfalens.extraction.augmentation import Augmentation, augmented
from wfalens.extraction.distillation import Distillation
from wfalens.extraction.probing import choose_representatives, probe_rows
from wfalens.extraction.traces import output_traces
from wfalens.extraction.transitions import TransitionCounts, count_transitions
from wfalens.extraction.tuning import ALPHAS, BETAS, LADDER, Tuning, choose
from wfalens.models.causality import check_causal
from wfalens.models.contract import StepwiseClassifier
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
    completion      rule for missing rows: null, uniform, empirical (the paper's) or probe (asks the model)
    alpha           static probability α: how much of each step stays where it is
    beta            reference rate β of empirical completion; "corpus": 1 − the share of self-transitions
    distance        between centres in empirical completion: euclidean (paper) or squared (authors' code)
    representatives r, occurrences that stand for a state in probe completion
    strength        m, how many observations a probed row is worth
    augmentation    synonym replacement and dropout on the extraction texts, or None
    initial         output of the state before any word: the model's own where it has one, or uniform
    sample          outputs that k-means sees at most, per state (None: all)
    distillation    shape and training of a linear automaton; completion, α, β and augmentation do not concern it
    vectors         word vectors from which a linear automaton may learn beside what the model tells, or None
    budget          bytes that the file may have at most, where the number of states is chosen
    seed            of everything random: equal seeds give equal bytes

    `states`, `alpha` and `beta` may be "auto": they are then chosen on a tenth of the texts, held out for it, and the
    automaton is made from all of them. The choice and the curve stand in `provenance["tuning"]`.
    """

    kind: str = StochasticWFA.kind
    states: int | str = 40
    completion: str = "empirical"
    alpha: float | str = 0.4
    beta: float | str = CORPUS
    distance: str = "euclidean"
    representatives: int = 10
    strength: float = 2.0
    augmentation: Augmentation | None = None
    initial: str = "model"
    sample: int | None = 256
    distillation: Distillation = field(default_factory=Distillation)
    vectors: WordVectors | None = None
    budget: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, KINDS)
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

    def _trained(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        provenance: dict[str, Any],
        progress: Progress,
        checkpoint: Path | None,
    ) -> LinearWFA:
        from wfalens.extraction.distiller import distil

        rule = self.distillation if self.states == AUTO else self.distillation.sized(int(self.states))
        return distil(
            model,
            ids,
            rule,
            vectors=self.vectors,
            seed=self.seed,
            checkpoint=checkpoint,
            provenance=provenance,
            progress=progress,
        )

    def _counted(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], provenance: dict[str, Any], progress: Progress
    ) -> StochasticWFA:
        outputs = output_traces(model, ids, progress).values
        settled = self
        if AUTO in (self.states, self.alpha, self.beta):
            tuning = self._tuned(model, ids, outputs, progress)
            provenance["tuning"] = tuning.to_json()
            chosen = tuning.chosen
            settled = replace(self, states=chosen.states, alpha=chosen.alpha)
            if self.beta == AUTO and chosen.beta is not None:
                settled = replace(settled, beta=chosen.beta)
        words = np.arange(1, len(model.encoder.vocabulary), dtype=np.int32)
        return settled._build(model, ids, outputs, words, provenance, progress)

    def _tuned(
        self, model: StepwiseClassifier, ids: Ragged[np.int32], outputs: NDArray[np.float32], progress: Progress
    ) -> Tuning:
        """Choose what is "auto". Augmented texts are left out of the search, for speed."""
        plain = replace(self, alpha=0.0, beta=CORPUS if self.beta == AUTO else self.beta, augmentation=None)

        def build(
            states: int, part: Ragged[np.int32], said: NDArray[np.float32], words: NDArray[np.int32]
        ) -> StochasticWFA:
            return replace(plain, states=states)._build(model, part, said, words, {}, SILENT)

        return choose(
            ids,
            outputs,
            build,
            LADDER if self.states == AUTO else (int(self.states),),
            ALPHAS if self.alpha == AUTO else (float(self.alpha),),
            BETAS if self.beta == AUTO else (),
            self.budget,
            np.random.default_rng(np.random.SeedSequence(self.seed).spawn(4)[3]),
            progress,
        )

    def _build(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        outputs: NDArray[np.float32],
        words: NDArray[np.int32],
        provenance: dict[str, Any],
        progress: Progress,
    ) -> StochasticWFA:
        """The automaton of texts and the model's outputs on them, with rows for some words. outputs: (tokens, C)"""
        # one stream per step: a step's draws do not depend on whether another one ran
        for_states, for_texts, for_probing = (
            np.random.default_rng(stream) for stream in np.random.SeedSequence(self.seed).spawn(3)
        )
        progress.start("clustering the outputs")
        states = cluster_outputs(outputs, int(self.states), self.sample, for_states)
        states, path = states.visited(outputs)
        progress.finish()
        counts = count_transitions(ids, path, len(states))
        more = self._augmented_counts(model, ids, states, for_texts, progress)
        alphabet = len(model.encoder.vocabulary)
        shown = counts if len(words) == alphabet - 1 else counts.of_words(words)
        return StochasticWFA(
            encoder=model.encoder,
            class_names=model.class_names,
            centres=state_centres(outputs, path, self._initial_output(model), len(states)),
            rows=_weighted_rows(shown, more, self.augmentation, alphabet),
            completion=self._completion(model, ids, path, states, counts, words, for_probing, progress),
            alpha=float(self.alpha),
            state_visits=np.bincount(path, minlength=len(states)) + np.eye(1, len(states), dtype=int)[0] * len(ids),
            word_counts=np.bincount(ids.values, minlength=alphabet),
            provenance=provenance,
        )

    def _augmented_counts(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        states: OutputStates,
        rng: np.random.Generator,
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
            fresh = augmented(ids, synonyms, self.augmentation, rng)
            path = states.assign(output_traces(model, fresh, progress).values)
            epochs.append(count_transitions(fresh, path, len(states)))
        return total.merge(*epochs)

    def _completion(
        self,
        model: StepwiseClassifier,
        ids: Ragged[np.int32],
        path: NDArray[np.int32],
        states: OutputStates,
        counts: TransitionCounts,
        words: NDArray[np.int32],
        rng: np.random.Generator,
        progress: Progress,
    ) -> Completion:
        if self.completion == Null.name:
            return Null()
        if self.completion == Uniform.name:
            return Uniform()
        if self.completion == Empirical.name:
            beta = 1 - counts.self_transition_share() if self.beta == CORPUS else float(self.beta)
            return Empirical(beta, self.distance)
        chosen = choose_representatives(ids, path, self.representatives, rng)
        probed = probe_rows(model, chosen, states, words, progress)
        rows = rows_from_keys(probed.keys, probed.counts, len(model.encoder.vocabulary), len(states))
        return Probe(self.strength, self.representatives, rows)

    def _initial_output(self, model: StepwiseClassifier) -> NDArray[np.float32]:
        own = getattr(model, "initial_output", None) if self.initial == "model" else None
        return np.full(len(model.class_names), 1 / len(model.class_names), np.float32) if own is None else own

    def _provenance(self, model: StepwiseClassifier, ids: Ragged[np.int32], name: str) -> dict[str, Any]:
        from wfalens import __version__

        apart = {"augmentation", "distillation", "vectors"}
        parameters = {key: value for key, value in vars(self).items() if key not in apart}
        if self.kind == LinearWFA.kind:
            parameters = {"kind": self.kind, "states": self.states, "seed": self.seed, **asdict(self.distillation)}
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
    if augmentation is None or len(more) == 0:
        return rows_from_keys(counts.keys, counts.counts, words, counts.states)
    keys, place = np.unique(np.concatenate([counts.keys, more.keys]), return_inverse=True)
    weights = np.concatenate([counts.counts.astype(np.float64), augmentation.weight * more.counts])
    return rows_from_keys(keys, np.bincount(place, weights), words, counts.states)


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else None


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"unknown {name} {value!r}; choose one of {', '.join(allowed)}")
