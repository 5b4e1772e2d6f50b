"""`wfalens pairs`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, check_plot, write_html, write_plot
from wfalens.cli.legacy.inputs import open_vectors
from wfalens.cli.legacy.output import print_json, print_table, say
from wfalens.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from wfalens.automaton import WFA
    from wfalens.explanation import Pairs
    from wfalens.text.word_vectors import WordVectors

USUAL_BOUNDS = {"adversarial": ("q0.001", "q0.5"), "collaborative": ("q0.01", "q0.5")}


@dataclass(frozen=True)
class Contrasted:
    """Pairs of words, and what they were found in."""

    wfa: WFA
    vectors: WordVectors
    pairs: Pairs


def pairs_cli(
    automaton: opt.Automaton,
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="adversarial (like words, treated differently) or collaborative (unlike words, treated alike).",
        ),
    ] = "adversarial",
    vectors: opt.Vectors = "wordllama",
    epsilon: Annotated[
        str | None,
        typer.Option(
            metavar="BOUND",
            help="Upper bound (d_S of adversarial, d_T of collaborative pairs): a number, or a quantile such as q0.01.",
        ),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(
            metavar="BOUND",
            help="Lower bound (d_T of adversarial, d_S of collaborative pairs): a number, or a quantile such as q0.9.",
        ),
    ] = None,
    per_class: Annotated[
        int, typer.Option("--top", "-k", metavar="N", min=1, help="Pairs per class of the first word.")
    ] = 10,
    convention: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How meanings are compared: cosine, or the paper's mean_square or norm (divided by the elements).",
        ),
    ] = "cosine",
    min_count: opt.MinCount = 5,
    html: opt.Html = None,
    plot: opt.Plot = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Contrast what words do to the model (distance d_T) with what they mean (d_S).

    d_S is 1 − cosine of the word vectors; numbers, rests of words and stop words are left out, and adversarial pairs
    are near in meaning (see `wfalens neighbours`). Bounds default to quantiles of the distances over random pairs:
    adversarial d_S ≤ q0.001, d_T ≥ q0.5; collaborative d_T ≤ q0.01, d_S ≥ q0.5. --plot draws the words of the strongest
    influence in both spaces (t-SNE).

    Example:
      wfalens pairs films.wfa --kind adversarial
    """
    check_plot(plot)
    check_outputs(html, plot, force=force)
    done = pairs(
        automaton,
        kind,
        vectors,
        epsilon,
        delta,
        per_class=per_class,
        convention=convention,
        min_count=min_count,
    )
    write_html(html, f"{automaton.name}: {kind} pairs", done.pairs.to_html())
    write_plot(plot, lambda: _map(done, min_count))
    if as_json:
        print_json(done.pairs.to_dict())
    else:
        _print(kind, done.pairs)


def pairs(
    automaton: Path,
    kind: str = "adversarial",
    vectors: str = "wordllama",
    epsilon: str | None = None,
    delta: str | None = None,
    **options: Any,
) -> Contrasted:
    """Pairs of a kind; `options` are further ones of `adversarial_pairs` and `collaborative_pairs`."""
    from wfalens.automaton import WFA
    from wfalens.explanation import adversarial_pairs, collaborative_pairs

    if kind not in USUAL_BOUNDS:
        raise InputError(f"unknown kind {kind!r}; choose one of {', '.join(USUAL_BOUNDS)}")
    wfa = WFA.load(automaton)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    find = adversarial_pairs if kind == "adversarial" else collaborative_pairs
    least, most = USUAL_BOUNDS[kind]
    return Contrasted(wfa, known, find(wfa, known, epsilon or least, delta or most, **options))


def _map(done: Contrasted, min_count: int) -> Figure:
    from wfalens.explanation import word_maps
    from wfalens.report import plots

    return plots.word_maps(word_maps(done.wfa, done.vectors, min_count=min_count))


def _print(kind: str, found: Pairs) -> None:
    title = (
        f"{found.total:,} {kind} pairs among {found.words:,} words, meanings by {found.vectors} "
        f"(ε = {found.epsilon:.4g}, δ = {found.delta:.4g})"
    )
    rows = [
        [
            str(row["first"]),
            str(row["second"]),
            f"{row['d_T']:.4f}",
            f"{row['d_S']:.4f}",
            f"{row['first class']} {row['first influence']:+.2f}",
            f"{row['second class']} {row['second influence']:+.2f}",
        ]
        for row in found.to_dataframe().to_dict("records")
    ]
    print_table(title, ["first", "second", "d_T", "d_S", "first moves to", "second moves to"], rows)
    for name, curve in found.quantiles.items():
        told = ", ".join(f"{at:.1%}: {value:.4g}" for at, value in curve.items())
        say(f"{name} over random pairs – {told}")
    if found.total == 0:
        say("no pair is within these bounds; widen them, for example to a quantile such as q0.1")
