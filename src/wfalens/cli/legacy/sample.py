"""`wfalens sample`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.output import print_json, print_table
from wfalens.errors import InputError


@dataclass(frozen=True)
class SampledString:
    """A string, the logarithm of its probability, and whether it ended by itself: if not, it was cut."""

    text: str
    log_probability: float | None
    ended: bool = True


def sample_cli(
    source: Annotated[str, opt.argument("FILE", "An automaton (.wfa) of a language model, or the model itself.")],
    number: Annotated[int, typer.Option("--number", "-n", metavar="N", min=1, help="How many strings.")] = 20,
    likeliest: Annotated[
        bool, opt.flag("--most-likely", help="Not at random: the most likely strings, by an exact search.")
    ] = False,
    longest: Annotated[
        int, typer.Option(metavar="N", min=1, help="Cut strings that have not ended after so many symbols.")
    ] = 200,
    most: Annotated[
        int,
        typer.Option("--most-prefixes", metavar="N", min=1, help="With --most-likely: open so many prefixes at most."),
    ] = 100_000,
    seed: opt.Seed = 0,
    as_json: opt.Json = False,
) -> None:
    """Draw strings from a language model or its automaton, with their probabilities.

    A language model is one of `wfalens train --task next`, or any model whose classes are its words and <end>.

    Examples:
      wfalens sample names.wfa --number 20
      wfalens sample names.rnn --most-likely -n 10 --json
    """
    found = sample(source, number, likeliest=likeliest, longest=longest, most=most, seed=seed)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    rows = [[_shown(each), _score(each.log_probability)] for each in found]
    how = "most likely strings" if likeliest else "strings drawn at random"
    print_table(f"{Path(source).name}: {len(found)} {how}", ["string", "ln P"], rows)


def _shown(drawn: SampledString) -> str:
    return (drawn.text or "(the empty string)") + ("" if drawn.ended else " …")


def _score(log_probability: float | None) -> str:
    return "" if log_probability is None else f"{log_probability:.2f}"


def sample(
    source: str, number: int, *, likeliest: bool = False, longest: int = 200, most: int = 100_000, seed: int = 0
) -> list[SampledString]:
    """Strings of an automaton or of a language model; one that was cut has no probability of its own."""
    from wfalens import language as strings

    model = _opened(source)
    if likeliest:
        best = strings.most_likely(model, number, most=most, longest=longest)
        return [SampledString(each.text, each.log_probability) for each in best]
    drawn = strings.sample(model, number, seed=seed, longest=longest)
    scores = strings.log_probability(model, drawn.ids)
    return [
        SampledString(text, float(score) if ended else None, bool(ended))
        for text, score, ended in zip(drawn.texts, scores, drawn.ended, strict=True)
    ]


def _opened(source: str) -> Any:  # strings refuses what is no language model
    from wfalens.automaton import WFA
    from wfalens.models.adapters.transformer import reads_texts
    from wfalens.models.wrapping import wrap

    if reads_texts(source):
        raise InputError(f"{source} reads texts of any words; draw from its automaton instead")
    return WFA.load(source) if Path(source).suffix.lower() == ".wfa" else wrap(source)
