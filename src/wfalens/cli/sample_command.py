"""`wfalens sample`: strings of a language model or its automaton."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_model, open_wfa
from wfalens.cli.library import language
from wfalens.cli.output import print_json, print_rows
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, whole

command = new_group()


@dataclass(frozen=True)
class SampleSettings(Options):
    """[sample]: how many strings, and where strings and searches end.

    Args:
        number: How many strings.
        most_likely: Not at random: the most likely strings, by an exact search.
        longest: Cut strings that have not ended after so many symbols.
        max_prefixes: With --most-likely: prefixes opened at most.
    """

    number: int = option(20, allowed=opt.COUNT)
    most_likely: bool = option(False)
    longest: int = option(200, allowed=Bounds(whole, 1, 10**7))
    max_prefixes: int = option(100_000, allowed=Bounds(whole, 1, 10**7))


@register(command, "sample", ("sample.number -n", "sample.most_likely"), sample=SampleSettings)
def sample(
    settings: Settings,
    source: Annotated[str, opt.argument("FILE", "An automaton (.wfa) of a language model, or the model itself.")],
) -> None:
    """Draw strings from a language model or its automaton, with their probabilities.

    A language model is one of `wfalens train --task next`, or any model whose classes are its words and <end>.

    Examples:
      wfalens sample names.wfa --number 20
      wfalens sample names.rnn --most-likely -n 10 --json
    """
    if source.startswith("hf:"):
        raise InputError(f"{source} reads texts of any words; draw from its automaton instead", code="no-alphabet")
    is_automaton, how = Path(source).suffix.lower() == ".wfa", settings.sample
    model = open_wfa(Path(source), settings) if is_automaton else open_model(source)
    rows: list[dict[str, Any]]
    if how.most_likely:
        best = language.most_likely(model, how.number, most=how.max_prefixes, longest=how.longest)
        rows = [{"text": each.text, "log_probability": each.log_probability, "ended": True} for each in best]
    else:
        drawn = language.sample(model, how.number, seed=settings.seed, longest=how.longest)
        scores = language.log_probability(model, drawn.ids).tolist()
        rows = [
            {"text": text, "log_probability": score if ended else None, "ended": ended}
            for text, score, ended in zip(drawn.texts, scores, drawn.ended.tolist(), strict=True)
        ]
    if settings.as_json:
        print_json(rows)
        return
    for row in rows:
        row["string"] = (row["text"] or "(the empty string)") + ("" if row["ended"] else " …")
    kind = "most likely strings" if how.most_likely else "strings drawn at random"
    shown = [{"string": row["string"], "ln P": row["log_probability"]} for row in rows]
    print_rows(f"{Path(source).name}: {len(rows)} {kind}", shown)
