"""Asking a classifier about texts that are made of its own corpus; what it is asked about is only proposed elsewhere.

The automaton, and how the model itself reads some texts, propose words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.wfa import WFA
from wfalens.explanation.influence import influence_of, words_seen
from wfalens.explanation.opinion_line import LEAST_READ, SURE, Reading, read_texts
from wfalens.messages import percent, printable, shortened
from wfalens.models.contract import PrefixClassifier
from wfalens.models.inference import asks_every_prefix, text_outputs
from wfalens.text.corpus import Corpus
from wfalens.text.tokenizers import characters_each
from wfalens.text.word_checks import has_letter, is_stop_word

RELEVANT = 0.1  # change of a probability that matters
_MANY_TEXTS = 20_000  # that words are looked up in
SEEN_DRAW = 19  # seed of the texts that it was trained on: not as a trainer draws texts to set aside
_MOST_CLASSES = 10  # whose words are asked about
_SHARE_READ = 5  # one in so many calls is a text that is read word by word
_BREAK = re.compile(r"[.,;:!?()\"“”–—]|--")
_NEGATORS = frozenset({"not", "no", "never", "n't", "hardly", "nothing"})
_OPPOSITES = (
    ("good", "bad"), ("great", "terrible"), ("best", "worst"), ("love", "hate"), ("happy", "sad"), ("fun", "boring"),
    ("beautiful", "ugly"), ("wonderful", "awful"), ("perfect", "poor"), ("strong", "weak"), ("right", "wrong"),
)  # fmt: skip
_SOME_OPPOSITES = 3  # that the model knows: fewer say nothing
_GRADED_BY = ("very", "too", "so", "not", "more", "most", "as")  # words that stand before an opinion


class BudgetSpentError(Exception):
    """A probe needs more model calls than are left."""


@dataclass(frozen=True)
class Fragment:
    """A few words of a real text around a word that decides about them."""

    word: str
    left: str
    right: str
    own: float  # probability of the word's class with the word

    def text(self, before: str = "") -> str:
        """The fragment, with a word such as "very" before the one that decides."""
        left = re.sub(r"\ban$", "a", self.left) if before else self.left
        return " ".join(f"{left} {before} {self.word} {self.right}".split())


@dataclass(frozen=True, eq=False)
class Answered:
    """Labelled texts with the model's answers."""

    texts: tuple[str, ...]
    truth: NDArray[np.int64]  # (texts,)
    outputs: NDArray[np.float64]  # (texts, classes)

    @property
    def answers(self) -> NDArray[np.int64]:
        return np.asarray(self.outputs.argmax(1))

    @property
    def right(self) -> NDArray[np.bool_]:
        return np.asarray(self.answers == self.truth)

    @property
    def shortest(self) -> list[str]:
        return sorted(self.texts, key=lambda text: (len(text), text))

    @property
    def surest(self) -> list[str]:
        return [self.texts[at] for at in np.argsort(-self.outputs.max(1), kind="stable")]

    def kept(self, chosen: NDArray[np.bool_]) -> Answered:
        """Those of a mask; (texts,)"""
        rows = np.flatnonzero(chosen)
        return Answered(tuple(self.texts[at] for at in rows), self.truth[rows], self.outputs[rows])

    def matching(self, pattern: re.Pattern[str]) -> Answered:
        return self.kept(np.array([bool(pattern.search(text)) for text in self.texts], bool))


