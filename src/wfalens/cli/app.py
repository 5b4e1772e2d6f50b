"""The command line's root: commands by phase, each imported only when it is called or its help is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from wfalens import __version__
from wfalens.cli.config import CONTEXT

PHASES = {
    "Begin": {
        "demo": "Start here: the whole way on real text, in minutes.",
        "train": "Train a recurrent classifier (LSTM, GRU or Elman).",
        "wrap": "Describe how a Keras or ONNX model reads texts.",
        "extract": "Copy a classifier into an automaton.",
    },
    "Measure": {
        "evaluate": "How faithful is the automaton to the classifier?",
        "predict": "Classify texts with the automaton alone.",
        "sample": "Draw strings from a language model or its automaton.",
    },
    "Understand": {
        "explain": "Words, phrases and texts: what drives each class?",
        "show": "Show how a network reads: what moves its opinion, word by word.",
        "report": "Write one page with all results; it works offline.",
        "serve": "The same in the browser, for any sentence you type.",
    },
    "Test and repair": {
        "attack": "Change a few words so that the classifier errs.",
        "verify": "Prove robustness, or ask a model checker.",
        "compare": "What changed between two automata?",
        "monitor": "Watch a stream, measure coverage, detect attacks.",
        "repair": "Find the training texts behind errors; fix them.",
    },
    "Use elsewhere": {
        "export": "Write it for Graphviz, OpenFst, PRISM, ONNX …",
    },
}


class StoppedError(Exception):
    """The command was stopped; typer would turn a KeyboardInterrupt into a silent exit."""


class PhasedGroup(TyperGroup):
    """Shows all commands, but imports only the one that is called."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for phase, commands in PHASES.items():
            for name, about in commands.items():
                self.add_command(TyperCommand(name, short_help=about, rich_help_panel=phase))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, known, rest = super().resolve_command(ctx, args)
        return name, None if known is None else load_command(str(name)), rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise StoppedError(*stop.args) from None


def load_command(name: str) -> Any:
    """The command, or the group of commands, that `cli/NAME_command.py` registers as `command`."""
    command = typer.main.get_command(import_module(f".{name}_command", __package__).command)
    command.name = name
    return command


def _version(value: bool) -> None:
    if value:
        typer.echo(f"wfalens {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=PhasedGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=CONTEXT,
    help="See what a sequence classifier has learned: copy it into a weighted finite automaton, measure how faithful "
    "the copy is, and let the copy explain and test the original.\n\nStart with: wfalens demo",
    epilog="Exit codes: 0 done, 1 a failure that you asked about (such as --min-cr), 2 bad usage or input, "
    "70 a defect of wfalens, 130 stopped. `wfalens COMMAND --help` shows the options of a command, with examples.",
)


@app.callback()
def _options(
    debug: Annotated[  # `main` reads it, before the command line is parsed
        bool, typer.Option("--debug", metavar="", help="Show where an error comes from (must come first).")
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options before the command."""
