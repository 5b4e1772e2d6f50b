"""What a readable automaton does, told in sentences, each with its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wfalens.automaton.course import LEAST_TURN, Course, Turn
from wfalens.automaton.naming import HARDLY, OPEN, SURE, WordClass
from wfalens.automaton.serving import recorded
from wfalens.automaton.wfa import WFA
from wfalens.explanation.moves import anatomy_and_names, shown_name, shown_words, teller_of
from wfalens.explanation.story.story import Sentence, Story
from wfalens.explanation.story.story_figures import Figures, mainly
from wfalens.messages import percent
from wfalens.text.vocabulary import UNKNOWN

_KINDS_TOLD = 4  # classes of words named for each class
_TURNS_TOLD = 3
_NO_OPINION = 1.3  # times the probability that each class has if all are equally likely
_NO_COURSE = "When it is sure, and what turns it, was not recorded in this file; extract it again to know."
_FEW_CASES = 0.0005  # of all words: kinds of words that are rarer are not named


def describe(wfa: WFA) -> Story:
    """The story of a readable automaton, or of the readable one that an automaton carries; others are refused.

    Args:
        wfa: a readable automaton, or one that carries a readable automaton.

    Examples:
        >>> from wfalens.explanation import describe
        >>> story = describe(readable)
        >>> [each.about for each in story.sentences][:2]
        ['fidelity', 'size']
    """
    told = teller_of(wfa)
    anatomy, names = anatomy_and_names(told.wfa)
    course = Course.from_json(told.wfa.provenance.get("course"), len(told.wfa.class_names), len(names.classes))
    teller = _Teller(told.wfa, Figures(anatomy, names, course))
    return Story(tuple(teller.sentences()), told.remark)


class _Teller:
    """Puts figures into words."""

    def __init__(self, wfa: WFA, figures: Figures) -> None:
        self.wfa, self.figures = wfa, figures
        self.classes, self.course = figures.names.classes, figures.course
        self.labels = [f"‘{shown_name(name)}’" for name in wfa.class_names]

    def sentences(self) -> Iterator[Sentence]:
        yield self.faithful()
        yield self.size()
        yield self.start()
        if self.course is None:
            yield Sentence("course", _NO_COURSE)
        else:
            yield from self.along(self.course)
        yield self.little()
        yield from self.reversals()
        for label in range(len(self.labels)):
            yield self.towards(label)
        yield from self.others()
        if self.course is not None:
            yield self.turns(self.course)
        yield self.memory()
        yield self.unknown()

    def faithful(self) -> Sentence:
        found = recorded(self.wfa.provenance)
        if found is None:
            return Sentence("fidelity", "How faithful it is was not recorded; measure it with `wfalens evaluate`.")
        chosen = "" if found.sizes < 2 else f" (which also chose its size, among {found.sizes})"
        text = (
            f"On {found.texts:,} texts that it was not fitted to{chosen}, this automaton names the network's class in "
            f"{percent(found.cr, 1)} of the cases. What follows holds for the automaton, and for the network as far "
            "as they agree."
        )
        return Sentence("fidelity", text, {"cr": found.cr, "jsd": found.jsd, "texts": found.texts})

    def size(self) -> Sentence:
        states, kinds, words = self.wfa.states, len(self.classes), len(self.wfa.encoder.vocabulary) - UNKNOWN - 1
        text = (
            f"It has {states} states and {kinds} kinds of words; each of its {words:,} words is of one kind. "
            f"Shares are of the {self.figures.words:,.0f} words in the texts that it was made from."
        )
        return Sentence("size", text, {"states": states, "kinds": kinds, "words": words, "read": self.figures.words})

    def start(self) -> Sentence:
        output = self.figures.anatomy.centres[0]
        order = sorted(range(len(output)), key=lambda label: -output[label])[:3]
        told = ", ".join(f"{self.labels[label]} {percent(float(output[label]))}" for label in order)
        more = "" if len(output) <= 3 else ", others less"
        figures = dict(zip(self.wfa.class_names, map(float, output), strict=True))
        has = "has no opinion" if output.max() < _NO_OPINION / len(output) else "says"
        text = f"Before any word it {has}: {told}{more}." if has != "says" else f"Before any word it says {told}{more}."
        return Sentence("start", text, figures)

    def along(self, course: Course) -> Iterator[Sentence]:
        """What becomes of its opinion in the course of a text."""
        text = f"After the first word it is {_standing(course.first)}."
        yield Sentence("first word", text, _named(course.first))
        text = (
            f"At the end of a text it is {_standing(course.end)}; {percent(course.before_sure)} of all words are read "
            f"before it is sure, that is, gives a class at least {percent(SURE)}."
        )
        yield Sentence("end", text, {**_named(course.end), "before_sure": course.before_sure})
        if course.keeps and course.overturned is not None:
            yield self.sure(course.keeps, course.overturned)

    def sure(self, keeps: Mapping[int, float], overturned: float) -> Sentence:
        low, high = min(keeps.values()), max(keeps.values())
        span = percent(low) if percent(low) == percent(high) else f"{percent(low)} to {percent(high)}"
        each = ", ".join(f"{self.labels[label]} {percent(share)}" for label, share in keeps.items())
        text = f"Once it is sure of a class, it stays sure of it after {span} of the next words ({each}), and " + (
            f"turns to another class after {percent(overturned, 1)}." if overturned else "never turns to another class."
        )
        figures = {self.wfa.class_names[label]: share for label, share in keeps.items()}
        return Sentence("sure", text, {"keeps": figures, "overturned": overturned})

    def little(self) -> Sentence:
        kinds, share = self.figures.hardly_matters
        where = (
            f"{percent(self.figures.in_open)} of all words are read while its opinion is still open, in states where a "
            f"word moves {percent(OPEN)} or more of the probability on average. "
        )
        little = (
            f"{kinds} of {len(self.classes)} kinds of words, {percent(share)} of all words, hardly matter: "
            f"even there such a word moves less than {percent(HARDLY)} on average."
        )
        every = f"There every kind of word matters: it moves {percent(HARDLY)} or more on average."
        text = where + (little if kinds else every)
        return Sentence("hardly matters", text, {"kinds": kinds, "share": share, "in_open": self.figures.in_open})

    def towards(self, label: int) -> Sentence:
        name = self.wfa.class_names[label]
        turning = {reversal.word_class for reversal in self.figures.reversals}
        every = [at for at in self.figures.towards(label) if at not in turning]
        most = [at for at in every if self.classes[at].share >= _FEW_CASES][:_KINDS_TOLD]
        found = sorted(most, key=lambda at: -self.classes[at].change[label])
        left = len(every) - len(found)
        more = f"; and {left} more kind{'s' if left > 1 else ''}" if left else ""
        kinds = [self._as_push(self.classes[at], label) for at in found]
        told = "; ".join(
            self._kind(self.classes[at], f", by {100 * each['change']:.0f} points")
            for at, each in zip(found, kinds, strict=True)
        )
        text = (
            f"While it is open, words that turn it towards {self.labels[label]}: {told}{more}."
            if found
            else f"No kind of word turns mainly towards {self.labels[label]}."
        )
        return Sentence("towards", text, {"class": name, "kinds": kinds})

    def _as_push(self, kind: WordClass, label: int) -> dict[str, Any]:
        return {"word_class": kind.name, "share": kind.share, "change": float(kind.change[label])}

    def _kind(self, kind: WordClass, more: str = "") -> str:
        return f"{_quoted(kind.words)} ({percent(kind.share, 1)} of words{more})"

    def others(self) -> Iterator[Sentence]:
        """What kinds of words do that matter but do not speak for one class."""
        found = [each for each in self.classes if each.moved >= HARDLY and mainly(each) is None]
        for kind in [each for each in found if each.share >= _FEW_CASES][:_KINDS_TOLD]:
            text = f"{self._kind(kind)}: a word of this kind {shown_name(kind.effect)}."
            yield Sentence("others", text, {"word_class": kind.name, "share": kind.share, "effect": kind.effect})

    def reversals(self) -> Iterator[Sentence]:
        """Words that turn round what follows, such as a negation."""
        for reversal in self.figures.reversals:
            told = [
                f"{_quoted(self.classes[each.word_class].words)} leads to {self.labels[each.after]} "
                f"({percent(each.after_share)}), without it to {self.labels[each.alone]} ({percent(each.alone_share)})"
                for each in reversal.followers
            ]
            kind = self.classes[reversal.word_class]
            text = (
                f"{_quoted(kind.words)} turns round what follows: after such a word, {'; '.join(told)}. What it says "
                "right after such a word means little."
            )
            names = self.wfa.class_names
            followers = [
                {
                    "word_class": self.classes[each.word_class].name,
                    "alone": {names[each.alone]: each.alone_share},
                    "after": {names[each.after]: each.after_share},
                }
                for each in reversal.followers
            ]
            yield Sentence("turns round", text, {"word_class": kind.name, "followers": followers})

    def turns(self, course: Course) -> Sentence:
        turning = {reversal.word_class for reversal in self.figures.reversals}
        found = [turn for turn in course.turns if turn.word_class not in turning][:_TURNS_TOLD]
        if found:
            text = "A sure opinion is most often turned by " + "; by ".join(self._turn(turn) for turn in found) + "."
        else:
            text = f"No kind of word turns a sure opinion in {percent(LEAST_TURN)} of the cases or more."
        return Sentence("turns", text, {"turns": [self._as_json(turn) for turn in found]})

    def _turn(self, turn: Turn) -> str:
        before, after = self.labels[turn.before], self.labels[turn.after]
        words = _quoted(self.classes[turn.word_class].words)
        return f"{words}, from {before} to {after} in {percent(turn.rate)} of {turn.read:,} cases"

    def _as_json(self, turn: Turn) -> dict[str, Any]:
        names = self.wfa.class_names
        kind = self.classes[turn.word_class].name
        return {
            "word_class": kind,
            "from": names[turn.before],
            "to": names[turn.after],
            "rate": turn.rate,
            "read": turn.read,
        }

    def memory(self) -> Sentence:
        found = self.figures.memory
        if found is None:
            text = (
                "What a word does depends only on the opinion so far, not on which words led to it. The network may "
                "know more than so small an automaton shows."
            )
            return Sentence("memory", text)
        states, label = self.figures.names.states, self.labels[found.label]
        first, second = shown_name(states[found.first]), shown_name(states[found.second])
        words = _quoted(self.classes[found.word_class].words)
        text = (
            f"It remembers something that it does not say: “{first}” and “{second}” give {label} "
            f"{percent(found.before[0])} and {percent(found.before[1])}, but after {words} it has "
            f"{percent(found.after[0])} and {percent(found.after[1])}."
        )
        figures = {
            "states": [states[found.first], states[found.second]],
            "class": self.wfa.class_names[found.label],
            "word_class": self.classes[found.word_class].name,
            "before": list(found.before),
            "after": list(found.after),
        }
        return Sentence("memory", text, figures)

    def unknown(self) -> Sentence:
        kind = self.classes[int(self.figures.anatomy.word_class[UNKNOWN])]
        text = f"An unknown word is taken like {_quoted(kind.words)}: it {shown_name(kind.effect)}."
        return Sentence("unknown", text, {"word_class": kind.name})


def _standing(shares: tuple[float, float, float]) -> str:
    undecided, leaning, sure = map(percent, shares)
    return f"undecided in {undecided} of the cases, leaning to a class in {leaning} and sure of one in {sure}"


def _named(shares: Sequence[float]) -> dict[str, float]:
    return dict(zip(("undecided", "leaning", "sure"), shares, strict=True))


def _quoted(words: tuple[str, ...]) -> str:
    return f"“{shown_words(words)} …”" if words else "unknown words"
