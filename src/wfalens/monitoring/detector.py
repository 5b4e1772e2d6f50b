"""A detector of attacked texts: a logistic regression on what makes texts unusual."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.explanation.embeddings import nearness_of
from wfalens.models.contract import PrefixClassifier
from wfalens.monitoring.features import FEATURES, ReferenceStats, SynonymDefense, text_features
from wfalens.monitoring.monitoring_options import ATTACKS, DetectOptions
from wfalens.progress import shown
from wfalens.results import Result, plain
from wfalens.robustness.attack.recipes import AttackContext
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.storage import file_text, write_atomically
from wfalens.text.corpus import Corpus
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import check_choice

FORMAT = "wfalens detector"
_ARRAYS, _NUMBERS = ("mean", "scale", "weights"), ("bias", "threshold")  # fields of a detector in its file
_FEW = 10  # texts of each kind below which nothing can be learned


@dataclass(frozen=True, eq=False)
class Detector:
    """Scores texts by how much they look attacked: standardised features, weighted."""

    mean: NDArray[np.float64]  # (F,)
    scale: NDArray[np.float64]  # (F,)
    weights: NDArray[np.float64]  # (F,)
    bias: float
    threshold: float  # the score from which on a text counts as attacked
    defense: SynonymDefense  # of the texts whose features it reads
    about: dict[str, Any]  # what it was trained on

    @classmethod
    def trained(
        cls,
        clean: NDArray[np.float64],
        attacked: NDArray[np.float64],
        defense: SynonymDefense,
        false_alarms: float = 0.05,
        about: dict[str, Any] | None = None,
    ) -> Detector:
        """From features of clean and of attacked texts; the threshold lets that share of the clean ones raise an alarm.

        clean, attacked: (texts, FEATURES)
        """
        from sklearn.linear_model import LogisticRegression

        if min(len(clean), len(attacked)) < _FEW:
            raise InputError(
                f"a detector needs {_FEW} clean and {_FEW} attacked texts, not {len(clean)} and {len(attacked)}",
                code="few-texts",
            )
        both = np.vstack([clean, attacked])
        mean, scale = both.mean(0), np.maximum(both.std(0), 1e-9)
        regression = LogisticRegression(max_iter=3000, class_weight="balanced")
        regression.fit((both - mean) / scale, np.arange(len(both)) >= len(clean))
        weights, bias = regression.coef_[0], float(regression.intercept_[0])
        made = cls(mean, scale, weights, bias, 1.0, defense, about or {})
        threshold = float(np.quantile(made.scores(clean), 1 - false_alarms))
        return replace(made, threshold=threshold)

    def scores(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between 0 and 1; (texts, FEATURES) -> (texts,)"""
        odds = ((features - self.mean) / self.scale) @ self.weights + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -50, 50))))

    def save(self, path: str | Path) -> None:
        """As JSON."""
        numbers = {name: plain(getattr(self, name)) for name in (*_ARRAYS, *_NUMBERS, "about")}
        content = {"format": FORMAT, "features": FEATURES, **numbers, "usual": self.defense.usual.tolist()}
        write_atomically(Path(path), json.dumps(content).encode())

    @classmethod
    def load(cls, path: str | Path) -> Detector:
        """Everything in the file is checked."""
        refused = InputError(f"{path}: not a detector of wfalens (or of another version)", code="detector-file")
        try:
            content = json.loads(file_text(Path(path)))
            arrays = [np.array(content[name], np.float64) for name in _ARRAYS]
            numbers = [float(content[name]) for name in _NUMBERS]
            known = content["format"] == FORMAT and tuple(content["features"]) == FEATURES
            usual = np.array(content["usual"], np.int32)
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            raise refused from None
        finite = np.isfinite(np.concatenate([*map(np.ravel, arrays), numbers])).all()
        sound = known and finite and {each.shape for each in arrays} == {(len(FEATURES),)} and np.all(arrays[1] > 0)
        if not sound or usual.ndim != 1 or np.any((usual < 0) | (usual >= len(usual))):
            raise refused
        about = content.get("about")
        defense, (mean, scale, weights), (bias, threshold) = SynonymDefense(usual), arrays, numbers
        return cls(mean, scale, weights, bias, threshold, defense, about if isinstance(about, dict) else {})


