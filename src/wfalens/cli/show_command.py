"""`wfalens show`: how a network reads, as a picture or tables; without the network, its readable automaton."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import open_model, open_texts, open_wfa
from wfalens.cli.library import explanation, export
from wfalens.cli.output import check_outputs, print_answer, print_result
from wfalens.validation import Options, option

if TYPE_CHECKING:
    from wfalens.export import Canvas
    from wfalens.results import Result

Drawing = Annotated[Path | None, opt.value("--out -o", "FILE", "Draw it: .svg, .pdf or .png.", show_default="tables")]
command = new_group()


@dataclass(frozen=True)
class ShowSettings(Options):
    """[show]: what is drawn."""

    edges: int = option(16, "Arrows of a readable automaton at most.", opt.COUNT)
    queries: int = option(4000, "Calls at most of a model that pays for each.", opt.COUNT)
    talk: bool = option(False, "Draw it as a slide of 16:9.")


@register(command, "show", ("show.talk",), show=ShowSettings)
def show(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.SomeModel = None,
    corpus: opt.SomeCorpus = None,
    class_name: opt.ClassName = None,
    out: Drawing = None,
    force: opt.Force = False,
) -> None:
    """Show how a network reads: how its opinion moves word by word, and which words push it.

    Every figure is measured on the network (--model) over the texts (--corpus, by default the test texts of the data
    set that it was extracted from). Of more than ten classes those with most texts are shown; --class names another.

    Without --model it shows the readable automaton that the file holds: its states and transitions.

    Examples:
      wfalens show films.wfa -m films.rnn
      wfalens show films.wfa -m films.rnn -c rotten_tomatoes -o films.svg
      wfalens show films.wfa -o states.svg
    """
    check_outputs(out, force=force)
    wfa, how = open_wfa(automaton, settings), settings.show
    if model is None:
        diagram = export.diagram_of(wfa, edges=how.edges)
        _printed(diagram, None if out is None else diagram.draw(), out, settings.as_json)
        return
    classifier, texts = open_model(model, wfa, settings.texts), open_texts(wfa, corpus, settings)
    classes = None if class_name is None else [class_name]
    found = explanation.opinion_lines(classifier, texts, classes, queries=how.queries, seed=settings.seed)
    drawn = None
    if out is not None:
        claims = explanation.findings(wfa, classifier, texts, seed=settings.seed).to_dict()["findings"]
        drawn = export.draw_opinions(found, claims, talk=how.talk)
    _printed(found, drawn, out, settings.as_json)


def _printed(found: Result, drawn: Canvas | None, out: Path | None, as_json: bool) -> None:
    """What was found as tables, or a drawing of it in a file."""
    if drawn is None or out is None:
        print_result(found, as_json)
        return
    drawn.write(out)
    print_answer({"file": str(out), **found.to_dict()}, f"{found.summary()}\nwrote {out}", as_json)
