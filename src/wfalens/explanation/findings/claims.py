"""What a classifier has learned and what it has not, in short claims that were measured on the model itself."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Estimate, check_pair
from wfalens.explanation.findings.interview import BudgetSpentError, Interview
from wfalens.explanation.findings.probes import (
    DANGEROUS,
    DATA,
    LEARNED,
    NOT_LEARNED,
    POINTS,
    PROBES,
    Change,
    ProbeResult,
)
from wfalens.explanation.opinion_line import points as signed
from wfalens.messages import percent, printable, sentence, shortened
from wfalens.models.contract import PrefixClassifier, is_language_model
from wfalens.models.inference import asks_every_prefix
from wfalens.progress import shown
from wfalens.results import Result
from wfalens.text.corpus import Corpus, as_texts
from wfalens.validation import Bounds, whole

_CALLS, _PAID_CALLS = 20_000, 4_000  # at most, unless another limit is given
_ERROR = 0.05  # probability that any interval of a list misses
_FEWEST = 4  # words or texts that a mean needs
_FIRST = (  # the most useful claims; within one, as the probe gives them
    "overused", "rare", "missed", "negation", "ends", "many points", "inflection", "accuracy", "misleading",
    "calibration", "confusion", "artefact", "order", "position", "length", "no_text", "labels", "words", "contrast",
    "unknown", "intensity",
)  # fmt: skip
_ENOUGH = 30  # texts of a class that it misses, for this to be among the first claims
_MANY_POINTS = 0.25  # change of a probability, or of a share
_PER_PROBE = 3  # claims of one probe, such as misleading words
_QUERIES = Bounds(whole, 1, 1 << 40, (None,))
_FILES = re.compile(r"\b(AUTOMATON|MODEL|CORPUS|TRAIN)\b")
_BLAME = "wfalens repair blame AUTOMATON --model MODEL --train TRAIN --texts CORPUS"
_ATTACK = "wfalens attack AUTOMATON --model MODEL --corpus CORPUS"
_WEIGHT = "wfalens train --corpus TRAIN -C training.balance_classes=true -o even.rnn"
_ADVICE = {  # what can be done about a claim, by its kind and probe
    (DANGEROUS, "misleading"): f"The training texts that taught it: {_BLAME}",
    (DANGEROUS, "artefact"): f"The training texts that taught it: {_BLAME}",
    (DANGEROUS, "typing_error"): f"Which single changes turn its answers: {_ATTACK}",
    (DANGEROUS, "calibration"): "Fit a temperature to texts that it has not seen, or trust its surest answers less",
    (NOT_LEARNED, "accuracy"): "More texts, more dropout (network.dropout, training.word_dropout) or a smaller network",
    (NOT_LEARNED, "rare"): f"Weight classes by their size: {_WEIGHT}",
    (NOT_LEARNED, "missed"): f"The training texts behind its errors: {_BLAME}",
    (NOT_LEARNED, "confusion"): f"The training texts behind its errors: {_BLAME}",
    (DATA, "labels"): "All of them: wfalens repair labels AUTOMATON --model MODEL --train TRAIN -o doubtful.csv",
}


@dataclass(frozen=True)
class FindingExample:
    """A text and what the model says of it."""

    text: str
    output: tuple[float, ...]  # (classes,)
    class_name: str
    truth: str | None = None  # the label, of a text that has one
    before: FindingExample | None = None  # the same without the word that was added
    added: str = ""  # this word

    @property
    def answer(self) -> str:
        """What the model says, and the label beside it, or after it what it says without the added word."""
        label = "" if self.truth is None else f" (label: {printable(self.truth)})"
        own = f"{printable(self.class_name)} {percent(max(self.output))}{label}"
        return own if self.before is None else f"{own}; without “{printable(self.added)}” {self.before.answer}"

    def to_dict(self) -> dict[str, Any]:
        before = None if self.before is None else self.before.to_dict()
        own = {"text": self.text, "output": list(self.output), "class": self.class_name, "truth": self.truth}
        return {**own, "before": before, "added": self.added}


@dataclass(frozen=True)
class Finding:
    """One claim about a model, with the figure that it rests on."""

    code: str  # the probe, and after a colon the word or class that it is about
    kind: str  # learned, not_learned, dangerous or data
    claim: str
    figure: float
    low: float  # of an interval; those of all claims hold together with a probability of 95 %
    high: float
    n: int  # texts, or pairs of texts, that were asked
    unit: str  # "points": change of a probability; "share": of the n
    examples: tuple[FindingExample, ...]
    link: str  # a text or a word to look at
    advice: str = ""  # what can be done, often a command

    @property
    def interval(self) -> str:
        """The figure with its interval; one of a single text has none."""
        shown = [signed(each) if self.unit == POINTS else percent(each) for each in (self.figure, self.low, self.high)]
        unit = " points" if self.unit == POINTS else ""
        return f"{shown[0]}{unit}" + (f", 95 %: {shown[1]} to {shown[2]}" if self.low < self.high else "")

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "examples": [each.to_dict() for each in self.examples]}


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Result):
    """What a model has learned and what not, the most useful first.

    Args:
        findings: the claims, each with its figure, interval and examples.
        calls: how often the model was asked.
        skipped: probes for which the calls did not suffice.

    Examples:
        >>> found = wl.findings(wfa, model, corpus)
        >>> [each["kind"] for each in found.to_dict()["findings"]] == [each.kind for each in found]
        True
    """

    findings: tuple[Finding, ...]
    calls: int  # of the model
    skipped: tuple[str, ...] = ()  # probes for which the calls did not suffice

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def of_kind(self, kind: str) -> list[Finding]:
        """Those of one kind.

        Args:
            kind: learned, not_learned, dangerous or data

        Examples:
            >>> found = wl.findings(wfa, model, corpus)
            >>> all(each.kind == "dangerous" for each in found.of_kind("dangerous"))
            True
        """
        return [each for each in self.findings if each.kind == kind]

    @property
    def title(self) -> str:
        return f"{len(self):,} findings, from {self.calls:,} model calls"

    def summary(self) -> str:
        claims = [f"{each.kind.replace('_', ' ')}: {each.claim} ({each.interval})" for each in self.findings]
        return "\n".join([self.title, *claims])

    def details(self) -> str:
        """The claims with their intervals, which hold together, and examples; these are users' texts."""
        lines = [f"{self.title}; all intervals hold together with a probability of 95 %"]
        for each in self.findings:
            lines.append(f"{each.kind.replace('_', ' ')}: {each.claim} ({each.interval}; {each.n:,} cases)")
            lines += [f"    “{shortened(printable(one.text))}”: {one.answer}" for one in each.examples]
            lines += [f"    {each.advice}"] if each.advice else []
        lines += [f"not asked, as the calls did not suffice: {', '.join(self.skipped)}"] if self.skipped else []
        return "\n".join(lines)

    def with_files(self, files: Mapping[str, str]) -> Findings:
        """The same with the names of files in the commands: of "automaton", "model", "corpus" and "train".

        Args:
            files: their names; one that is not given stays a name in capitals

        Examples:
            >>> found = wl.findings(wfa, model, corpus).with_files({"automaton": "films.wfa"})
            >>> any("AUTOMATON" in each.advice for each in found)
            False
        """

        def name(match: re.Match[str]) -> str:
            file = files.get(match[0].lower())
            return match[0] if file is None else shlex.quote(file)

        named = (replace(each, advice=_FILES.sub(name, each.advice)) for each in self.findings)
        return replace(self, findings=tuple(named))

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "kind": each.kind.replace("_", " "),
                "claim": each.claim,
                "figure": each.interval,
                "n": each.n,
            }
            for each in self.findings
        ]

    def to_dict(self) -> dict[str, Any]:
        found = [each.to_dict() for each in self.findings]
        return {"findings": found, "calls": self.calls, "skipped": list(self.skipped)}


