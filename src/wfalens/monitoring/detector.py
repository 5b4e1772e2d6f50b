"""A detector of attacked texts: a logistic regression on what makes texts unusual."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError
from wfalens.monitoring.surprise import FEATURES
from wfalens.monitoring.synonym_defense import Restoration
from wfalens.storage import write_atomically

FORMAT = "wfalens detector"
_FEW = 10  # texts of each kind below which nothing can be learned


@dataclass(frozen=True, eq=False)
class Detector:
    """Scores texts by how much they look attacked: standardised features, weighted."""

    mean: NDArray[np.float64]  # (F,)
    scale: NDArray[np.float64]  # (F,)
    weights: NDArray[np.float64]  # (F,)
    bias: float
    threshold: float  # the score from which on a text counts as attacked
    restoration: Restoration  # of the texts whose features it reads
    about: dict[str, Any]  # what it was trained on

    @classmethod
    def trained(
        cls,
        clean: NDArray[np.float64],
        attacked: NDArray[np.float64],
        restoration: Restoration,
        false_alarms: float = 0.05,
        about: dict[str, Any] | None = None,
    ) -> Detector:
        """From features of clean and of attacked texts; the threshold lets that share of the clean ones raise an alarm.

        clean, attacked: (texts, FEATURES)
        """
        from sklearn.linear_model import LogisticRegression

        if min(len(clean), len(attacked)) < _FEW:
            raise InputError(
                f"a detector needs {_FEW} clean and {_FEW} attacked texts or more, not {len(clean)} and {len(attacked)}"
            )
        both = np.vstack([clean, attacked])
        mean, scale = both.mean(0), np.maximum(both.std(0), 1e-9)
        regression = LogisticRegression(max_iter=3000, class_weight="balanced")
        regression.fit((both - mean) / scale, np.arange(len(both)) >= len(clean))
        weights, bias = regression.coef_[0], float(regression.intercept_[0])
        made = cls(mean, scale, weights, bias, 1.0, restoration, about or {})
        threshold = float(np.quantile(made.scores(clean), 1 - false_alarms))
        return replace(made, threshold=threshold)

    def scores(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Between 0 and 1; (texts, FEATURES) -> (texts,)"""
        odds = ((features - self.mean) / self.scale) @ self.weights + self.bias
        return np.asarray(1 / (1 + np.exp(-np.clip(odds, -50, 50))))

    def save(self, path: str | Path) -> None:
        """As JSON."""
        content = {
            "format": FORMAT,
            "features": list(FEATURES),
            "mean": self.mean.tolist(),
            "scale": self.scale.tolist(),
            "weights": self.weights.tolist(),
            "bias": self.bias,
            "threshold": self.threshold,
            "words": len(self.restoration.usual),
            "restoration": self.restoration.pairs,
            "about": self.about,
        }
        write_atomically(Path(path), json.dumps(content, indent=1).encode())

    @classmethod
    def load(cls, path: str | Path) -> Detector:
        """Everything in the file is checked."""
        refused = InputError(f"{path}: not a detector of `wfalens detect` (or of another version)")
        try:
            content = json.loads(Path(path).read_text("utf-8"))
            parts = [np.array(content[name], np.float64) for name in ("mean", "scale", "weights")]
            bias, threshold = (float(content[name]) for name in ("bias", "threshold"))
            known = content["format"] == FORMAT and tuple(content["features"]) == FEATURES
            restoration = Restoration.of_pairs(int(content["words"]), content["restoration"])
        except (UnicodeDecodeError, ValueError, KeyError, TypeError, RecursionError, IndexError, MemoryError):
            raise refused from None
        size = len(FEATURES)
        shapes = [part.shape for part in parts]
        finite = np.isfinite(np.concatenate([*map(np.ravel, parts), [bias, threshold]])).all()
        if not known or shapes != [(size,)] * 3 or not finite:
            raise refused
        if np.any(parts[1] <= 0):
            raise refused
        about = content.get("about")
        return cls(parts[0], parts[1], parts[2], bias, threshold, restoration, about if isinstance(about, dict) else {})


def auroc(clean: NDArray[np.float64], attacked: NDArray[np.float64]) -> float:
    """The chance that an attacked text scores above a clean one."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(np.arange(len(clean) + len(attacked)) >= len(clean), np.concatenate([clean, attacked])))
