"""`wfalens sample`: strings of a language model or its automaton."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import open_model, open_wfa
from wfalens.cli.library import language
from wfalens.cli.output import print_json, print_rows
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

command = new_group()


@dataclass(frozen=True)
class SampleSettings(Options):
    """[sample]: where strings and searches end."""

    longest: int = option(200, "Cut strings that have not ended after so many symbols.", Bounds(whole, 1, 10**7))
    max_prefixes: int = option(100_000, "With --most-likely: prefixes opened at most.", Bounds(whole, 1, 10**7))


@register(command, "sample", lambda: {"texts": Reading, "sample": SampleSettings})
def sample(
    source: Annotated[str, opt.argument("FILE", "An automaton (.wfa) of a language model, or the model itself.")],
    number: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, help="How many strings.")] = 20,
    most_likely: Annotated[
        bool, opt.flag("--most-likely", help="Not at random: the most likely strings, by an exact search.")
    ] = False,
    seed: opt.Seed = None,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Draw strings from a language model or its automaton, with their probabilities.

    A language model is one of `wfalens train --task next`, or any model whose classes are its words and <end>.

    Examples:
      wfalens sample names.wfa --number 20
      wfalens sample names.rnn --most-likely -n 10 --json
    """
    settings, model = config.sample, _opened(source, config.texts)
    rows: list[dict[str, Any]]
    if most_likely:
        best = language.most_likely(model, number, most=settings.max_prefixes, longest=settings.longest)
        rows = [{"text": each.text, "log_probability": each.log_probability, "ended": True} for each in best]
    else:
        drawn = language.sample(
            model, number, seed=config.common.seed if seed is None else seed, longest=settings.longest
        )
        scores = language.log_probability(model, drawn.ids).tolist()
        rows = [
            {"text": text, "log_probability": score if ended else None, "ended": ended}
            for text, score, ended in zip(drawn.texts, scores, drawn.ended.tolist(), strict=True)
        ]
    if as_json:
        print_json(rows)
        return
    shown = [
        {
            "string": (row["text"] or "(the empty string)") + ("" if row["ended"] else " …"),
            "ln P": row["log_probability"],
        }
        for row in rows
    ]
    kind = "most likely strings" if most_likely else "strings drawn at random"
    print_rows(f"{Path(source).name}: {len(rows)} {kind}", shown)


def _opened(source: str, reading: Reading) -> Any:
    if source.startswith("hf:"):
        raise InputError(f"{source} reads texts of any words; draw from its automaton instead", code="no-alphabet")
    return open_wfa(Path(source), reading) if Path(source).suffix.lower() == ".wfa" else open_model(source)
