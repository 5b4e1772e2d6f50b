"""What a classifier has learned, asked of the model itself.

A probe has samples, one value for each word or text that was asked about, and says what follows from the intervals of
their means. Its texts are made of the model's own corpus and words (CheckList, Ribeiro et al. 2020, has them written by
hand).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfalens.evaluation.comparison import Estimate
from wfalens.evaluation.label_errors import find_label_errors
from wfalens.explanation.findings.interview import RELEVANT, Answered, Interview
from wfalens.explanation.opinion_line import SURE
from wfalens.explanation.opinion_line import points as signed
from wfalens.messages import percent, visible
from wfalens.text.corpus import Corpus
from wfalens.text.tokenizers import characters_each
from wfalens.text.word_checks import find_mojibake, has_letter

LEARNED, NOT_LEARNED, DANGEROUS, DATA = KINDS = ("learned", "not_learned", "dangerous", "data")
POINTS, SHARE = "points", "share"
_SURE_NONSENSE = 0.9
_FLIPS = 0.05  # share of changed answers that matters
_DECIDED = 0.6  # share of the texts whose answer is that of a few words alone
_ORDER_IGNORED, _ORDER_NEEDED = 0.2, 0.3  # share of the answers that shuffled words change
_GAP = 0.02  # between accuracies
_MISCALIBRATED = 0.05  # between how sure it is and how often it is right
_MISTAKES = 10  # that show what it confuses
_RARE = 2  # times as many texts that the largest class has at least, if another is rare
_LOOKED_AT, _SUSPECTS = 100, 6  # words of a class that may mislead; that are inserted into other texts
_NAMED = 4  # of these, in a sentence
_EXPECTED = 3.0  # standard errors by which the labels of texts with a word differ from all labels
_SOME_LABELS = 3  # that are likely wrong: fewer say nothing of the data
_OFTEN = 12  # texts with a word that show what it does
_FELT = 0.02  # change of a probability that a word makes at least, to be named
_SHIFTED = 0.05  # change of a probability by words that say nothing, that matters
_DOUBTED = 2.0  # log-odds against a label
_FILLER = 20  # words that say nothing
_MARKS = re.compile(r"[^\w\s]|_")
_NONSENSE = (
    "& & & &", ". . . .", "? ? ?", "! ! ! !", "- - - -", "1234 5678 90", "x x x x x", "asdf qwer zxcv", "a a a a a a",
    "lorem ipsum dolor sit amet", "http : / /", "( ) ( ) ( )",
)  # fmt: skip
_MADE_UP = ("blorvit", "zanquer", "tremuls", "quogglin", "vistrell")


class Change(NamedTuple):
    """A text before and after a word was added."""

    before: str
    text: str
    word: str


@dataclass(frozen=True)
class Claim:
    """A sentence that follows from intervals, with its figure."""

    kind: str
    text: str
    figure: Estimate
    examples: Sequence[str | Change] = ()
    link: str = ""  # a text or a word to look at, by default the first example
    cases: int = 0  # that the figure rests on, if these are not all of the probe


@dataclass(frozen=True)
class ProbeResult:
    """Samples and what follows from them: shares of truth values, means of changes."""

    code: str
    samples: tuple[NDArray[Any], ...]  # (units,) each: truth values, or changes of a probability
    claim: Callable[..., Claim | None]  # of the estimates of the samples, in their order
    cases: int  # texts, or pairs of texts, that the figure rests on
    unit: str = POINTS
    tests: int = 0  # among which the samples were chosen, if these are more than the samples


def by_owner(owners: Sequence[str], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of the values of each word; (words,)"""
    _, inverse = np.unique(np.array(owners, dtype=object).astype(str), return_inverse=True)
    return np.asarray(np.bincount(inverse, values) / np.bincount(inverse)) if len(values) else np.zeros(0)


def points(value: float) -> str:
    return f"{signed(value)} {'point' if abs(round(100 * value)) == 1 else 'points'}"


def knows(talk: Interview, word: str) -> bool:
    """Whether there are two classes that are opinions, and a word is the model's."""
    return talk.reads_words and len(talk.names) == 2 and word in talk.wfa.encoder.vocabulary and len(talk.opinions) > 0


def _for_all(
    code: str,
    samples: Mapping[int, NDArray[Any]],
    least: float,
    cases: Mapping[int, Sequence[Any]],
    sentence: Callable[..., Claim],
) -> ProbeResult:
    """Learned if the words of all asked classes move by more than `least`, not learned if those of one do not."""

    def claim(*estimates: Estimate) -> Claim | None:
        found = dict(zip(samples, estimates, strict=True))
        label = min(found, key=lambda at: found[at].value)
        if found[label].high >= least and any(each.low <= least for each in found.values()):
            return None
        found_claim = sentence(NOT_LEARNED if found[label].high < least else LEARNED, label, found[label])
        return replace(found_claim, cases=len(cases[label]))

    return ProbeResult(code, tuple(samples.values()), claim, 0)


