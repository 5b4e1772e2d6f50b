"""The door to certificates: from a list of allowed changes to certificates of the automaton or of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.explanation.embeddings import nearness_of
from wfalens.models.contract import PrefixClassifier
from wfalens.progress import shown
from wfalens.robustness.certify.certificate import CHANGES, Robustness, certify_texts, nonempty_tokens
from wfalens.robustness.certify.edits import Edits, Substitutes
from wfalens.robustness.certify.enumerated_certificates import (
    BUDGET,
    EditRobustness,
    NetworkRobustness,
    certify_edits,
    certify_network,
)
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import as_texts
from wfalens.text.word_checks import is_stop_word
from wfalens.text.word_vectors import WordVectors
from wfalens.validation import Bounds, Options, option, whole

SUBJECTS = AUTOMATON, READABLE, NETWORK = ("automaton", "readable", "network")
_NEAREST = 5  # words that may replace a word by default


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(Options):
    """Whose class is proven, which changes an adversary may make, and how much work a proof may take."""

    of: str = option(AUTOMATON, "Whose class is proven: automaton, its readable automaton, or the network.", SUBJECTS)
    substitutes: int | None = option(
        None, "Words that may replace a word (5 near words; all of a list).", Bounds(whole, 1, 10**6, (None,))
    )
    max_semantic: float | str | None = option(None, "Largest cosine distance of near words: a number or a quantile.")
    spare_stop_words: bool = option(False, "Leave stop words as they are.")
    delete: bool = option(False, "Any word may be left out.")
    duplicate: bool = option(False, "Any word may be doubled.")
    swap: bool = option(False, "Neighbouring words may change places.")
    insert: tuple[str, ...] = option((), "Any of these words may be put in anywhere.")
    changes: int | None = option(None, "Changes at most, of whatever kind.", CHANGES)
    budget: int = option(BUDGET, "Variants of a text that the network may read.", Bounds(whole, 2, 10**9))
    effort: int = option(1000, "Prefixes to expand in a text that the bound leaves open.", Bounds(whole, 0, 10**9))
    samples: int = option(200, "Variants of each text to try; all where they are fewer.", Bounds(whole, 0, 10**9))

    def edits(
        self,
        wfa: WFA,
        texts: Sequence[str],
        neighbours: Mapping[str, Sequence[str]] | None = None,
        vectors: WordVectors | None = None,
    ) -> Edits:
        """The allowed changes of the words of the texts; refused if nothing in the texts could change.

        neighbours  words that may replace each word, in place of those near in meaning by `vectors`
        """
        vocabulary = wfa.encoder.vocabulary
        words = set(chain.from_iterable(nonempty_tokens(wfa, texts)))
        if neighbours is not None:
            if self.spare_stop_words:
                neighbours = {word: others for word, others in neighbours.items() if not is_stop_word(word)}
            substitutes = Substitutes.listed(wfa, neighbours, self.substitutes, of=words)
            if substitutes.left_out:
                display.say(
                    f"left out {substitutes.left_out:,} replacements of words of the texts: the word or its "
                    "replacement, or both, are not among the words of the automaton"
                )
        else:
            near = nearness_of(wfa, vectors, spare_stop_words=self.spare_stop_words)
            within = None if self.max_semantic is None else near.bound(self.max_semantic)
            substitutes = Substitutes.near(wfa, near, self.substitutes or _NEAREST, of=words, within=within)
        others = self.delete or self.duplicate or self.swap or self.insert
        if not others and not any(substitutes.of_id(vocabulary.id_of(word)) for word in words):
            raise InputError(
                "no word of the texts has a substitute; widen the bound on the distance, give other vectors or lists "
                "of words, or allow other changes such as deletions",
                code="no-candidates",
            )
        for word in self.insert:
            if word not in vocabulary:
                raise InputError(f"the automaton does not know {word!r}, which may be inserted", code="unknown-word")
        inserted = tuple(vocabulary.id_of(word) for word in self.insert)
        return Edits(substitutes, delete=self.delete, duplicate=self.duplicate, swap=self.swap, insert=inserted)


def certify_model(
    wfa: WFA,
    texts: Sequence[str],
    options: CertifyOptions | None = None,
    *,
    model: PrefixClassifier | None = None,
    neighbours: Mapping[str, Sequence[str]] | None = None,
    vectors: WordVectors | None = None,
    seed: int = 0,
    progress: bool = False,
) -> Robustness | NetworkRobustness | EditRobustness:
    """Prove that no allowed change changes a text's class, or find one that does.

    On an automaton a bound covers all variants at once; on the network all variants are read, those most likely to
    break it first. Where tokens are characters, every text within a few edits is read.

    Args:
        wfa: the automaton.
        texts: whose classes are to be proven.
        options: whose class, which changes, and how much work.
        model: the network; with `of="automaton"` it reads some variants, too.
        neighbours: words that may replace each word, in place of near words.
        vectors: word vectors that say which words are near in meaning; None: WordLlama.
        seed: of random draws.
        progress: show a progress bar.

    Examples:
        >>> from wfalens.robustness import CertifyOptions, certify_model
        >>> found = certify_model(wfa, ["a good film"], CertifyOptions(changes=1), neighbours={"film": ["a"]})
        >>> found.certified.value
        1.0
    """
    options, texts = CertifyOptions() if options is None else options, list(as_texts(texts))
    if options.of == NETWORK and model is None:
        raise InputError("certificates of the network need the network: give the model", code="no-model")
    with shown(progress):
        if reads_characters(wfa.encoder):
            if options.of == READABLE:
                raise InputError("texts of characters are certified on the automaton or on the network", code="subject")
            asked = model if options.of == NETWORK else None
            changes = 1 if options.changes is None else options.changes
            return certify_edits(wfa, texts, model=asked, changes=changes, budget=options.budget)
        _check_changes(wfa, texts, options.changes)
        edits = options.edits(wfa, texts, neighbours, vectors)
        if options.of == NETWORK and model is not None:
            return _of_network(wfa, model, texts, edits, options, seed)
        subject = wfa.readable if options.of == READABLE else wfa
        if subject is None:
            raise InputError("the automaton carries no readable automaton", code="not-readable")
        return certify_texts(
            subject,
            texts,
            edits,
            model=model,
            changes=options.changes,
            effort=options.effort,
            samples=options.samples,
            seed=seed,
        )


def _of_network(
    wfa: WFA, model: PrefixClassifier, texts: list[str], edits: Edits, options: CertifyOptions, seed: int
) -> NetworkRobustness:
    found = certify_network(wfa, model, texts, edits, changes=options.changes, budget=options.budget, seed=seed)
    fewest = min(each.variants for each in found.certificates)
    if fewest > options.budget:
        display.say(
            f"a budget of {options.budget:,} proves nothing on the network: the fewest variants of a text are "
            f"{fewest:,}; raise the budget or allow fewer changes"
        )
    return found


def _check_changes(wfa: WFA, texts: Sequence[str], changes: int | None) -> None:
    """Refuse more changes than any text has words; say so where some texts have fewer."""
    lengths = [len(wfa.encoder.tokens(each)) for each in texts]
    if changes is None or not any(lengths):
        return
    if changes > max(lengths):
        raise InputError(
            f"{changes} changes are more than the longest text has words ({max(lengths)})", code="option-value"
        )
    shorter = sum(0 < length < changes for length in lengths)
    if shorter:
        display.say(f"{shorter:,} texts have fewer than {changes} words: all of them may change there")