def auroc(clean: NDArray[np.float64], attacked: NDArray[np.float64]) -> float:
    """The chance that an attacked text scores above a clean one."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(np.arange(len(clean) + len(attacked)) >= len(clean), np.concatenate([clean, attacked])))


@dataclass(frozen=True, eq=False, repr=False)
class Detection(Result):
    """A detector and how well it recognises attacked texts of each kind."""

    detector: Detector = field(repr=False)
    trained_on: str  # the kind of attack
    auroc: dict[str, float | None]  # by kind of attack; None: no attack succeeded
    caught: dict[str, float | None]  # share of attacked texts above the threshold
    false_alarms: float  # share of clean test texts above it
    attacked: dict[str, int]  # texts

    @property
    def title(self) -> str:
        return f"Detector trained on {self.trained_on} attacks"

    def rows(self) -> list[dict[str, Any]]:
        """One row per kind of attack."""
        return [
            {"attack": kind, "attacked texts": self.attacked[kind], "AUROC": self.auroc[kind], "caught": share}
            for kind, share in self.caught.items()
        ]

    def summary(self) -> str:
        known = (f"{kind} {value:.3f}" for kind, value in self.auroc.items() if value is not None)
        return f"{self.title}: AUROC {', '.join(known) or 'unknown'}; {self.false_alarms:.1%} false alarms"


def detect(
    wfa: WFA,
    model: PrefixClassifier,
    texts: Corpus,
    options: DetectOptions | None = None,
    *,
    vectors: WordVectors | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Detection:
    """Train a detector of attacked texts on half of the texts, and test it on the other half.

    Args:
        wfa: the automaton.
        model: the classifier under attack.
        texts: with their true classes.
        options: which attacks.
        vectors: word vectors that say which words are near in meaning; None: WordLlama.
        seed: of the halves and the attacks.
        progress: show a progress bar.
    """
    options = DetectOptions() if options is None else options
    for kind in options.test_on:
        check_choice("kind of attack", kind, ATTACKS)
    check_pair(wfa, model)
    texts.labels_in(model.class_names)  # refused without labels
    near = nearness_of(wfa, vectors)
    reference, defense = ReferenceStats(wfa), SynonymDefense.of(wfa, near)
    learned, tested = texts.split(0.5, np.random.default_rng(seed))

    def features(corpus: Corpus, kind: str | None) -> NDArray[np.float64]:
        """Of texts as they are, or of those on which an attack succeeded; (texts, FEATURES)"""
        ids = model.encoder.encode(corpus.texts)
        if kind is not None:
            context = AttackContext.prepare(wfa, near, only=np.unique(ids.values))
            search = context.recipe(kind, options.changes)
            found = run_attack(kind, options.changes, search, Originals.of(model, corpus), seed=seed)
            ids = model.encoder.vocabulary.encode([list(each.after) for each in found.successes])
        _, ids = ids.nonempty()
        if len(ids) == 0:
            return np.zeros((0, len(FEATURES)))
        return text_features(reference, model, ids, defense)

    with shown(progress):
        about = {"attack": options.train_on, "changes": options.changes, "corpus": texts.name, "texts": len(learned)}
        clean, attacked = features(learned, None), features(learned, options.train_on)
        detector = Detector.trained(clean, attacked, defense, options.false_alarms, about)
        scores = detector.scores(features(tested, None))
        others = {kind: detector.scores(features(tested, kind)) for kind in options.test_on}
    return Detection(
        detector,
        options.train_on,
        {kind: auroc(scores, each) if len(each) else None for kind, each in others.items()},
        {kind: float((each >= detector.threshold).mean()) if len(each) else None for kind, each in others.items()},
        float((scores >= detector.threshold).mean()),
        {kind: len(each) for kind, each in others.items()},
    )