def negation(talk: Interview) -> Iterator[ProbeResult]:
    """Does "not" move away from the class of the word that follows, for words of every class that is an opinion?"""
    if not knows(talk, "not"):
        return
    every = {label: talk.fragments[label] for label in talk.opinions}
    samples = {label: _moved(talk, label, part, "not", -1) for label, part in every.items()}

    def sentence(kind: str, label: int, found: Estimate) -> Claim:
        forms = ("it is {}{}", "{}{} at all")
        texts = [
            Change(form.format("", word), form.format("not ", word), "not")
            for word in _plain_words(talk, label)
            for form in forms
        ]
        shares = talk.ask([each.text for each in texts])[:, label].reshape(-1, len(forms))
        shown = shares if kind == NOT_LEARNED else 1 - shares
        best = [texts[len(forms) * at + int(row.argmax())] for at, row in enumerate(shown) if row.max() > 0.5]
        name, by = talk.name(label), abs(100 * found.value)
        if kind == LEARNED:
            text = f"“not” moves {name} words {by:.0f} points away from {name}"
        elif found.low < 0 < found.high:
            text = f"“not” before a {name} word hardly moves it"
        else:
            where = "away from it" if found.value > 0 else f"further towards {name}"
            text = f"“not” before a {name} word moves it {by:.0f} points {where}"
        learned = "hardly learned" if kind == NOT_LEARNED and found.low > 0 else kind.replace("_", " ")
        claim = f"It has {learned} negation: {'; '.join([*(talk.shown(each.text) for each in best[:1]), text])}"
        return Claim(kind, claim, found, best[:2], "" if best else "not")

    yield _for_all("negation", samples, RELEVANT, every, sentence)


def _plain_words(talk: Interview, label: int) -> list[str]:
    """Words to show in examples: those that decide a short text by themselves, and are used often."""
    words = sorted({each.word for each in talk.fragments[label]})
    alone = (talk.ask([f"it is {word}" for word in words]) - talk.ask(["it is"]))[:, label]
    order = np.argsort(-np.maximum(alone, 0) * np.log1p([talk.graded[word] for word in words]), kind="stable")
    return [words[at] for at in order[:12]]


def _moved(talk: Interview, label: int, parts: Sequence[Any], word: str, sign: int) -> NDArray[np.float64]:
    """By how much a word before the deciding one moves the probability of its class, a value for each such word."""
    own = np.array([each.own for each in parts])
    now = talk.ask([each.text(word) for each in parts])[:, label]
    return by_owner([each.word for each in parts], sign * (now - own))


def intensity(talk: Interview) -> Iterator[ProbeResult]:
    """Does "very" strengthen the word that follows? Asked where there is room for more."""
    if not knows(talk, "very"):
        return
    every = {label: [each for each in talk.fragments[label] if each.own < 0.9] for label in talk.opinions}
    samples = {label: _moved(talk, label, part, "very", 1) for label, part in every.items()}

    def sentence(kind: str, label: int, found: Estimate) -> Claim:
        moved = talk.ask([each.text("very") for each in every[label]])[:, label] - [each.own for each in every[label]]
        shown = every[label][int(np.abs(moved - found.value).argmin())]
        does = "strengthens the word after it" if kind == LEARNED else f"does not strengthen {talk.name(label)} words"
        examples = (Change(shown.text(), shown.text("very"), "very"),)
        return Claim(kind, f"“very” {does}", found, examples)

    yield _for_all("intensity", samples, 0.02, every, sentence)


def contrast(talk: Interview) -> Iterator[ProbeResult]:
    """Does the part after "but" count for more than the same part after "and"?"""
    if not (knows(talk, "but") and knows(talk, "and")):
        return
    texts = talk.sample(600, fits=lambda text: 2 <= len(text.split()) <= 14)
    outputs = talk.ask(texts)
    sides = [[text.strip(" .!?,") for text, row in zip(texts, outputs, strict=True) if row[at] > 0.8] for at in (0, 1)]
    pairs = [list(zip(sides[1 - at], sides[at], strict=False))[: talk.size(100)] for at in (0, 1)]
    samples = {}
    for label, part in enumerate(pairs):
        but, plain = ([f"{first} {word} {last}" for first, last in part] for word in ("but", "and"))
        samples[label] = talk.ask(but)[:, label] - talk.ask(plain)[:, label]

    def sentence(kind: str, label: int, found: Estimate) -> Claim:
        first, last = pairs[label][int(np.abs(samples[label] - found.value).argmin())]
        does = "makes what follows count for more" if kind == LEARNED else "does not make what follows count for more"
        examples = (f"{first} but {last}", f"{first} and {last}")
        return Claim(kind, f"“but” {does} than “and” does", found, examples)

    yield _for_all("contrast", samples, 0.05, dict(enumerate(pairs)), sentence)


