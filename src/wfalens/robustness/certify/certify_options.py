"""Options of certificates; importing them loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass

from wfalens.validation import Bounds, Options, option, whole

SUBJECTS = AUTOMATON, READABLE, NETWORK = ("automaton", "readable", "network")
BUDGET = 20_000
CHANGES = Bounds(whole, 0, 10**6, (None,))


@dataclass(frozen=True, kw_only=True)
class CertifyOptions(Options):
    """Whose class is proven, which changes an adversary may make, and how much work a proof may take."""

    of: str = option(AUTOMATON, "Whose class is proven: automaton, its readable automaton, or the network.", SUBJECTS)
    substitutes: int | None = option(
        None, "Words that may replace a word (5 near words; all of a list); 0: none.", Bounds(whole, 0, 10**6, (None,))
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
    samples: int = option(
        200,
        "Variants of each text that the network may read beside a certificate of the automaton.",
        Bounds(whole, 0, 10**9),
    )
