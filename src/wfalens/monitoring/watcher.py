"""A stream of texts, watched: alarms for single texts and for the stream, with a stated false-alarm rate.

A text raises an alarm if few enough of the usual texts are as strange (`UsualTexts`). The stream raises one in two
cases, each with half of the false-alarm rate: its texts are stranger than usual together (`StreamTest`, which need not
wait for the end of a window), or the network's classes have other shares in a window than usual (χ²).
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtri, rel_entr

from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import check_pair
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import text_outputs
from wfalens.monitoring.detector import Detector
from wfalens.monitoring.features import ReferenceStats, text_features
from wfalens.monitoring.monitoring_options import Alarms
from wfalens.monitoring.novelty import SIGNALS, Answers, UsualTexts, text_signals, word_counts
from wfalens.ragged import Ragged
from wfalens.text.corpus import Corpus, as_texts

ATTACKED, STRANGE_TEXTS, CLASS_SHARES = "attacked", "strange texts", "class shares"
_NAMES = tuple(SIGNALS)
LONGEST_LINE = 1 << 20  # bytes
_BYTES_AT_ONCE, _TEXTS_AT_ONCE = 1 << 16, 1000
_MOST_USUAL = 20_000  # texts
_SHARES, _SHIFTS = (each.ravel() for each in np.meshgrid([0.03, 0.1, 0.3, 1.0], [0.3, 1.0, 2.0, 3.0]))  # of the bets
_RARE_CLASS = 5.0  # expected texts of a window below which classes are counted together
_MOST_WORDS = 10  # that a summary names


class StreamTest:
    """A sequential test whether texts are as strange as usual ones: an e-detector (Shin, Ramdas, Rinaldo; 2023).

    A bettor spends one unit on each window: half at its start, half in equal parts before its texts; what is left of
    it stays in the game. Each bet takes a share of the texts to be stranger than usual by so many standard deviations,
    and wins `1 − share + share·exp(shift·z − shift²/2)`, with z the normal score of a conformal p-value: the rank of a
    text among the usual texts and the stream so far. On usual texts no bet gains on average, so the mean capital is
    at most the number of windows, and a capital of A is reached once in A windows on average at most.
    """

    def __init__(self, usual: int, window: int) -> None:
        """usual: number of usual texts; window: texts"""
        self._usual, self._window = usual, window
        self.begin_again()

    def begin_again(self) -> None:
        """Forget the capital, and the texts so far."""
        self._texts = 0
        self._ranks = np.zeros(self._usual + 1, np.int64)  # texts so far, by how many usual ones are as strange
        self._capital = np.zeros(len(_SHARES))

    def add(self, at_least: int) -> float:
        """The capital after a text; at_least: usual texts that score as high"""
        rank = 1 + at_least + self._ranks[: at_least + 1].sum()
        z = -ndtri(rank / (1 + self._usual + self._texts))
        self._capital += 0.5 / self._window + 0.5 * (self._texts % self._window == 0)
        self._capital *= 1 - _SHARES + _SHARES * np.exp(_SHIFTS * z - _SHIFTS**2 / 2)
        self._ranks[at_least] += 1
        self._texts += 1
        return float(self._capital.mean())


@dataclass(eq=False)
class Window:
    """Texts since the last full window."""

    answers: list[Answers] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    alarms: int = 0
    capital: float = 0.0  # the largest of the stream's test
    alarm_line: int | None = None  # at which that test raised an alarm


@dataclass(eq=False)
class Watcher:
    """Reads texts in batches; never stops at a bad one.

    usual  what texts of the usual kind look like
    """

    wfa: WFA
    model: PrefixClassifier
    usual: UsualTexts
    alarms: Alarms = field(default_factory=Alarms)
    detector: Detector | None = None
    lines: int = field(default=0, init=False)
    bad: int = field(default=0, init=False)  # lines that could not be read

    def __post_init__(self) -> None:
        check_pair(self.wfa, self.model)
        if self.detector is not None and len(self.detector.defense.usual) != len(self.wfa.word_counts):
            raise InputError(
                "the detector was trained for another automaton: their words differ", code="other-automaton"
            )
        fewest = int(np.ceil(1 / self.alarms.false_alarms)) - 1  # with fewer, no p-value is as low
        if len(self.usual.signals) < fewest:
            asked = f"{self.alarms.false_alarms:.2%} false alarms"
            raise InputError(f"{asked} need {fewest:,} usual texts, not {len(self.usual.signals):,}", code="few-texts")
        self._stats, self._window = ReferenceStats(self.wfa), Window()
        self._test = StreamTest(len(self.usual.signals), self.alarms.window)

    def read(self, texts: Sequence[str | InputError]) -> list[dict[str, Any]]:
        """One result per text or unreadable line, and behind the last text of a window its summary."""
        results: list[dict[str, Any]] = []
        at = 0
        while at < len(texts):
            part = texts[at : at + self.alarms.window - self.in_window]  # no further than the end of a window
            results, at = results + self._read(part), at + len(part)
            if self.in_window >= self.alarms.window:
                results.append({"window": self.summary()})
                self._window = Window()
        return results

    @property
    def in_window(self) -> int:
        """Texts since the last full window."""
        return self._window.texts

    def summary(self) -> dict[str, Any]:
        """Of the texts since the last full window."""
        window, parts = self._window, self._window.answers
        counts = np.bincount(np.concatenate([part.label for part in parts]), minlength=len(self.wfa.class_names))
        classes, usual_classes = (
            dict(zip(self.wfa.class_names, each.tolist(), strict=True)) for each in (counts, self.usual.labels)
        )
        p = {STRANGE_TEXTS: 1 / max(1.0, window.capital), CLASS_SHARES: class_p_value(counts, self.usual.labels)}
        raised = [name for name, each in p.items() if each <= self.alarms.false_alarms / 2]
        return {
            "lines": self.lines,
            "texts": window.texts,
            "bad_lines_so_far": self.bad,
            "classes": classes,
            "agreement": float(np.concatenate([part.agrees for part in parts]).mean()),
            "known_words": float(np.concatenate([part.known_words for part in parts]).mean()),
            "alarms": window.alarms,
            "alarm": raised,
            "drift": {
                "p": p,
                "line": window.alarm_line,
                "classes": self._drifted(classes, usual_classes),
                "words": self._drifted(window.words, self.usual.words),
            },
        }

    def _drifted(self, counts: dict[str, int], usual: dict[str, int]) -> list[dict[str, Any]]:
        """Words or classes whose share has changed beyond chance, the largest changes first."""
        names = list({**counts, **usual})
        here, before = (np.array([each.get(name, 0) for name in names], np.float64) for each in (counts, usual))
        change = likelihood_ratios(here, before)
        limit = float(stats.chi2.isf(self.alarms.false_alarms / 2 / len(names), 1))
        order = [at for at in np.argsort(-change, kind="stable")[:_MOST_WORDS].tolist() if change[at] > limit]
        shares = here / here.sum(), before / before.sum()
        return [
            {"name": names[at], "share": round(float(shares[0][at]), 5), "usual": round(float(shares[1][at]), 5)}
            for at in order
        ]

    def _read(self, texts: Sequence[str | InputError]) -> list[dict[str, Any]]:
        plain = ["" if isinstance(each, InputError) else each for each in texts]
        worded, ids = self.wfa.ids(plain).nonempty()
        first, self.lines = self.lines + 1, self.lines + len(texts)
        self.bad += len(texts) - len(worded)
        results: list[dict[str, Any]] = [
            {"line": first + at, "error": str(each) if isinstance(each, InputError) else "no words"}
            for at, each in enumerate(texts)
        ]
        if len(worded):
            self._window.words.update(word_counts(self.wfa, [plain[at] for at in worded]))
            answers = Answers.of(self.wfa, ids, text_outputs(self.model, plain, worded, ids))
            for at, found in zip(worded.tolist(), self._compared(ids, answers, first + worded), strict=True):
                results[at] = {"line": first + at, **found}
        return results

    def _compared(self, ids: Ragged[np.int32], answers: Answers, lines: NDArray[np.int64]) -> list[dict[str, Any]]:
        window = self._window
        signals = text_signals(self.usual.bigrams, answers, ids)
        scores = self.usual.scores(signals)
        at_least = self.usual.at_least(scores)
        p_values = (1 + at_least) / (1 + len(self.usual.signals))
        strange = p_values <= self.alarms.false_alarms
        strangest = self.usual.deviations(signals).argmax(1)
        attacked = None
        if self.detector is not None:
            features = text_features(self._stats, self.model, ids, self.detector.defense)
            attacked = self.detector.scores(features)
        results = []
        for at in range(len(ids)):
            result: dict[str, Any] = {
                "class": self.wfa.class_names[answers.label[at]],
                "probability": round(float(answers.probability[at]), 6),
                "known_words": round(float(answers.known_words[at]), 4),
                "agrees": bool(answers.agrees[at]),
                "p": round(float(p_values[at]), 6),
                "alarm": [_NAMES[strangest[at]]] if strange[at] else [],
            }
            if attacked is not None and self.detector is not None:
                result["attacked"] = round(float(attacked[at]), 4)
                result["alarm"] += [ATTACKED] if attacked[at] >= self.detector.threshold else []
            window.alarms += bool(result["alarm"])
            window.capital = max(window.capital, capital := self._test.add(int(at_least[at])))
            if capital >= 2 / self.alarms.false_alarms:
                result["alarm"].append(STRANGE_TEXTS)
                window.alarm_line = window.alarm_line or int(lines[at])
                self._test.begin_again()
            results.append(result)
        window.answers.append(answers)
        window.texts += len(ids)
        return results


def class_p_value(counts: NDArray[np.int64], usual: NDArray[np.int64]) -> float:
    """That the texts of a window have their classes as often as usual ones; (C,), (C,)"""
    both = np.stack([counts, usual])
    expected = both.sum(0) * counts.sum() / both.sum()
    rare = expected < _RARE_CLASS
    table = np.column_stack([both[:, ~rare], both[:, rare].sum(1)])
    table = table[:, table.sum(0) > 0]
    return float(stats.chi2_contingency(table).pvalue) if table.shape[1] > 1 else 1.0


def likelihood_ratios(here: NDArray[np.float64], before: NDArray[np.float64]) -> NDArray[np.float64]:
    """Twice the log-likelihood ratio that a count has two different shares; (N,), (N,) -> (N,)"""
    share, found = (here + before) / (here.sum() + before.sum()), np.zeros(len(here))
    for count in (here, before):
        size = count.sum()
        found += 2 * (rel_entr(count, size * share) + rel_entr(size - count, size * (1 - share)))
    return found


def decoded(line: bytes) -> str | InputError:
    """A line as text, or what is wrong with it."""
    if len(line) > LONGEST_LINE:
        return InputError(f"longer than {LONGEST_LINE:,} bytes", code="line")
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError:
        return InputError("not UTF-8 text", code="line")


def watch(
    wfa: WFA,
    model: PrefixClassifier,
    texts: IO[bytes] | Corpus | Sequence[str],
    alarms: Alarms | None = None,
    *,
    reference: Sequence[str] | Corpus,
    is_training_set: bool = False,
    detector: Detector | None = None,
    text_column: str = "text",
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """Watch texts: for every text one result, and after every window its summary.

    A slow stream is answered line by line, a quick one in large batches. A line that cannot be read gives an error
    and is passed over.

    Args:
        wfa: the automaton.
        model: the classifier that is watched.
        texts: texts, or an open binary file or pipe, buffered (it has `read1`).
        alarms: how often usual texts may raise an alarm, how many texts a window has, and the format of a file.
        reference: usual texts; the more, the better strange ones are told apart.
        is_training_set: whether the model was trained on them; its confidence then raises no alarm.
        detector: of attacked texts.
        text_column: of a file in the formats csv and jsonl.
        seed: of the choice among many reference texts.

    Examples:
        >>> import io
        >>> from wfalens.monitoring import watch
        >>> results = list(watch(readable, model, io.BytesIO(b"a good film"), reference=["a film", "good"] * 60))
        >>> results[0]["line"], results[-1]["window"]["texts"]
        (1, 1)
    """
    alarms = alarms or Alarms()
    corpus = reference if isinstance(reference, Corpus) else Corpus.of(as_texts(reference), name="reference")
    usual = UsualTexts.of(wfa, model, corpus.sample(_MOST_USUAL, seed).texts, is_training_set=is_training_set)
    watcher = Watcher(wfa, model, usual, alarms, detector)
    for batch in _batches(texts, alarms.format, text_column):
        yield from watcher.read(batch)
    if watcher.lines == 0:
        raise InputError("the stream is empty: give texts, one per line", code="no-texts")
    if watcher.in_window:
        yield {"window": watcher.summary()}


def _batches(lines: Any, form: str, column: str) -> Iterator[Sequence[str | InputError]]:
    """The texts that have arrived so far; what is beyond the longest line is dropped."""
    if not hasattr(lines, "read1"):
        given = lines.texts if isinstance(lines, Corpus) else as_texts(lines)
        yield from (given[at : at + _TEXTS_AT_ONCE] for at in range(0, len(given), _TEXTS_AT_ONCE))
        return
    rest, reader = b"", _Rows(form, column)
    while arrived := lines.read1(_BYTES_AT_ONCE):
        *complete, rest = (rest + arrived).split(b"\n")
        rest = rest[: LONGEST_LINE + 1]
        if texts := reader.texts(complete):
            yield texts
    if texts := reader.texts([rest] if rest else []):
        yield texts


class _Rows:
    """Lines of text, or of CSV or JSON with the text in a column; a row is one line."""

    def __init__(self, form: str, column: str) -> None:
        self._column, self._place = column, 0
        self._read = {"csv": self._cell, "jsonl": self._field}.get(form)
        self._header = form == "csv"

    def texts(self, lines: Sequence[bytes]) -> list[str | InputError]:
        found = [decoded(line) for line in lines]
        if self._header and found:
            self._header, names = False, next(csv.reader([str(found.pop(0)).lstrip("\ufeff")]), [])
            if self._column not in names:
                raise InputError(f"the stream has no column {self._column!r}", code="column")
            self._place = names.index(self._column)
        return [each if self._read is None or isinstance(each, InputError) else self._read(each) for each in found]

    def _cell(self, line: str) -> str | InputError:
        try:
            return next(csv.reader([line], strict=True), [""])[self._place]
        except (csv.Error, IndexError):
            return InputError("not a row of CSV on one line", code="line")

    def _field(self, line: str) -> str | InputError:
        try:
            text = json.loads(line)[self._column]
        except (ValueError, KeyError, TypeError, RecursionError):
            return InputError(f"no JSON object with {self._column!r}", code="line")
        return text if isinstance(text, str) else InputError(f"{self._column!r} is no text", code="line")
