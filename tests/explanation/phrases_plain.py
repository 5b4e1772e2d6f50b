"""Phrases by plain loops: what the compiled and vectorised code must find."""

from __future__ import annotations

from itertools import combinations, pairwise

GAP = -1


def places(words, gap):
    """All phrases of up to four words in one text, as keys."""
    found = set()
    for start in range(len(words)):
        for length in range(1, 5):
            for at in combinations(range(start, min(len(words), start + length + gap)), length):
                if at[0] == start and _one_gap(at, gap):
                    found.add(_key(words, at))
    return found


def contains(words, key, gap):
    """Whether a text has a phrase, given as words with None (or GAP) for the gap."""
    key = tuple(GAP if word is None else word for word in key)
    words = list(words)
    if GAP not in key:
        return any(tuple(words[at : at + len(key)]) == key for at in range(len(words)))
    cut = key.index(GAP)
    first, second = key[:cut], key[cut + 1 :]
    return any(
        tuple(words[at : at + cut]) == first
        and any(tuple(words[at + cut + size :][: len(second)]) == second for size in range(1, gap + 1))
        for at in range(len(words))
    )


def _one_gap(at, gap):
    jumps = [after - before - 1 for before, after in pairwise(at)]
    return sum(jump > 0 for jump in jumps) <= 1 and max(jumps, default=0) <= gap


def _key(words, at):
    key = [words[at[0]]]
    for before, after in pairwise(at):
        key += [GAP] * (after > before + 1) + [words[after]]
    return tuple(key)