def order(talk: Interview) -> Iterator[ProbeResult]:
    """Does the order of the words matter?"""
    texts = talk.sample(1000, fits=lambda text: len(text.split()) >= 4)
    shuffled = [" ".join(talk.rng.permutation(text.split())) for text in texts]
    flips = _flips(talk, texts, shuffled)

    def claim(found: Estimate) -> Claim | None:
        ignored = found.high < _ORDER_IGNORED
        if not ignored and found.low < _ORDER_NEEDED:
            return None
        text = (
            f"{'It hardly uses word order' if ignored else 'Word order matters'}: {percent(found.value)} of its "
            "answers change when the words of a text are shuffled"
        )
        kind, shown = (NOT_LEARNED, ~flips) if ignored else (LEARNED, flips)
        return Claim(kind, text, found, *_pair(texts, shuffled, shown))

    yield ProbeResult("order", (flips,), claim, len(texts), SHARE)


def ends(talk: Interview) -> Iterator[ProbeResult]:
    """Do the first or the last words of a text decide alone? Of long texts three, else one; of a word two letters."""
    units = {text: [*filter(has_letter, text.split())] for text in talk.new.texts}
    is_one_word = np.median([len(each) for each in units.values()]) <= 1
    spelled = is_one_word and characters_each(talk.model.encoder.tokenizer_name) is not None
    join, unit = ("", "character") if spelled else (" ", "word")
    units = {text: [*text] for text in units} if spelled else units
    counts = [len(each) for each in units.values() if len(each) > 1]
    if counts:
        some, fewest = (2, 6) if spelled else (3, 9) if np.median(counts) >= 9 else (1, 2)
        texts = talk.sample(1000, fits=lambda text: len(units[text]) >= fewest)
        if texts:
            sides = (slice(some), slice(-some, None))
            parts = [[join.join(units[text][side]) for text in texts] for side in sides]
            yield _by_ends(talk, texts, parts, (unit, "decides") if some == 1 else (f"{some} {unit}s", "decide"))


def _by_ends(talk: Interview, texts: list[str], parts: list[list[str]], named: tuple[str, str]) -> ProbeResult:
    answers, (what, verb) = talk.ask(texts).argmax(1), named
    usual = np.bincount(answers).max() / len(texts)  # with which any text would agree
    same = [talk.ask(part).argmax(1) == answers for part in parts]
    lengths = np.array([len(text) for text in texts])
    is_usual = lengths >= np.median(lengths)  # of shorter texts an end is nearly all

    def claim(first: Estimate, last: Estimate) -> Claim | None:
        side = int(last.value > first.value)
        best, other = ((first, last), (last, first))[side]
        if best.low < max(_DECIDED, usual, other.high):
            return None
        one, another = (("first", "last"), ("last", "first"))[side]
        text = (
            f"The {one} {what} of a text {verb}: the answer is the same without the rest for {percent(best.value)} of "
            f"the texts; with the {another} {what} alone for {percent(other.value)}"
        )
        return Claim(DANGEROUS, text, best, *_pair(texts, parts[side], same[side] & is_usual))

    return ProbeResult("ends", tuple(same), claim, len(texts), SHARE)


def _flips(talk: Interview, texts: Sequence[str], changed: Sequence[str]) -> NDArray[np.bool_]:
    return np.asarray(talk.ask(texts).argmax(1) != talk.ask(changed).argmax(1))


def _pair(texts: Sequence[str], changed: Sequence[str], shown: NDArray[np.bool_]) -> tuple[tuple[str, ...], str]:
    """A text and its changed form, the shortest of those that show what is claimed, and the text to open."""
    at = min(range(len(texts)), key=lambda each: (not shown[each], texts[each] == changed[each], len(texts[each])))
    return (texts[at], changed[at]), changed[at]