def findings(
    wfa: WFA,
    model: PrefixClassifier,
    texts: Corpus | Sequence[str],
    *,
    train: Corpus | None = None,
    queries: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Findings:
    """What a classifier has learned and what it has not, each claim measured on the model itself.

    The automaton proposes words to ask about. Texts come from the corpus: with "not" before a strong word, with their
    words shuffled, without punctuation and so on. Intervals hold together with a probability of 95 % (Bonferroni, first
    over probes, then over what a probe asks); a claim that its interval does not support is left out.

    Args:
        wfa: the automaton that was extracted from the model.
        model: the classifier.
        texts: texts that it has not seen, best with labels.
        train: texts that it was trained on, best with labels.
        queries: model calls at most (default: 20,000, and 4,000 of a model that pays for every call).
        seed: of all random draws.
        progress: show a progress bar.

    Examples:
        >>> found = wl.findings(wfa, model, corpus)
        >>> {each.kind for each in found} <= {"learned", "not_learned", "dangerous", "data"}
        True
    """
    check_pair(wfa, model)
    if is_language_model(model):
        raise InputError("findings are about classes of texts; a language model has none", code="language-model")
    _QUERIES.checked("queries", queries)
    limit = queries or (_PAID_CALLS if asks_every_prefix(model) else _CALLS)
    given = texts if isinstance(texts, Corpus) else Corpus.of(list(as_texts(texts)))
    known = set() if train is None else {*train.texts}
    new = given.subset(np.flatnonzero([text not in known for text in given.texts]))
    if len(new.texts) == 0:
        raise InputError("there is no text that the model was not trained on", code="no-texts")
    rng = np.random.default_rng(seed)
    talk = Interview(wfa, model, given, new, train, limit, seed, rng, min(1.0, limit / _CALLS))
    with shown(progress):
        display.say(f"asking the model at most {limit:,} times")
        return _claimed(talk)


def _claimed(talk: Interview) -> Findings:
    """Every probe has the same share of the error, which its tests share (Bonferroni)."""
    found: list[Finding] = []
    skipped = []
    display.start("asking the model", len(PROBES))
    for probe in PROBES:
        try:
            results = [each for each in probe(talk) if all(len(sample) >= _FEWEST for sample in each.samples)]
            tests = max([sum(len(each.samples) for each in results), *(each.tests for each in results)], default=1)
            level = 1 - _ERROR / len(PROBES) / max(1, tests)
            found += [each for result in results for each in _found(talk, result, level)]
        except BudgetSpentError:
            skipped.append(probe.__name__)
        display.advance()
    display.finish()
    if any(each.code == "order" and each.kind == NOT_LEARNED for each in found):  # then no place in a text decides
        found = [each for each in found if each.code != "ends"]
    counts: Counter[str] = Counter()
    kept: list[Finding] = []
    advised: set[str] = set()
    for each in sorted(found, key=_rank):
        name = each.code.partition(":")[0]
        counts[name] += 1
        if counts[name] <= _PER_PROBE or name == "words":
            kept.append(replace(each, advice="") if each.advice in advised else each)  # once is enough
            advised.add(each.advice)
    return Findings(tuple(kept), talk.calls, tuple(skipped))


def _found(talk: Interview, probe: ProbeResult, level: float) -> Iterator[Finding]:
    claim = probe.claim(*(estimate(sample, level) for sample in probe.samples))
    if claim is None:
        return
    examples = tuple(_example(talk, each) for each in claim.examples)
    link = claim.link or (examples[0].text if examples else "")
    advice, figure = _ADVICE.get((claim.kind, probe.code.partition(":")[0]), ""), claim.figure
    yield Finding(
        probe.code, claim.kind, sentence(claim.text), figure.value, figure.low, figure.high, claim.cases or probe.cases,
        probe.unit, examples, link, advice,
    )  # fmt: skip


def _example(talk: Interview, given: str | Change) -> FindingExample:
    before, text, added = given if isinstance(given, Change) else (None, given, "")
    (output,) = talk.ask([text])
    named = talk.names[int(output.argmax())]
    without = None if before is None else _example(talk, before)
    return FindingExample(text, tuple(np.round(output, 4).tolist()), named, talk.truths.get(text), without, added)


def _rank(finding: Finding) -> tuple[bool, int, float]:
    """What it has learned comes last; a danger of many points comes early; of a probe, the surest effect first."""
    name, size = finding.code.partition(":")[0], min(abs(finding.low), abs(finding.high))
    if finding.kind == DANGEROUS and size > _MANY_POINTS and (finding.unit == POINTS or name == "misleading"):
        name = "many points"
    if name in ("rare", "missed", "confusion") and finding.n < _ENOUGH:
        name = ""  # comes after all others
    is_learned = finding.kind == LEARNED
    return is_learned, _FIRST.index(name) if name in _FIRST else len(_FIRST), 0 if is_learned else -size


def estimate(sample: NDArray[Any], level: float) -> Estimate:
    """A share with Wilson's interval, or a mean change with Student's (a probability changes by 1 at most)."""
    from scipy import stats

    if sample.dtype == bool:
        test = stats.binomtest(int(sample.sum()), len(sample))
        bounds = test.proportion_ci(level, "wilson")
        return Estimate(float(sample.mean()), float(bounds.low), float(bounds.high))
    mean, error = float(sample.mean()), float(sample.std(ddof=1) / np.sqrt(len(sample)))
    half = float(stats.t.ppf((1 + level) / 2, len(sample) - 1)) * error
    return Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half))
