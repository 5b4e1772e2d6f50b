"""Influential words, word maps and contrastive pairs."""

from __future__ import annotations

import numpy as np
from benchmarks.paper import paper
from benchmarks.paper.experiment import Step
from benchmarks.paper.paper import printed
from benchmarks.paper.section import Claim, Grid, Picture, Results, Section, Shown, own, share_claim

from wfalens.explanation import Influence, WordMaps
from wfalens.explanation.embeddings import TRANSITION_SPACE
from wfalens.report import plots

_AUTOMATA = ("paper's", "probed")
_MAPS = Step.of("maps")
_KINDS = ("collaborative", "adversarial")
_INDICATES = 0.03  # influence from which a word indicates a class


def _words_step(automaton: str) -> Step:
    return Step.of("words", automaton=automaton)


def _words(results: Results) -> Shown:
    grids, pictures = [], []
    theirs = printed(results.dataset).top_words
    for automaton in _AUTOMATA:
        first = results.of(_words_step(automaton))[0]
        rows = []
        for name, top in first["top"].items():
            listed = theirs.get(name, ())
            shared = [word for word in top if word in listed]
            rows.append([name, ", ".join(top), ", ".join(listed), str(len(shared)) if listed else ""])
        columns = ["class", "ours (first seed)", "paper", "in both"]
        grids.append(Grid(f"Top-10 influential words, {automaton} automaton", columns, rows))
        if first["four"]:
            scores = Influence(
                tuple(first["four"]),
                np.zeros(len(first["four"]), np.int64),
                np.array(list(first["four"].values())),
                tuple(first["class_names"]),
                first["unit"],
            )
            caption = f"Influence of the paper's four words, {automaton} automaton, {results.dataset}"
            name = f"words-{'paper' if automaton != 'probed' else 'probed'}-{results.dataset}"
            pictures.append(Picture(name, caption, plots.influence_bars(scores, list(first["four"]))))
    return Shown(grids, pictures, _word_claims(results))


def _word_claims(results: Results) -> list[Claim]:
    found = results.of(_words_step("paper's"))
    names = found[0]["class_names"]
    claims = []
    for word, classes in paper.FOUR_WORDS.items():
        everywhere = all(known in item["four"] for item in found for known in paper.FOUR_WORDS)
        if not everywhere or any(name not in names for each in paper.FOUR_WORDS.values() for name in each):
            continue  # the paper speaks of its news classes
        scores = np.array([item["four"][word] for item in found])  # (seeds, classes)
        moved = ", ".join(
            f"{name} {value:+.2f}" for name, value in zip(names, scores.mean(0), strict=True) if abs(value) > _INDICATES
        )
        evidence = moved or f"no class moves by {_INDICATES:g}"
        if classes:
            wanted = {names.index(name) for name in classes}
            held = [
                set(np.argsort(-row)[: len(wanted)]) == wanted and min(row[at] for at in wanted) > _INDICATES
                for row in scores
            ]
            claims.append(share_claim(f"{word} indicates {' and '.join(classes)}", held, evidence))
        else:
            others = [other for other in paper.FOUR_WORDS if other != word]
            held = [all(item["strength"][word] < item["strength"][other] for other in others) for item in found]
            claims.append(share_claim(f"{word} moves no class much: less than the other three words", held, evidence))
    return claims


def _maps(results: Results) -> Shown:
    found = results.of(_MAPS)
    first = found[0]
    other = next(space for space in first["purity"] if space != TRANSITION_SPACE)
    picture = plots.word_maps(
        WordMaps(
            tuple(first["words"]),
            np.array(first["classes"]),
            tuple(first["class_names"]),
            {space: np.array(points, np.float32) for space, points in first["places"].items()},
            first["purity"],
        )
    )
    rows = [[space, f"{np.mean([item['purity'][space] for item in found]):.3f}"] for space in first["purity"]]
    held = [item["purity"][TRANSITION_SPACE] > item["purity"][other] for item in found]
    # the classes are the automaton's own, which favours its space; the paper only says that the two differ
    evidence = " and ".join(" ".join(row) for row in rows)
    claims = own(
        [share_claim("words of a class lie closer together by what they do than by what they mean", held, evidence)]
    )
    columns = ["space", "nearest ten of the same class"]
    caption = f"t-SNE of the 50 strongest words of each class on {results.dataset} (first seed)"
    return Shown(
        [Grid("How pure the neighbourhoods are", columns, rows)],
        [Picture(f"maps-{results.dataset}", caption, picture)],
        claims,
    )


