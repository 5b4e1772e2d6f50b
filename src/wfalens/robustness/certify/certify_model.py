"""The door to certificates: from a list of allowed changes to certificates of the automaton or of the network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from wfalens import progress as display
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Estimate, check_pair, wilson
from wfalens.explanation.embeddings import nearness_of
from wfalens.models.contract import PrefixClassifier
from wfalens.robustness.certify.certificate import Certificates, certify_choices, decided_texts, nonempty_tokens
from wfalens.robustness.certify.certify_options import NETWORK, READABLE, CertifyOptions
from wfalens.robustness.certify.edits import Edits, Substitutes
from wfalens.robustness.certify.enumerated_certificates import (
    BROKEN,
    EditRobustness,
    NetworkCertificate,
    NetworkRobustness,
    certify_edits,
    certify_network,
    network_certificate,
)
from wfalens.text.character_edits import reads_characters
from wfalens.text.corpus import as_texts
from wfalens.text.word_checks import is_stop_word
from wfalens.text.word_vectors import WordVectors

_NEAREST = 5  # words that may replace a word by default


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Robustness(Certificates):
    """One certificate per text, on the automaton, and one of the network where it has read variants."""

    network: tuple[NetworkCertificate, ...] = ()
    of: str = "automaton"
    computed = ("network_kept",)

    @property
    def network_kept(self) -> dict[str, Estimate]:
        """By status, the share of texts whose class no variant that the network read has changed, where both agree."""
        pairs = [pair for pair in zip(self.certificates, self.network, strict=False) if pair[0].label == pair[1].label]
        kept = {each: [other.status != BROKEN for one, other in pairs if one.status == each] for each in self.statuses}
        return {status: wilson(sum(each), len(each)) for status, each in kept.items() if each}

    def rows(self) -> Iterator[dict[str, Any]]:
        for certificate, other in zip_longest(self.certificates, self.network):
            yield certificate.row() | ({} if other is None else {"network": other.conclusion})

    def summary(self) -> str:
        shares = [f"of the {each} texts on {kept:.3f}" for each, kept in self.network_kept.items()]
        lines = [f"no variant that the network read changed its class {', '.join(shares)}"] if shares else []
        return "\n".join([super().summary(), *lines])


def certify_texts(
    wfa: WFA,
    texts: Sequence[str],
    edits: Edits,
    *,
    model: PrefixClassifier | None = None,
    changes: int | None = None,
    effort: int = 0,
    samples: int = 200,
    seed: int = 0,
) -> Robustness:
    """Certify texts on the automaton. A model reads up to `samples` variants of each, those likely to break it first.

    changes, effort: see `certify`.
    """
    check_pair(wfa, model)
    tokens, rng = nonempty_tokens(wfa, texts), np.random.default_rng(seed)
    ids = wfa.encoder.encode_tokens(tokens)
    decided = decided_texts(wfa, ids)
    certificates, network = [], []
    for at in display.track(decided.tolist(), "certifying"):
        words, choices = tokens[at], edits.choices(ids[at])
        certificates.append(certify_choices(wfa, words, choices, changes=changes, effort=effort))
        if model is not None:
            network.append(network_certificate(wfa, model, words, choices, changes, samples + 1, rng))
    return Robustness(
        certificates=tuple(certificates),
        network=tuple(network),
        undecided=len(tokens) - len(decided),
        left_out=edits.substitutes.left_out,
    )


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
    with display.shown(progress):
        if reads_characters(wfa.encoder):
            if options.of == READABLE:
                raise InputError("texts of characters are certified on the automaton or on the network", code="subject")
            asked = model if options.of == NETWORK else None
            changes = 1 if options.changes is None else options.changes
            return certify_edits(wfa, texts, model=asked, changes=changes, budget=options.budget)
        edits = _edits_of(options, wfa, texts, neighbours, vectors)
        if options.of == NETWORK and model is not None:
            return certify_network(wfa, model, texts, edits, changes=options.changes, budget=options.budget, seed=seed)
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


def _edits_of(
    options: CertifyOptions,
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
    if options.substitutes == 0:
        substitutes = Substitutes({})
    elif neighbours is not None:
        if options.spare_stop_words:
            neighbours = {word: others for word, others in neighbours.items() if not is_stop_word(word)}
        substitutes = Substitutes.listed(wfa, neighbours, options.substitutes, of=words)
    else:
        near = nearness_of(wfa, vectors, spare_stop_words=options.spare_stop_words)
        within = None if options.max_semantic is None else near.bound(options.max_semantic)
        substitutes = Substitutes.near(wfa, near, options.substitutes or _NEAREST, of=words, within=within)
    others = options.delete or options.duplicate or options.swap or options.insert
    if not others and not any(substitutes.of_id(vocabulary.id_of(word)) for word in words):
        raise InputError(
            "no word of the texts has a substitute; widen the bound on the distance, give other vectors or lists "
            "of words, or allow other changes such as deletions",
            code="no-candidates",
        )
    for word in options.insert:
        if word not in vocabulary:
            raise InputError(f"the automaton does not know {word!r}, which may be inserted", code="unknown-word")
    inserted = tuple(vocabulary.id_of(word) for word in options.insert)
    return Edits(substitutes, delete=options.delete, duplicate=options.duplicate, swap=options.swap, insert=inserted)