@dataclass(eq=False)
class Interview:
    """A model with its automaton, and texts to ask it about; no text is asked twice."""

    wfa: WFA
    model: PrefixClassifier
    texts: Corpus  # all that were given
    new: Corpus  # those of them that it was not trained on
    seen: Corpus | None
    limit: int  # model calls
    seed: int
    rng: np.random.Generator
    scale: float = 1.0  # share of the usual sample sizes
    _answers: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    calls: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        return self.wfa.class_names

    @cached_property
    def opinions(self) -> list[int]:
        """Of two classes that praise and blame, those whose words can be negated: not "nontoxic" beside "toxic".

        Where the model knows words of praise and their opposites, these must move it apart: they do not in headlines.
        """
        known = [pair for pair in _OPPOSITES if all(word in self.wfa.encoder.vocabulary for word in pair)]
        outputs = self.ask([word for pair in known for word in pair])[:, 0].reshape(-1, 2)
        if len(known) >= _SOME_OPPOSITES and abs(np.mean(outputs[:, 0] - outputs[:, 1])) < RELEVANT:
            return []
        return [at for at in (0, 1) if self.names[1 - at].lower() not in self.names[at].lower()]

    def size(self, usual: int) -> int:
        """A sample size that the budget allows."""
        return max(4, round(usual * self.scale))

    def ask(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The model's probabilities; (texts, classes)"""
        asked = [text for text in dict.fromkeys(texts) if text not in self._answers]
        if self.calls + len(asked) > self.limit:
            raise BudgetSpentError
        if asked:
            ids = self.model.encoder.encode(asked)
            outputs = text_outputs(self.model, asked, np.arange(len(asked)), ids)
            self.calls += len(asked)
            self._answers.update(zip(asked, np.asarray(outputs, np.float64), strict=True))
        return np.array([self._answers[text] for text in texts]).reshape(len(texts), len(self.names))

    def shown(self, text: str) -> str:
        """A text with the class that the model gives it, for a sentence."""
        output = self.ask([text])[0]
        return f"“{shortened(printable(text))}” is {percent(output.max())} {self.name(int(output.argmax()))}"

    def name(self, label: int) -> str:
        return shortened(printable(self.names[label]))

    def sample(self, usual: int, extra: int = 0, fits: Callable[[str], object] = bool) -> list[str]:
        """Some of the new texts for which `extra` more words would still be read."""
        longest = self.model.encoder.max_length or 1 << 40
        ids = self.model.encoder.encode(self.new.texts)
        rows = np.flatnonzero((ids.lengths > 0) & (ids.lengths + extra <= longest))
        chosen = [self.new.texts[row] for row in self.rng.permutation(rows) if fits(self.new.texts[row])]
        return chosen[: self.size(usual)]

    @cached_property
    def answered(self) -> Answered | None:
        """Some labelled new texts that have words, those that it has read; None without labels."""
        known = set() if self.seen is None else {*self.seen.texts}
        found = self._answered(self.texts, self._reading, self.seed)
        return found and found.kept(np.array([text not in known for text in found.texts], bool))

    @cached_property
    def answered_seen(self) -> Answered | None:
        """The same of texts that the model was trained on."""
        return self._answered(self.seen, self._reading_seen, SEEN_DRAW)

    def _answered(self, corpus: Corpus | None, reading: Reading | None, seed: int) -> Answered | None:
        if corpus is None or corpus.labels is None:
            return None
        if reading is None:
            worded, _ = self.model.encoder.encode(corpus.texts).nonempty()
            rows = np.sort(np.random.default_rng(seed).permutation(worded)[: self.limit // _SHARE_READ])
        else:
            rows = reading.rows
        some = corpus.subset(rows)
        return Answered(some.texts, some.labels_in(self.names), self.ask(some.texts))

    @cached_property
    def labelled(self) -> Answered | None:
        """Both, the new ones first."""
        known = [each for each in (self.answered, self.answered_seen) if each is not None]
        if not known:
            return None
        texts = tuple(text for each in known for text in each.texts)
        return Answered(
            texts, np.concatenate([each.truth for each in known]), np.concatenate([each.outputs for each in known])
        )

    @property
    def labelled_texts(self) -> str:
        """How those are called that have labels."""
        return "texts" if self.answered_seen is None else "texts (seen and new)"

    @cached_property
    def truths(self) -> dict[str, str]:
        """The label of every text that has one."""
        known = [each for each in (self.seen, self.new) if each is not None and each.labels is not None]
        return {
            text: self.names[label]
            for each in known
            for text, label in zip(each.texts, each.labels_in(self.names).tolist(), strict=True)
        }

    @cached_property
    def reads_words(self) -> bool:
        encoder = self.model.encoder
        return characters_each(encoder.tokenizer_name) is None and not encoder.closed

    @cached_property
    def pool(self) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Texts that are read whole, and for every word where its texts begin and which they are."""
        texts = [*self.new.texts, *(self.seen.texts if self.seen is not None else ())]
        if len(texts) > _MANY_TEXTS:
            texts = [texts[row] for row in np.sort(self.rng.permutation(len(texts))[:_MANY_TEXTS])]
        longest = self.model.encoder.max_length or 1 << 40
        lengths = self.wfa.encoder.encode(texts).lengths
        texts = [text for text, length in zip(texts, lengths, strict=True) if 0 < length < longest]
        ids = self.wfa.encoder.encode(texts)
        words = len(self.wfa.encoder.vocabulary)
        pairs = np.unique(ids.values.astype(np.int64) * len(ids) + ids.item_of_value())
        firsts = np.searchsorted(pairs, np.arange(words + 1) * len(ids))
        return tuple(texts), firsts, pairs % max(1, len(ids))

    def occurrences(self, word: str, most: int) -> Iterator[tuple[str, str, str]]:
        """What stands before a word, the word as it is written, and what follows, in real texts drawn at random."""
        texts, firsts, rows = self.pool
        number = self.wfa.encoder.vocabulary.id_of(word)
        pattern, found = self.pattern(word), 0
        for row in self.rng.permutation(rows[firsts[number] : firsts[number + 1]]):
            match = pattern.search(texts[row])
            if match and found < most:
                found += 1
                yield texts[row][: match.start()], match.group(), texts[row][match.end() :]

    def texts_with(self, word: str) -> int:
        """In how many texts of the pool a word stands."""
        _, firsts, _ = self.pool
        number = self.wfa.encoder.vocabulary.id_of(word)
        return int(firsts[number + 1] - firsts[number])

    def shortest(self, word: str, most: int) -> list[str]:
        """The shortest of some real texts with a word, to show."""
        texts = {left + spelled + right for left, spelled, right in self.occurrences(word, 30)}
        return sorted(texts, key=lambda text: (len(text), text))[:most]

    def labels_with(self, word: str, label: int) -> tuple[float, float]:
        """Of the labelled texts with a word, the share of a class, and by how many standard errors that is more."""
        if self.labelled is None or not len(own := self.labelled.matching(self.pattern(word)).truth):
            return 0.0, 0.0
        share, all_of_them = float((own == label).mean()), float((self.labelled.truth == label).mean())
        error = max(1e-12, (all_of_them * (1 - all_of_them) / len(own)) ** 0.5)
        return share, (share - all_of_them) / error

    def pattern(self, word: str) -> re.Pattern[str]:
        """Finds a word as it is written in texts."""
        tokens = self.wfa.encoder.tokens
        flags = re.IGNORECASE if tokens(word.upper()) == tokens(word.lower()) else 0
        return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)" if self.reads_words else re.escape(word), flags)

    @cached_property
    def scores(self) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.float64]]:
        """The words seen in extraction, how often, and what each changes of each class; (words, classes)

        Words that the model was seen to read often have its own mean change, the nearer to zero the wider its interval;
        others have their influence in the automaton.
        """
        ids = words_seen(self.wfa, 5)
        changes = influence_of(self.wfa, ids, "probability")
        for reading in self._readings:
            found = reading.pushes(len(self.wfa.encoder.vocabulary), range(len(self.names)))
            _, place, own = np.intersect1d(ids, found.ids, return_indices=True)
            sizes = np.abs(found.changes)
            changes[place] = (found.changes * sizes / np.maximum(1e-12, sizes + found.halves))[own]
        return tuple(self.wfa.encoder.vocabulary.decode(ids)), self.wfa.word_counts[ids], changes

    @cached_property
    def classes(self) -> list[int]:
        """Those whose words are asked about: the most frequent among the model's answers."""
        outputs = self.ask(self.sample(300))
        order = np.argsort(-outputs.sum(0), kind="stable")
        return sorted(order[:_MOST_CLASSES].tolist())

    def strongest(self, label: int, most: int, least_count: int = 5) -> list[str]:
        """The words that move a class most, function words left out."""
        words, counts, scores = self.scores
        order = np.argsort(-scores[:, label], kind="stable")
        usual = (words[at] for at in order if counts[at] >= least_count and scores[at, label] > 0)
        return [word for word, _ in zip((w for w in usual if not is_stop_word(w)), range(most), strict=False)]

    @cached_property
    def filler(self) -> list[str]:
        """Frequent function words that move least; where there are none, any frequent words."""
        words, counts, scores = self.scores
        lettered = [at for at in np.argsort(-counts, kind="stable") if has_letter(words[at])]
        longer = [at for at in lettered if len(words[at]) > 1]  # single letters are parts of abbreviations
        frequent = (longer or lettered)[:150]
        stop_words = [at for at in frequent if is_stop_word(words[at]) and words[at] not in (*_GRADED_BY, "but")]
        quiet = sorted(stop_words if len(stop_words) >= 5 else frequent, key=lambda at: float(np.abs(scores[at]).max()))
        return [words[at] for at in quiet[:12]]

    def filled(self, words: int) -> str:
        return " ".join(self.rng.choice(self.filler, words))

    def pushes(self, words: Sequence[str], usual: int = 30) -> list[NDArray[np.float64]]:
        """What each word changes when it is read after the beginning of a real text, the decision being open.

        Words that the given texts have often enough are measured there, as in the opinion line, others that these and
        the texts of its training have, in both.
        -> for each word (different beginnings, classes)
        """
        read = [self._pushes_read(word) for word in words]
        found = {
            (number, left.strip(), left + spelled)
            for number, word in enumerate(words)
            if len(read[number]) < LEAST_READ
            for left, spelled, _ in self.occurrences(word, self.size(usual))
            if left.strip()
        }
        ordered = sorted(found)
        first, second = self.ask([before for _, before, _ in ordered]), self.ask([after for *_, after in ordered])
        is_open = first.max(1, initial=0) <= SURE
        owners = np.array([number for number, *_ in ordered], np.int64)
        asked = [(second - first)[(owners == number) & is_open] for number in range(len(words))]
        return [each if len(each) >= LEAST_READ else other for each, other in zip(read, asked, strict=True)]

    def _pushes_read(self, word: str) -> NDArray[np.float64]:
        """The changes that a word makes in texts; (times read, classes), none if every prefix costs a call"""
        number, changes = self.model.encoder.vocabulary.id_of(word), np.zeros((0, len(self.names)))
        for reading in self._readings:
            own = reading.changes_by(number)
            changes = own if len(own) >= LEAST_READ else changes
        return changes

    @cached_property
    def _readings(self) -> list[Reading]:
        """The given texts and those of its training together, and the given ones, whose figures count if they can."""
        given, seen = self._reading, self._reading_seen
        joined = [given.joined(seen)] if given is not None and seen is not None else []
        return [*joined, *([] if given is None else [given])]

    @cached_property
    def _reading(self) -> Reading | None:
        return self._read(self.texts, self.seed)

    @cached_property
    def _reading_seen(self) -> Reading | None:
        return None if self.seen is None else self._read(self.seen, SEEN_DRAW)

    def _read(self, corpus: Corpus, seed: int) -> Reading | None:
        """Some texts word by word; None if every prefix costs a call, or none is left."""
        most = min(self.limit // _SHARE_READ, self.limit - self.calls)
        if asks_every_prefix(self.model) or most < 1:
            return None
        reading = read_texts(self.model, corpus.relabelled(self.names), most, seed)
        self.calls += len(reading.ids)
        self._answers |= {corpus.texts[row]: output for row, output in zip(reading.rows, reading.ends, strict=True)}
        return reading

    @cached_property
    def fragments(self) -> dict[int, list[Fragment]]:
        """Real fragments of one clause that a strong word of a class decides: two classes, opinion words."""
        return {label: self._decided(label) for label in self.opinions}

    def _decided(self, label: int) -> list[Fragment]:
        words = [word for word in self.strongest(label, 80) if word in self.graded and word not in _GRADED_BY][
            : max(8, self.size(32))
        ]
        parts = []
        for word in words:
            for left, _, right in self.occurrences(word, self.size(20)):
                before, after = _BREAK.split(left)[-1].split()[-4:], _BREAK.split(right)[0].split()[:3]
                if not _NEGATORS & {*map(str.lower, before)}:
                    parts.append((word, " ".join(before), " ".join(after)))
        own = self.ask([" ".join(f"{left} {word} {right}".split()) for word, left, right in parts])[:, label]
        without = self.ask([f"{left} {right}".strip() for _, left, right in parts])[:, label]
        return [
            Fragment(*part, float(probability))
            for part, probability, other in zip(parts, own, without, strict=True)
            if probability >= 0.5 and probability - other >= RELEVANT
        ]

    @cached_property
    def graded(self) -> Counter[str]:
        """How often each word follows one such as "very" in the texts."""
        vocabulary = self.wfa.encoder.vocabulary
        ids = self.wfa.encoder.encode(self.pool[0])
        first = [vocabulary.id_of(word) for word in _GRADED_BY if word in vocabulary]
        follows = np.isin(ids.values[:-1], first)
        follows &= ids.item_of_value()[:-1] == ids.item_of_value()[1:]
        return Counter(vocabulary.decode(ids.values[1:][follows]))
