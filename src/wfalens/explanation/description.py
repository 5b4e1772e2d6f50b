"""What a readable automaton does, in sentences, each with its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wfalens.automaton.course import LEAST_TURN, Course, Turn
from wfalens.automaton.naming import HARDLY, OPEN, SURE, WordClass
from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.explanation.description_figures import DescriptionFigures, mainly
from wfalens.explanation.moves import anatomy_and_names, require_readable, shown_name, shown_words
from wfalens.html import text_html
from wfalens.messages import percent
from wfalens.results import Result
from wfalens.text.vocabulary import UNKNOWN

_CLUSTERS_NAMED = 4  # for each class
_FLIPS_NAMED = 3
_NO_PREFERENCE = 1.3  # times the probability that each class has if all are equally likely
_NO_COURSE = "How its output evolves along a text was not recorded in this file; extract it again to know."
_FEW_CASES = 0.0005  # of all words: rarer clusters are not named


@dataclass(frozen=True)
class Statement:
    """One statement, with the unrounded numbers that it rests on."""

    about: str
    text: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Description(Result):
    """What an automaton does, in sentences; the first gives its fidelity."""

    sentences: tuple[Statement, ...]
    remark: str | None = None  # which automaton is described, where that is the readable one that another carries

    @property
    def title(self) -> str:
        return f"Description in {len(self.sentences)} sentences"

    @property
    def text(self) -> str:
        """One sentence on a line."""
        return "\n".join(each.text for each in self.sentences)

    def summary(self) -> str:
        return self.text

    def of(self, about: str) -> list[Statement]:
        return [each for each in self.sentences if each.about == about]

    def rows(self) -> list[dict[str, Any]]:
        return [{"about": each.about, "text": each.text} for each in self.sentences]

    def to_html(self) -> str:
        remarks = () if self.remark is None else (self.remark,)
        return "".join(text_html(each) for each in (*remarks, *(each.text for each in self.sentences)))


def describe(wfa: WFA) -> Description:
    """Describe a readable automaton, or the one that an automaton carries, in sentences.

    Args:
        wfa: a readable automaton, or one that carries a readable automaton.

    Examples:
        >>> from wfalens.explanation import describe
        >>> found = describe(readable)
        >>> [each.about for each in found.sentences][:2]
        ['fidelity', 'size']
    """
    readable = require_readable(wfa)
    anatomy, names = anatomy_and_names(readable.wfa)
    stored = readable.wfa.provenance.get("course")
    course = Course.from_json(stored, len(readable.wfa.class_names), len(names.classes))
    describer = _Describer(readable.wfa, DescriptionFigures(anatomy, names, course))
    return Description(tuple(describer.sentences()), readable.remark)


class _Describer:
    """Puts figures into sentences."""

    def __init__(self, wfa: WFA, figures: DescriptionFigures) -> None:
        self.wfa, self.figures = wfa, figures
        self.clusters, self.course = figures.names.classes, figures.course
        self.labels = [f"‘{shown_name(name)}’" for name in wfa.class_names]

    def sentences(self) -> Iterator[Statement]:
        yield self.fidelity()
        yield self.size()
        yield self.start()
        if self.course is None:
            yield Statement("course", _NO_COURSE)
        else:
            yield from self.along(self.course)
        yield self.hardly_matters()
        yield from self.reversals()
        for label in range(len(self.labels)):
            yield self.towards(label)
        yield from self.others()
        if self.course is not None:
            yield self.flips(self.course)
        yield self.memory()
        yield self.unknown()

    def fidelity(self) -> Statement:
        found = recorded(self.wfa.provenance)
        if found is None:
            return Statement("fidelity", "Its fidelity to the network was not recorded; measure it on held-out texts.")
        chosen = "" if found.sizes < 2 else f" (also used to choose its size, among {found.sizes})"
        text = (
            f"On {found.texts:,} held-out texts{chosen}, this automaton predicts the network's class in "
            f"{percent(found.cr, 1)} of the cases. What follows is true of the automaton, and of the network as far as "
            "the two agree."
        )
        return Statement("fidelity", text, {"cr": found.cr, "jsd": found.jsd, "texts": found.texts})

    def size(self) -> Statement:
        states, clusters, words = self.wfa.states, len(self.clusters), len(self.wfa.encoder.vocabulary) - UNKNOWN - 1
        text = (
            f"It has {states} states and {clusters} word clusters; each of its {words:,} words belongs to one cluster. "
            f"Shares are of the {self.figures.words:,.0f} words in the extraction texts."
        )
        figures = {"states": states, "clusters": clusters, "words": words, "read": self.figures.words}
        return Statement("size", text, figures)

    def start(self) -> Statement:
        output = self.figures.anatomy.centres[0]
        order = sorted(range(len(output)), key=lambda label: -output[label])[:3]
        shares = ", ".join(f"{self.labels[label]} {percent(float(output[label]))}" for label in order)
        more = "" if len(output) <= 3 else ", others less"
        verb = "has no preference:" if output.max() < _NO_PREFERENCE / len(output) else "predicts"
        figures = dict(zip(self.wfa.class_names, map(float, output), strict=True))
        return Statement("start", f"Before any word it {verb} {shares}{more}.", figures)

    def along(self, course: Course) -> Iterator[Statement]:
        """How its output evolves along a text."""
        yield Statement("first word", f"After the first word it is {_certainty(course.first)}.", _named(course.first))
        text = (
            f"At the end of a text it is {_certainty(course.end)}; {percent(course.before_sure)} of all words are read "
            f"before it is sure, that is, before a class has at least {percent(SURE)}."
        )
        yield Statement("end", text, {**_named(course.end), "before_sure": course.before_sure})
        if course.keeps and course.overturned is not None:
            yield self.sure(course.keeps, course.overturned)

    def sure(self, keeps: Mapping[int, float], overturned: float) -> Statement:
        low, high = percent(min(keeps.values())), percent(max(keeps.values()))
        span = low if low == high else f"{low} to {high}"
        each = ", ".join(f"{self.labels[label]} {percent(share)}" for label, share in keeps.items())
        switches = f"switches to another class after {percent(overturned, 1)}" if overturned else "never switches"
        text = f"Once it is sure of a class, it stays sure after {span} of the next words ({each}), and {switches}."
        figures = {self.wfa.class_names[label]: share for label, share in keeps.items()}
        return Statement("sure", text, {"keeps": figures, "overturned": overturned})

    def hardly_matters(self) -> Statement:
        clusters, share = self.figures.hardly_matters
        where = (
            f"{percent(self.figures.in_open)} of all words are read while the decision is still open, in states where "
            f"a word moves {percent(OPEN)} or more of the probability on average. "
        )
        little = (
            f"{clusters} of {len(self.clusters)} word clusters, {percent(share)} of all words, hardly matter: "
            f"even there such a word moves less than {percent(HARDLY)} on average."
        )
        every = f"There every word cluster matters: it moves {percent(HARDLY)} or more on average."
        figures = {"clusters": clusters, "share": share, "in_open": self.figures.in_open}
        return Statement("hardly matters", where + (little if clusters else every), figures)

    def towards(self, label: int) -> Statement:
        reversing = {reversal.cluster for reversal in self.figures.reversals}
        every = [at for at in self.figures.towards(label) if at not in reversing]
        named = [self.clusters[at] for at in every if self.clusters[at].share >= _FEW_CASES][:_CLUSTERS_NAMED]
        named.sort(key=lambda cluster: -cluster.change[label])
        left = len(every) - len(named)
        more = f"; and {left} more cluster{'s' if left > 1 else ''}" if left else ""
        listed = "; ".join(self._named(each, f", by {100 * each.change[label]:.0f} points") for each in named)
        text = (
            f"While the decision is open, words that move it towards {self.labels[label]}: {listed}{more}."
            if named
            else f"No word cluster moves it mainly towards {self.labels[label]}."
        )
        clusters = [{"cluster": each.name, "share": each.share, "change": float(each.change[label])} for each in named]
        return Statement("towards", text, {"class": self.wfa.class_names[label], "clusters": clusters})

    def _named(self, cluster: WordClass, more: str = "") -> str:
        return f"{_quoted(cluster)} ({percent(cluster.share, 1)} of words{more})"

    def others(self) -> Iterator[Statement]:
        """Clusters that matter but do not move the output mainly towards one class."""
        others = [each for each in self.clusters if each.moved >= HARDLY and mainly(each) is None]
        for cluster in [each for each in others if each.share >= _FEW_CASES][:_CLUSTERS_NAMED]:
            text = f"{self._named(cluster)}: a word of this cluster {shown_name(cluster.effect)}."
            figures = {"cluster": cluster.name, "share": cluster.share, "effect": cluster.effect}
            yield Statement("others", text, figures)

    def reversals(self) -> Iterator[Statement]:
        """Words that reverse what follows, such as a negation."""
        names = self.wfa.class_names
        for reversal in self.figures.reversals:
            examples, followers = [], []
            for each in reversal.followers:
                cluster = self.clusters[each.cluster]
                examples.append(
                    f"{_quoted(cluster)} leads to {self.labels[each.after]} ({percent(each.after_share)}), "
                    f"without it to {self.labels[each.alone]} ({percent(each.alone_share)})"
                )
                alone, after = {names[each.alone]: each.alone_share}, {names[each.after]: each.after_share}
                followers.append({"cluster": cluster.name, "alone": alone, "after": after})
            cluster = self.clusters[reversal.cluster]
            text = (
                f"{_quoted(cluster)} reverses what follows: after such a word, {'; '.join(examples)}. The output right "
                "after such a word means little."
            )
            yield Statement("reverses", text, {"cluster": cluster.name, "followers": followers})

    def flips(self, course: Course) -> Statement:
        reversing = {reversal.cluster for reversal in self.figures.reversals}
        flips = [turn for turn in course.turns if turn.word_class not in reversing][:_FLIPS_NAMED]
        if flips:
            text = "A sure decision is most often overturned by " + "; by ".join(map(self._flip, flips)) + "."
        else:
            text = f"No word cluster overturns a sure decision in {percent(LEAST_TURN)} of the cases or more."
        names = self.wfa.class_names
        figures = [
            {
                "cluster": self.clusters[turn.word_class].name,
                "from": names[turn.before],
                "to": names[turn.after],
                "rate": turn.rate,
                "read": turn.read,
            }
            for turn in flips
        ]
        return Statement("flips", text, {"flips": figures})

    def _flip(self, turn: Turn) -> str:
        before, after = self.labels[turn.before], self.labels[turn.after]
        words = _quoted(self.clusters[turn.word_class])
        return f"{words}, from {before} to {after} in {percent(turn.rate)} of {turn.read:,} cases"

    def memory(self) -> Statement:
        found = self.figures.memory
        if found is None:
            text = (
                "What a word does depends only on the output so far, not on the words that led to it. The network may "
                "remember more than such a small automaton shows."
            )
            return Statement("memory", text)
        states, label = self.figures.names.states, self.labels[found.label]
        first, second = shown_name(states[found.first]), shown_name(states[found.second])
        before, after = (" and ".join(map(percent, pair)) for pair in (found.before, found.after))
        text = (
            f"It remembers something that its output does not show: “{first}” and “{second}” give {label} {before}, "
            f"but after {_quoted(self.clusters[found.cluster])} it has {after}."
        )
        figures = {
            "states": [states[found.first], states[found.second]],
            "class": self.wfa.class_names[found.label],
            "cluster": self.clusters[found.cluster].name,
            "before": list(found.before),
            "after": list(found.after),
        }
        return Statement("memory", text, figures)

    def unknown(self) -> Statement:
        cluster = self.clusters[int(self.figures.anatomy.word_class[UNKNOWN])]
        text = f"An unknown word is treated like {_quoted(cluster)}: it {shown_name(cluster.effect)}."
        return Statement("unknown", text, {"cluster": cluster.name})


def _certainty(shares: tuple[float, float, float]) -> str:
    undecided, leaning, sure = map(percent, shares)
    return f"undecided in {undecided} of the cases, leaning to a class in {leaning} and sure of one in {sure}"


def _named(shares: Sequence[float]) -> dict[str, float]:
    return dict(zip(("undecided", "leaning", "sure"), shares, strict=True))


def _quoted(cluster: WordClass) -> str:
    return f"“{shown_words(cluster.words)} …”" if cluster.words else "unknown words"
