"""`wfalens pairs`."""

from __future__ import annotations

from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    AutomatonArgument,
    HtmlOption,
    JsonOption,
    MinCountOption,
    PlotOption,
    TerminalProgress,
    VectorsOption,
    check_files,
    open_vectors,
    print_json,
    print_table,
    say,
    write_html,
    write_plot,
)
from wfalens.errors import InputError

_KINDS = ("adversarial", "collaborative")


@app.command()
def pairs(
    automaton: AutomatonArgument,
    kind: Annotated[
        str,
        typer.Option(
            help="adversarial (like words, treated differently) or collaborative (unlike words, treated alike)."
        ),
    ] = "adversarial",
    vectors: VectorsOption = "wordllama",
    epsilon: Annotated[
        str | None,
        typer.Option(help="Upper bound (d_S of adversarial, d_T of collaborative pairs): a number, or q0.01."),
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option(help="Lower bound (d_T of adversarial, d_S of collaborative pairs): a number, or q0.9."),
    ] = None,
    per_class: Annotated[int, typer.Option("--top", "-k", min=1, help="Pairs per class of the first word.")] = 10,
    convention: Annotated[
        str, typer.Option(help="mean_square, or norm: the Euclidean norm divided by the number of elements.")
    ] = "mean_square",
    min_count: MinCountOption = 5,
    html: HtmlOption = None,
    plot: PlotOption = None,
    as_json: JsonOption = False,
) -> None:
    """Contrast what words do to the model (d_T) with what they mean (d_S, by word vectors).

    Thresholds default to quantiles of the distances over random pairs, because the scale of vectors differs:
    adversarial d_S ≤ q0.001, d_T ≥ q0.5; collaborative d_T ≤ q0.01, d_S ≥ q0.5. --plot draws the words of the strongest
    influence in both spaces (t-SNE).

    Example: wfalens pairs films.wfa --kind adversarial
    """
    if kind not in _KINDS:
        raise InputError(f"unknown kind {kind!r}; choose one of {', '.join(_KINDS)}")
    check_files(html, plot)
    from wfalens import plots
    from wfalens.automaton import WFA
    from wfalens.explanation import adversarial_pairs, collaborative_pairs, word_maps

    wfa = WFA.load(automaton)
    known = open_vectors(vectors, wfa.encoder.vocabulary.words[2:])
    find, bounds = (
        (adversarial_pairs, ("q0.001", "q0.5")) if kind == "adversarial" else (collaborative_pairs, ("q0.01", "q0.5"))
    )
    found = find(
        wfa,
        known,
        epsilon or bounds[0],
        delta or bounds[1],
        per_class=per_class,
        convention=convention,
        min_count=min_count,
        progress=TerminalProgress(),
    )
    write_html(html, f"{automaton.name}: {kind} pairs", found.to_html())
    write_plot(plot, lambda: plots.word_maps(word_maps(wfa, known, min_count=min_count)))
    if as_json:
        print_json(found.to_json())
        return
    title = f"{found.total:,} {kind} pairs among {found.words:,} words (ε = {found.epsilon:.4g}, δ = {found.delta:.4g})"
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