def invariance(talk: Interview) -> Iterator[ProbeResult]:
    """Changes that should change no answer: capitals, punctuation, digits, a typing error, saying it twice."""
    longest = talk.model.encoder.max_length or 1 << 40
    edits: dict[str, tuple[str, Callable[[str], str]]] = {
        "case": ("writing in capitals", str.upper),
        "punctuation": ("leaving out punctuation", lambda text: " ".join(_MARKS.sub(" ", text).split())),
        "numbers": ("replacing digits", lambda text: re.sub(r"\d", lambda digit: str((int(digit[0]) + 3) % 10), text)),
        "typing_error": ("swapping two letters of one word", lambda text: _with_swap(text, talk.rng)),
        "repetition": ("saying a text twice", lambda text: f"{text} {text}"),
    }
    if talk.model.encoder.closed:
        edits = {"repetition": edits["repetition"]}
    for code, (name, edit) in edits.items():
        changed = {text: edit(text) for text in talk.sample(300)} if code != "repetition" else {
            text: edit(text) for text in talk.sample(300) if 2 * len(talk.wfa.encoder.tokens(text)) < longest
        }  # fmt: skip
        texts = [text for text, other in changed.items() if other.strip() and other != text]
        if len(texts) >= talk.size(40):
            yield _harmless(talk, code, name, texts, [changed[text] for text in texts])


def _harmless(talk: Interview, code: str, name: str, texts: list[str], changed: list[str]) -> ProbeResult:
    flips = _flips(talk, texts, changed)

    def claim(found: Estimate) -> Claim | None:
        if found.low > _FLIPS:
            text = f"{name[0].upper()}{name[1:]} changes {percent(found.value)} of its answers"
            return Claim(DANGEROUS, text, found, *_pair(texts, changed, flips))
        if found.high < _FLIPS:
            text = f"{name[0].upper()}{name[1:]} changes hardly any answer"
            return Claim(LEARNED, text, found, *_pair(texts, changed, ~flips))
        return None

    return ProbeResult(code, (flips,), claim, len(texts), SHARE)