def _pairs_steps(dataset: str) -> list[Step]:
    steps = [Step.of("pairs", kind=kind) for kind in _KINDS]
    return [*steps, Step.of("sentences")] if printed(dataset).pairs else steps


def _pairs(results: Results) -> Shown:
    grids, claims = [], []
    for kind in _KINDS:
        found = results.of(Step.of("pairs", kind=kind))
        first = found[0]
        rows = []
        for name, pairs in first["by_class"].items():
            ours = "; ".join(f"{a} – {b} ({d_t:.3f}, {d_s:.2f})" for a, b, d_t, d_s in pairs)
            named = first["named"].get(name)
            theirs = (
                f"{named['first']} – {named['second']} ({named['d_t']:.4f}, {named['d_s']:.2f})"
                + (" within" if named["held"] else " not within")
                if named
                else ""
            )
            rows.append([name, ours, theirs])
        epsilon, delta = paper.COLLABORATIVE if kind == "collaborative" else paper.ADVERSARIAL
        title = f"{kind.capitalize()} pairs (d_T, d_S), ε = {epsilon:g}, δ = {delta:g}: {first['total']:,} in all"
        grids.append(Grid(title, ["class", "ours (first seed)", "paper's pair, measured here"], rows))
        filled = [[bool(pairs) for pairs in item["by_class"].values()] for item in found]
        evidence = f"{np.mean([sum(classes) for classes in filled]):.1f} of {len(first['by_class'])} classes"
        claims.append(share_claim(f"there are {kind} pairs for every class", [all(each) for each in filled], evidence))
        if first["named"]:
            shares = [np.mean([pair["held"] for pair in item["named"].values()]) for item in found]
            claims.append(
                share_claim(
                    f"the paper's {kind} pairs are mostly within its bounds here too",
                    [bool(share > 0.5) for share in shares],
                    f"{np.mean(shares):.0%} of those whose words are known",
                )
            )
    if printed(results.dataset).pairs:
        said = results.of(Step.of("sentences"))
        texts = [key for key in said[0] if key != "took"]
        change = np.array([[item[text]["sport"] for text in texts] for item in said])  # (seeds, before and after)
        rows = [[text, *(f"{item[text]['sport']:.3f}" for item in said)] for text in texts]
        columns = ["text", *(f"P(sport), seed {seed + 1}" for seed in range(len(said)))]
        grids.append(Grid("The paper's two sentences through our LSTMs (paper: sport rises to .927)", columns, rows))
        claims.append(
            share_claim(
                "putting “sports” for “exercise” makes it sport",
                [bool(after > max(before, 0.5)) for before, after in change],
                "from {:.2f} to {:.2f}".format(*change.mean(0)),
            )
        )
    return Shown(grids, claims=claims)


WORD_SECTIONS = [
    Section(
        "words",
        "Influential words",
        "The words that move the output most towards each class, and four words in detail (paper, table on influence).",
        lambda _dataset: [_words_step(automaton) for automaton in _AUTOMATA],
        _words,
    ),
    Section(
        "maps",
        "Word maps",
        "The strongest words placed by their transition matrices and by their vectors (paper, t-SNE figure).",
        lambda _dataset: [_MAPS],
        _maps,
    ),
    Section(
        "pairs",
        "Contrastive pairs",
        "Collaborative pairs act alike and mean different things; adversarial pairs mean the same and act differently.",
        _pairs_steps,
        _pairs,
    ),
]
