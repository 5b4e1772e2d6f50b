"""A stream of texts, watched: what network and automaton say of each, alarms, and a summary per window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.monitoring.detector import Detector
from wfalens.monitoring.drift import against_extraction, against_reference
from wfalens.monitoring.surprise import FEATURES, ReferenceStats, TextFeatures, read
from wfalens.validation import Bounds, check_numbers, real, whole

SURPRISING, UNSEEN, CONTRADICTION, ATTACKED = "surprising", "unseen words", "contradiction", "attacked"
LONGEST_LINE = 1 << 20  # bytes
_SURE = 0.5  # margin of an automaton that the network contradicts
_BOUNDS = {
    "window": Bounds(whole, 1, 10**9),
    "deviations": Bounds(real, 0, 1000),
    "unseen": Bounds(real, 0, 1),
}
_MARGIN = FEATURES.index("margin of the automaton")


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """When a text raises an alarm, and how many texts a summary is about."""

    window: int = 1000
    deviations: float = 4.0  # of the mean surprise of a text's words, in standard errors above that in extraction
    unseen: float = 0.5  # share of words that extraction has not seen, above which a text is foreign

    def __post_init__(self) -> None:
        check_numbers(self, _BOUNDS)


@dataclass(eq=False)
class Watcher:
    """Reads lines in batches; never stops at a bad one.

    reference  the surprise of texts that are known to be usual; None: the extraction texts' mean
    """

    wfa: WFA
    model: PrefixClassifier
    alarms: Alarms = field(default_factory=Alarms)
    detector: Detector | None = None
    reference: NDArray[np.float64] | None = None
    lines: int = field(default=0, init=False)
    bad: int = field(default=0, init=False)  # lines that could not be read
    _window: list[TextFeatures] = field(default_factory=list, init=False)
    _alarms: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        check_pair(self.wfa, self.model)
        if self.detector is not None and len(self.detector.restoration.usual) != len(self.wfa.word_counts):
            raise InputError("the detector was trained for another automaton: their words differ")
        self._habits = ReferenceStats(self.wfa)
        self._spread = self._habits.spread_of_surprise

    def read(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        """One result per line, and behind the last text of a window its summary."""
        results: list[dict[str, Any]] = []
        at = 0
        while at < len(lines):
            part = lines[at : at + self.alarms.window - self._seen]  # no further than the end of a window
            results, at = results + self._read(part), at + len(part)
            if self._seen >= self.alarms.window:
                results.append({"window": self.summary()})
                self._window, self._alarms = [], 0
        return results

    def rest(self) -> dict[str, Any] | None:
        """The summary of the window under way; None if it is empty."""
        return self.summary() if self._window else None

    def summary(self) -> dict[str, Any]:
        """Of the texts since the last full window."""
        seen = _joined(self._window)
        drift = (
            against_extraction(self._habits.mean_surprise, seen)
            if self.reference is None
            else against_reference(self.reference, seen)
        )
        counts = np.bincount(seen.label, minlength=len(self.wfa.class_names))
        return {
            "lines": self.lines,
            "texts": len(seen.label),
            "bad_lines_so_far": self.bad,
            "classes": dict(zip(self.wfa.class_names, counts.tolist(), strict=True)),
            "agreement": float(seen.agrees.mean()),
            "trust": float(seen.trust.mean()),
            "alarms": self._alarms,
            "drift": asdict(drift),
        }

    @property
    def _seen(self) -> int:
        return sum(len(part.label) for part in self._window)

    def _read(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        texts: list[str] = []
        results: list[dict[str, Any]] = []
        for line in lines:
            self.lines += 1
            text, error = decoded(line)
            results.append({"line": self.lines} if error is None else {"line": self.lines, "error": error})
            texts.append(text)
        worded, ids = self.wfa.ids(texts).nonempty()
        for at in set(range(len(texts))) - set(worded.tolist()):
            results[at].setdefault("error", "no words")
            self.bad += 1
        if len(worded):
            restoration = None if self.detector is None else self.detector.restoration
            seen = read(self._habits, self.model, ids, restoration)
            self._window.append(seen)
            for at, found in zip(worded.tolist(), self._judged(seen), strict=True):
                results[at] |= found
        return results

    def _judged(self, seen: TextFeatures) -> list[dict[str, Any]]:
        error = self._spread / np.sqrt(seen.lengths)
        deviations = (seen.surprise - self._habits.mean_surprise) / error
        reasons = {
            SURPRISING: deviations > self.alarms.deviations,
            UNSEEN: 1 - seen.trust > self.alarms.unseen,
            CONTRADICTION: ~seen.agrees & (seen.features[:, _MARGIN] >= _SURE),
        }
        scores = None if self.detector is None else self.detector.scores(seen.features)
        if self.detector is not None and scores is not None:
            reasons[ATTACKED] = scores >= self.detector.threshold
        raised = np.column_stack(list(reasons.values()))
        self._alarms += int(raised.any(1).sum())
        results = []
        for at in range(len(seen.label)):
            result = {
                "class": self.wfa.class_names[seen.label[at]],
                "probability": round(float(seen.probability[at]), 6),
                "surprise": round(float(seen.surprise[at]), 4),
                "trust": round(float(seen.trust[at]), 4),
                "agrees": bool(seen.agrees[at]),
                "alarm": [name for name, raises in zip(reasons, raised[at], strict=True) if raises],
            }
            if scores is not None:
                result["attacked"] = round(float(scores[at]), 4)
            results.append(result)
        return results


def decoded(line: bytes) -> tuple[str, str | None]:
    """A line as text, and what is wrong with it."""
    if len(line) > LONGEST_LINE:
        return "", f"longer than {LONGEST_LINE:,} bytes"
    try:
        return line.decode("utf-8").strip(), None
    except UnicodeDecodeError:
        return "", "not UTF-8 text"


def _joined(parts: Sequence[TextFeatures]) -> TextFeatures:
    return TextFeatures(
        *(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(TextFeatures))
    )
