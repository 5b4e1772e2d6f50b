"""A stream of texts, watched: outputs of network and automaton on each, alarms, and a summary per window with drift.

Drift is a p-value that the texts still look like those that the automaton was extracted from. Against the extraction
texts themselves, the mean surprise of a word is known, and the window's mean is compared with it, with texts as units:
words of a text depend on each other. Against a sample of reference texts, ranks are compared, and the number of texts
beyond nearly all of the reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.monitoring.detector import Detector
from wfalens.monitoring.text_features import FEATURES, ReferenceStats, TextFeatures, text_features
from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.encoder import require_words
from wfalens.validation import Bounds, Options, option, real, whole

SURPRISING, UNSEEN, CONTRADICTION, ATTACKED = "surprising", "unseen words", "contradiction", "attacked"
LONGEST_LINE = 1 << 20  # bytes
_BYTES_AT_ONCE = 1 << 16
_REFERENCE_TEXTS = 5000
_FEW_TEXTS = 20  # below which no p-value is given
_BEYOND = 0.99  # quantile of the reference beyond which a text is an outlier
_SURE = 0.5  # margin of an automaton that the network contradicts
_MARGIN = FEATURES.index("margin of the automaton")


@dataclass(frozen=True, kw_only=True)
class Alarms(Options):
    """When a text raises an alarm, and how many texts a summary is about."""

    window: int = option(1000, "Texts of a summary.", Bounds(whole, 1, 10**9))
    deviations: float = option(
        4.0, "Raise an alarm so many standard errors above the usual surprise of words.", Bounds(real, 0, 1000)
    )
    unseen: float = option(0.5, "Raise an alarm if more of the words were never seen.", Bounds(real, 0, 1))


@dataclass(frozen=True)
class Drift:
    """How a window of texts differs from what the automaton is used to."""

    texts: int
    surprise: float  # mean of a word
    usual: float  # the same in extraction, or of the reference
    p: float | None  # that so large a difference is chance; None from too few texts


def against_extraction(mean_surprise: float, seen: TextFeatures) -> Drift:
    """From the mean surprise of a word in extraction."""
    excess = (seen.surprise - mean_surprise) * seen.lengths  # of each text
    is_tested = len(excess) >= _FEW_TEXTS and np.ptp(excess) > 0
    p = float(stats.ttest_1samp(excess, 0).pvalue) if is_tested else None
    return Drift(len(seen.label), float(np.average(seen.surprise, weights=seen.lengths)), mean_surprise, p)


def against_reference(reference: NDArray[np.float64], seen: TextFeatures) -> Drift:
    """From the surprise of reference texts; the smaller of two p-values, doubled. reference: (texts,)"""
    mean, usual = float(seen.surprise.mean()), float(reference.mean())
    if min(len(reference), len(seen.surprise)) < _FEW_TEXTS:
        return Drift(len(seen.label), mean, usual, None)
    ranks = stats.mannwhitneyu(seen.surprise, reference).pvalue
    limit = float(np.quantile(reference, _BEYOND))
    beyond = [int((values > limit).sum()) for values in (seen.surprise, reference)]
    table = np.array([[beyond[0], len(seen.surprise) - beyond[0]], [beyond[1], len(reference) - beyond[1]]])
    outliers = stats.fisher_exact(table, alternative="greater")[1]
    return Drift(len(seen.label), mean, usual, float(min(1.0, 2 * min(ranks, outliers))))


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
        if self.detector is not None and len(self.detector.defense.usual) != len(self.wfa.word_counts):
            raise InputError(
                "the detector was trained for another automaton: their words differ", code="other-automaton"
            )
        self._stats = ReferenceStats(self.wfa)

    def read(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        """One result per line, and behind the last text of a window its summary."""
        results: list[dict[str, Any]] = []
        at = 0
        while at < len(lines):
            part = lines[at : at + self.alarms.window - self.in_window]  # no further than the end of a window
            results, at = results + self._read(part), at + len(part)
            if self.in_window >= self.alarms.window:
                results.append({"window": self.summary()})
                self._window, self._alarms = [], 0
        return results

    def summary(self) -> dict[str, Any]:
        """Of the texts since the last full window."""
        seen = _joined(self._window)
        drift = (
            against_extraction(self._stats.mean_surprise, seen)
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
            "known_words": float(seen.known_words.mean()),
            "alarms": self._alarms,
            "drift": asdict(drift),
        }

    @property
    def in_window(self) -> int:
        """Texts since the last full window."""
        return sum(len(part.label) for part in self._window)

    def _read(self, lines: Sequence[bytes]) -> list[dict[str, Any]]:
        texts, errors = zip(*map(decoded, lines), strict=True)
        worded, ids = self.wfa.ids(texts).nonempty()
        first, self.lines = self.lines + 1, self.lines + len(lines)
        self.bad += len(lines) - len(worded)
        results: list[dict[str, Any]] = [
            {"line": first + at, "error": error or "no words"} for at, error in enumerate(errors)
        ]
        if len(worded):
            defense = None if self.detector is None else self.detector.defense
            seen = text_features(self._stats, self.model, ids, defense)
            self._window.append(seen)
            for at, found in zip(worded.tolist(), self._compared(seen), strict=True):
                results[at] = {"line": first + at, **found}
        return results

    def _compared(self, seen: TextFeatures) -> list[dict[str, Any]]:
        error = self._stats.spread_of_surprise / np.sqrt(seen.lengths)
        deviations = (seen.surprise - self._stats.mean_surprise) / error
        reasons = {
            SURPRISING: deviations > self.alarms.deviations,
            UNSEEN: 1 - seen.known_words > self.alarms.unseen,
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
                "known_words": round(float(seen.known_words[at]), 4),
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


def watch(
    wfa: WFA,
    model: PrefixClassifier,
    lines: IO[bytes],
    alarms: Alarms | None = None,
    *,
    detector: Detector | None = None,
    reference: Sequence[str] | Corpus | None = None,
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """Watch a stream of lines, each a text: for every line one result, and after every window its summary.

    A slow stream is answered line by line, a quick one in large batches. A line that cannot be read gives an error
    and is passed over.

    Args:
        wfa: the automaton.
        model: the classifier that is watched.
        lines: an open binary file or pipe, buffered (it has `read1`).
        alarms: when a text raises an alarm, and how many texts a window has.
        detector: of attacked texts.
        reference: usual texts, against which drift is measured; None: the mean surprise of the extraction texts.
        seed: of the choice among many reference texts.

    Examples:
        >>>         >>> from wfalens.monitoring import watch
        >>> results = list(watch(readable, model, io.BytesIO(b"a good film")))
        >>> results[0]["line"], results[-1]["window"]["texts"]
        (1, 1)
    """
    watcher = Watcher(wfa, model, alarms or Alarms(), detector, _reference(wfa, model, reference, seed))
    for batch in _batches(lines):
        yield from watcher.read(batch)
    if watcher.lines == 0:
        raise InputError("the stream is empty: give texts, one per line", code="no-texts")
    if watcher.in_window:
        yield {"window": watcher.summary()}


def _reference(
    wfa: WFA, model: PrefixClassifier, texts: Sequence[str] | Corpus | None, seed: int
) -> NDArray[np.float64] | None:
    """The surprise of usual texts."""
    if texts is None:
        return None
    corpus = texts if isinstance(texts, Corpus) else Corpus.of(as_texts(texts), name="reference")
    _, ids = require_words(wfa.ids(corpus.sample(_REFERENCE_TEXTS, seed).texts), corpus.name)
    return text_features(ReferenceStats(wfa), model, ids).surprise


def _batches(lines: Any) -> Iterator[list[bytes]]:
    """The lines that have arrived so far; what is beyond the longest line is dropped."""
    rest = b""
    while arrived := lines.read1(_BYTES_AT_ONCE):
        *complete, rest = (rest + arrived).split(b"\n")
        rest = rest[: LONGEST_LINE + 1]
        if complete:
            yield [line.rstrip(b"\r") for line in complete]
    if rest:
        yield [rest]