def _with_swap(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return text
    at = int(rng.choice(long))
    place = int(rng.integers(1, len(words[at]) - 2))
    word = words[at]
    words[at] = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    return " ".join(words)


def fillers(talk: Interview) -> Iterator[ProbeResult]:
    """Do words that say nothing, or that are unknown, move the output?"""
    if not talk.reads_words:
        return
    added = min(_FILLER, int(np.median([len(text.split()) for text in talk.new.texts])))  # lengths that it knows
    texts = talk.sample(300, extra=max(1, added))
    if added == 0 or not texts:
        return  # all texts are as long as it reads
    about = f"words that say nothing count: {added} of them at the end, such as “{' '.join(talk.filler[:4])}”,"
    longer = [Change(text, f"{text} {talk.filled(added)}", "") for text in texts]
    yield _shift(talk, "length", about, longer)
    unknown = [word for word in _MADE_UP if word not in talk.wfa.encoder.vocabulary]
    changed = [_inserted(text, str(talk.rng.choice(unknown)), talk.rng) for text in texts]
    yield _shift(talk, "unknown", "a word that it does not know", changed)


def _shift(talk: Interview, code: str, about: str, changes: Sequence[Change]) -> ProbeResult:
    """By how much a change moves each class (of two classes, one is enough)."""
    moved = talk.ask([each.text for each in changes]) - talk.ask([each.before for each in changes])

    def claim(*found: Estimate) -> Claim | None:
        label = max(range(len(found)), key=lambda each: found[each].low)
        if found[label].low < _SHIFTED:
            return None
        most, by = changes[int(moved[:, label].argmax())], 100 * found[label].value
        text = f"{about[0].upper()}{about[1:]} move a text towards {talk.name(label)} by {by:.0f} points"
        examples = (most,) if most.word else (most.before, most.text)
        return Claim(DANGEROUS, text, found[label], examples, most.text)

    return ProbeResult(code, tuple(moved.T), claim, len(changes))


def position(talk: Interview) -> Iterator[ProbeResult]:
    """Does the same word count for more at the end of its text than at the beginning?"""
    if not talk.reads_words:
        return
    moved_words = [
        (word, label, " ".join(f"{left} {right}".split()))
        for label in talk.classes
        for word in talk.strongest(label, 20 if len(talk.names) < 4 else 5)
        for left, _, right in talk.occurrences(word, talk.size(6))
    ]
    labels = np.array([label for _, label, _ in moved_words], np.int64)
    texts = [[form.format(word, rest) for word, _, rest in moved_words] for form in ("{1}", "{0} {1}", "{1} {0}")]
    without, at_first, at_last = (talk.ask(each)[np.arange(len(labels)), labels] for each in texts)
    kept = np.flatnonzero(np.maximum(at_first, at_last) - without >= RELEVANT)  # where the word matters at all
    first, last = ([each[at] for at in kept] for each in texts[1:])
    moved = (at_last - at_first)[kept]

    def claim(found: Estimate) -> Claim | None:
        if min(found.high, -found.low) > -RELEVANT:
            return None
        at = int((moved * np.sign(found.value)).argmax())
        where = ("end", "beginning") if found.value > 0 else ("beginning", "end")
        text = (
            f"The same word counts for more at the {where[0]} of a text than at the {where[1]}, "
            f"by {abs(100 * found.value):.0f} points"
        )
        return Claim(DANGEROUS, text, found, (first[at], last[at]), last[at])

    yield ProbeResult("position", (by_owner([moved_words[at][0] for at in kept], moved),), claim, len(moved))


def no_text(talk: Interview) -> Iterator[ProbeResult]:
    """What does it say of texts that are none?"""
    if not talk.model.encoder.closed:
        outputs = talk.ask(_NONSENSE)
        sure = outputs.max(1) >= _SURE_NONSENSE
        ranked = [_NONSENSE[at] for at in np.argsort(-outputs.max(1), kind="stable")]

        def claim(found: Estimate) -> Claim | None:
            if not sure.any():
                return None
            text = f"Text that is no text gets a sure answer {sure.sum()} times in {len(sure)}: {talk.shown(ranked[0])}"
            return Claim(DANGEROUS, text, found, ranked[:2])

        yield ProbeResult("no_text", (sure,), claim, len(sure), SHARE)
    if hasattr(talk.model, "initial_output"):
        (output,) = talk.ask([""])
        label, value = int(output.argmax()), float(output.max())

        def empty() -> Claim | None:
            text = f"An empty text is {percent(value)} {talk.name(label)}"
            return Claim(DANGEROUS, text, Estimate(value, value, value), ("",)) if value >= _SURE_NONSENSE else None

        yield ProbeResult("empty", (), empty, 1, SHARE)


def strong_words(talk: Interview) -> Iterator[ProbeResult]:
    """Which words move it most, class by class?"""
    if not talk.reads_words:
        return
    for label in talk.classes:
        most = talk.size(14 if len(talk.names) < 4 else 8)
        strong = talk.strongest(label, 10 * most)
        # words that the texts have often enough to show what they do stand before stronger ones that they hardly have
        words = sorted(strong, key=lambda word: talk.texts_with(word) < _OFTEN)[:most]
        moved = [each[:, label] for each in talk.pushes(words, 30 if len(talk.names) < 4 else 20)]
        kept = [at for at, each in enumerate(moved) if len(each) >= 4]
        if kept:
            yield _movers(talk, label, [words[at] for at in kept], [moved[at] for at in kept])


def artefacts(talk: Interview) -> Iterator[ProbeResult]:
    """Which of the strongest symbols are damaged, or no words?"""
    words, _, scores = talk.scores
    strength = np.abs(scores).max(1)
    strong = np.flatnonzero(strength >= np.quantile(strength, 0.9))
    odd = [
        at
        for at in strong[np.argsort(-strength[strong], kind="stable")]
        if find_mojibake(words[at]) or (talk.reads_words and not has_letter(words[at]))
    ][:8]
    for at, moved in zip(odd, talk.pushes([words[at] for at in odd]), strict=True):
        label = int(scores[at].argmax())
        if len(moved) >= 4:
            yield _artefact(talk, words[at], label, moved[:, label])


def _movers(talk: Interview, label: int, words: list[str], moved: list[NDArray[np.float64]]) -> ProbeResult:
    def claim(*found: Estimate) -> Claim | None:
        sure = sorted((at for at in range(len(words)) if found[at].low > _FELT), key=lambda at: -found[at].low)[:5]
        if not sure:
            return None
        sure.sort(key=lambda at: -found[at].value)
        pushes = ", ".join(f"“{visible(words[at])}” {points(found[at].value)}" for at in sure)
        text = f"Words that move it towards {talk.name(label)}: {pushes}"
        first = sure[0]
        shown = talk.shortest(words[first], 10)
        answers = talk.ask(shown).argmax(1)
        best = [shown[at] for at in np.argsort(answers != label, kind="stable")[:2]]
        return Claim(LEARNED, text, found[first], best, words[first], len(moved[first]))

    return ProbeResult(f"words:{talk.names[label]}", tuple(moved), claim, 0)


def _artefact(talk: Interview, word: str, label: int, moved: NDArray[np.float64]) -> ProbeResult:
    texts = talk.shortest(word, 10)
    shown = [texts[at] for at in np.flatnonzero(talk.ask(texts).argmax(1) == label)[:2]]

    def claim(found: Estimate) -> Claim | None:
        what = "a number" if word.isdecimal() else "no word"
        text = f"“{visible(word)}” is {what}, yet it moves a text towards {talk.name(label)} by {points(found.value)}"
        return Claim(DANGEROUS, text, found, shown, word) if found.low > RELEVANT / 2 else None

    return ProbeResult(f"artefact:{word}", (moved,), claim, len(moved))


def inflection(talk: Interview) -> Iterator[ProbeResult]:
    """Do the forms of a word count alike? Asked of forms that the automaton treats most differently."""
    if not talk.reads_words:
        return
    words, counts, scores = talk.scores
    place = {word: at for at, word in enumerate(words) if counts[at] >= 10}
    pairs = []
    for base, at in place.items():
        silent = base.endswith("e") and not base.endswith("ee")
        forms = {base + "s", base + ("d" if silent else "ed"), (base[:-1] if silent else base) + "ing"}
        for form in sorted(forms & place.keys()):
            if len(base) > 2:
                louder = max((at, place[form]), key=lambda each: np.abs(scores[each]).max())
                gap = np.abs(scores[at] - scores[place[form]])
                pairs.append((float(gap.max()), int(scores[louder].argmax()), base, form))
    chosen = sorted(pairs, reverse=True)[: talk.size(16)]
    # first words that should matter by the labels of their texts, then frequent ones
    chosen.sort(
        key=lambda pair: (-talk.labels_with(pair[2], pair[1])[1], -min(counts[place[each]] for each in pair[2:]))
    )
    for _, label, base, form in chosen:
        moved = [each[:, label] for each in talk.pushes([base, form], 40)]
        if min(map(len, moved)) >= 4:
            yield _forms(talk, label, (base, form), moved)


def _forms(talk: Interview, label: int, words: tuple[str, str], moved: list[NDArray[np.float64]]) -> ProbeResult:
    """One form counts, the other does not; the label is a class that it raises."""

    def claim(*found: Estimate) -> Claim | None:
        quiet, loud = sorted((0, 1), key=lambda at: abs(found[at].value))
        nothing = found[quiet].low < 0 < found[quiet].high and max(-found[quiet].low, found[quiet].high) < RELEVANT
        if not nothing or found[loud].low - found[quiet].high < 0.05:
            return None
        share, surprise = talk.labels_with(words[quiet], label)
        if talk.labelled is not None and surprise <= _EXPECTED:
            return None  # by the labels it may well count for nothing
        though = (
            f", though {percent(share)} of the {talk.labelled_texts} with it are {talk.name(label)}"
            if surprise > _EXPECTED
            else ""
        )
        text = (
            f"“{words[loud]}” moves a text {100 * found[loud].value:.0f} points towards {talk.name(label)}, but "
            f"“{words[quiet]}” counts for nothing{though}"
        )
        texts = []
        if (known := talk.answered) is not None:
            own = known.kept(known.truth == label)
            wrong, right = own.kept(~own.right), own.kept(own.right)
            shown = wrong.matching(talk.pattern(words[quiet])), right.matching(talk.pattern(words[loud]))
            texts = [text for each in shown for text in each.shortest[:1]]
        return Claim(NOT_LEARNED, text, found[quiet], texts, words[quiet], len(moved[quiet]))

    return ProbeResult(f"inflection:{words[0]}", tuple(moved), claim, 0)


def accuracy(talk: Interview) -> Iterator[ProbeResult]:
    """How often is it right on new texts, and on those that it has seen?"""
    if talk.answered is None:
        return
    shown = talk.answered.kept(~talk.answered.right).surest[:2]
    counts = np.bincount(talk.new.labels_in(talk.names), minlength=len(talk.names))
    seen = talk.answered_seen

    def claim(now: Estimate, *known: Estimate) -> Claim:
        if known and known[0].value - now.value - np.hypot(known[0].value - known[0].low, now.high - now.value) > _GAP:
            text = (
                f"It is right on {percent(known[0].value)} of the texts that it has seen and on {percent(now.value)} "
                "of new ones: part of what it knows, it knows by heart"
            )
            return Claim(NOT_LEARNED, text, now, shown)
        usual, share = int(counts.argmax()), float(counts.max() / counts.sum())
        better = now.low > share
        text = (
            f"It is right on {percent(now.value)} of {'the new' if seen is not None else 'these'} texts; always saying "
            f"“{talk.name(usual)}” {'would be' if better else 'is as good:'} right on {percent(share)}"
        )
        return Claim(LEARNED if better else NOT_LEARNED, text, now, shown)

    samples = [each.right for each in (talk.answered, seen) if each is not None]
    yield ProbeResult("accuracy", tuple(samples), claim, len(samples[0]), SHARE)


def calibration(talk: Interview) -> Iterator[ProbeResult]:
    """Is the probability of its answers as high as the share of those that are right?"""
    if talk.answered is None:
        return
    own, right, sure = talk.answered, talk.answered.right, talk.answered.outputs.max(1)

    def claim(found: Estimate) -> Claim | None:
        mean, share = percent(float(sure.mean())), percent(float(right.mean()))
        if found.low > _MISCALIBRATED:
            text = (
                f"It is surer than it is right, by {100 * found.value:.0f} points: the mean probability of its answers "
                f"is {mean}, and {share} of them are right"
            )
            return Claim(DANGEROUS, text, found, own.kept(~right).surest[:2])
        if found.high < -_MISCALIBRATED:
            often = "never sure" if sure.max() <= SURE else "seldom sure"
            text = f"It is right on {share} of the texts, but {often}: the mean probability of its answers is {mean}"
            return Claim(NOT_LEARNED, text, found, own.kept(right).surest[:-3:-1])
        return None

    yield ProbeResult("calibration", (sure - right,), claim, len(right))


def confusion(talk: Interview) -> Iterator[ProbeResult]:
    """Which classes does it miss more often than the others, and what does it take their texts for?"""
    if talk.answered is not None and (~talk.answered.right).sum() >= _MISTAKES:
        if len(talk.names) > 2:
            yield _overused(talk, talk.answered)
        trained = talk.seen if talk.seen is not None and talk.seen.labels is not None else talk.new
        counts = np.bincount(trained.labels_in(talk.names), minlength=len(talk.names))
        for label, count in enumerate(counts.tolist()):
            detected = len(talk.names) == 2 and talk.opinions == [label]
            code = "rare" if _RARE * count <= counts.max() else "missed" if detected else "confusion"
            yield _missed(talk, f"{code}:{talk.names[label]}", talk.answered, label)


def _overused(talk: Interview, every: Answered) -> ProbeResult:
    """How often it takes texts for the class that it gives most often by mistake."""
    mistakes = every.kept(~every.right)
    label = int(np.bincount(mistakes.answers).argmax())
    taken = (every.answers == label) & ~every.right

    def claim(found: Estimate) -> Claim | None:
        share = percent(float(taken.sum()) / len(mistakes.texts))
        text = (
            f"It takes {percent(found.value)} of all texts for “{talk.name(label)}” by mistake: {share} of its errors"
        )
        shown = mistakes.kept(mistakes.answers == label).surest[:2]
        return Claim(NOT_LEARNED, text, found, shown) if found.low > RELEVANT else None

    return ProbeResult("overused", (taken,), claim, len(taken), SHARE, len(talk.names))


def _missed(talk: Interview, code: str, every: Answered, label: int) -> ProbeResult:
    """How often it misses one class."""
    own, usual = every.kept(every.truth == label), float((~every.right).mean())
    more = RELEVANT if len(talk.names) > 2 else 0
    taken = np.bincount(own.answers[~own.right], minlength=len(talk.names))

    def claim(found: Estimate) -> Claim | None:
        if found.low <= RELEVANT or found.value <= usual + more:
            return None
        first, second = np.argsort(-taken, kind="stable")[:2]
        shares = [f"{percent(taken[at] / len(own.texts))} for “{talk.name(at)}”" for at in (first, second) if taken[at]]
        text = f"It misses {percent(found.value)} of the “{talk.name(label)}” texts"
        if len(talk.names) > 2:
            text += f" (all classes: {percent(usual)}): it takes {' and '.join(shares)}"
        else:
            text += f": it takes them for “{talk.name(first)}”"
        return Claim(NOT_LEARNED, text, found, own.kept(own.answers == first).surest[:2])

    return ProbeResult(code, (~own.right,), claim, len(own.texts), SHARE)


def misleading(talk: Interview) -> Iterator[ProbeResult]:
    """Words that alone turn texts of other classes into a class, and with which it is wrong more often."""
    if talk.answered is None or talk.labelled is None or not talk.reads_words:
        return
    found = []
    for label in talk.classes:
        others = talk.labelled.kept(talk.labelled.truth != label)
        usual = float((others.answers == label).mean())
        suspects = []
        for word in filter(has_letter, talk.strongest(label, _LOOKED_AT, 10)):
            own = others.matching(talk.pattern(word))
            excess = float((own.answers == label).sum()) - usual * len(own.texts)
            if len(own.texts) > 3 and excess > RELEVANT * len(own.texts):
                suspects.append(_Suspect(word, own, excess))
        right = talk.answered.kept((talk.answered.truth != label) & (talk.answered.answers != label)).texts
        texts = [right[at] for at in talk.rng.permutation(len(right))[: talk.size(400 // len(talk.classes))]]
        if suspects and texts:
            first = sorted(suspects, key=lambda each: -each.excess)[:_SUSPECTS]
            found.append(_misleads(talk, label, texts, first, usual))
    yield from sorted(found, key=lambda each: -max(float(flips.mean()) for flips in each.samples))


class _Suspect(NamedTuple):
    """A word that may turn texts into a class."""

    word: str
    texts: Answered  # of other classes, with it
    excess: float  # of these, how many more are taken for the class than usual


def _misleads(talk: Interview, label: int, texts: list[str], suspects: list[_Suspect], usual: float) -> ProbeResult:
    """How many of the texts, which are of other classes and are said to be, each word turns when it is inserted.

    usual: of texts of other classes, the share that is taken for the class
    """
    changed = [[_inserted(text, each.word, talk.rng) for text in texts] for each in suspects]
    flips = [talk.ask([one.text for one in each]).argmax(1) == label for each in changed]
    taken = [int((each.texts.answers == label).sum()) for each in suspects]

    def claim(*found: Estimate) -> Claim | None:
        both = zip(found[: len(suspects)], found[len(suspects) :], range(len(suspects)), strict=True)
        sure = [(share, at) for share, real, at in both if share.low > _FLIPS and real.low > usual]
        if not sure:
            return None
        sure = sorted(sure, key=lambda each: -each[0].value)[:_NAMED]
        name, words = talk.name(label), {at: visible(suspects[at].word) for _, at in sure}
        first, *more = [f"“{words[at]}” {percent(share.value)}" for share, at in sure]
        turned = ", ".join([f"{first} of them", *more])
        real = ", ".join(f"{taken[at]} of {len(suspects[at].texts.texts)} with “{words[at]}”" for _, at in sure)
        others = f"{talk.name(1 - label)} texts" if len(talk.names) == 2 else "other texts"
        name = name if len(talk.names) == 2 else f"“{name}”"
        text = (
            f"One added word turns {others} into {name}: {turned}; of real {talk.labelled_texts}, it takes {real} for "
            f"{name}"
        )
        turns = [[one for one, flipped in zip(changed[at], flips[at], strict=True) if flipped] for _, at in sure[:2]]
        shown = [min(each, key=lambda one: (len(one.text), one.text)) for each in turns]
        return Claim(DANGEROUS, text, sure[0][0], shown, suspects[sure[0][1]].word)

    samples = (*flips, *(each.texts.answers == label for each in suspects))
    tests = 2 * _LOOKED_AT * len(talk.classes)
    return ProbeResult(f"misleading:{talk.names[label]}", samples, claim, len(texts), SHARE, tests)


def _inserted(text: str, word: str, rng: np.random.Generator) -> Change:
    words = text.split()
    at = int(rng.integers(len(words) + 1))
    return Change(text, " ".join([*words[:at], word, *words[at:]]), word)


def labels(talk: Interview) -> Iterator[ProbeResult]:
    """Which labels of the texts that it was trained on are likely wrong?"""
    seen = talk.answered_seen
    if seen is None or talk.model.encoder.closed:
        return
    corpus = Corpus(seen.texts, seen.truth, talk.names, "seen")
    errors = [
        each
        for each in find_label_errors(talk.wfa, talk.model, corpus, seen.outputs)
        if each.doubt >= _DOUBTED and not seen.right[each.row]
    ]
    doubted, some = np.isin(np.arange(len(corpus)), [each.row for each in errors]), len(errors) >= _SOME_LABELS

    def claim(found: Estimate) -> Claim | None:
        text = (
            f"{percent(found.value, 1)} of the labels that it was trained on are worth a second look: the network and "
            "a bag of words that was fitted to the other texts both give another class"
        )
        return Claim(DATA, text, found, [each.text for each in errors[:2]]) if some else None

    yield ProbeResult("labels", (doubted,), claim, len(corpus), SHARE)


PROBES: tuple[Callable[[Interview], Iterator[ProbeResult]], ...] = (
    accuracy,
    calibration,
    confusion,
    misleading,
    ends,
    negation,
    inflection,
    strong_words,
    artefacts,
    order,
    position,
    fillers,
    no_text,
    contrast,
    intensity,
    invariance,
    labels,
)
