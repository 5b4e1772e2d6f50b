"""The command line's root: commands by phase, each imported only when it is called or its help is asked for."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from wfalens.cli.legacy.stopping import Stopped

PHASES = {
    "Begin": {
        "demo": "Start here: the whole way on real text, in minutes.",
        "train": "Train a recurrent classifier (LSTM, GRU or Elman).",
        "wrap": "Say how a Keras or ONNX model reads texts.",
        "extract": "Copy a classifier into an automaton.",
        "data": "List the data sets that are known by name.",
    },
    "Measure": {
        "evaluate": "How faithful is the automaton to the classifier?",
        "evaluate-explanations": "How faithful are explanations of texts to it?",
        "predict": "Classify texts with the automaton alone.",
        "walk": "Read one text word by word.",
        "sample": "Draw strings from a language model or its automaton.",
    },
    "Understand": {
        "describe": "What does a readable automaton do? In sentences.",
        "show": "Draw a readable automaton, or print its moves.",
        "phrases": "Which words and phrases decide by themselves?",
        "explain": "Which words drive each class, or the class of a text?",
        "neighbours": "Words that act alike, and words that mean the same.",
        "pairs": "Like words that act differently, or the reverse.",
    },
    "Look": {
        "report": "Write one page that shows it all and works offline.",
        "explore": "The same in the browser, for any sentence you type.",
    },
    "Test and mend": {
        "attack": "Change a few words so that the classifier errs.",
        "certify": "Prove that no substitution changes a text's class.",
        "check": "Ask Storm, a model checker, what words can do.",
        "cover": "What does a test set exercise, and what is missing?",
        "detect": "Train and test a detector of attacked texts.",
        "watch": "Watch a stream of texts: surprise, alarms, drift.",
        "diff": "What changed between two automata?",
        "blame": "Which training texts taught an error?",
        "repair": "Mend the training set and train on.",
    },
    "Hand on": {
        "minimise": "Make a minimal deterministic machine of it.",
        "export": "Write it for Graphviz, OpenFst, PRISM, ONNX …",
        "card": "Model, data, fidelity, groups, artefacts: one page.",
        "pretrain": "Train again from what the automaton knows.",
    },
}
_CONTEXT = {"help_option_names": ["-h", "--help"]}


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
            raise Stopped(*stop.args) from None


def load_command(name: str) -> Any:
    """The command of `wfalens.cli.legacy.NAME`: the function NAME_cli, or a group of commands of that name."""
    own = name.replace("-", "_")
    found = getattr(import_module(f"wfalens.cli.legacy.{own}"), f"{own}_cli")
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, context_settings=_CONTEXT)
        alone.command(name, help=flowing(inspect.getdoc(found) or ""))(found)
        found = alone
    command = typer.main.get_command(found)
    command.name = name
    names = [parameter.name for parameter in command.params]
    if {"automaton", "before", "source"} & set(names) and "tokenizer" not in names:
        from wfalens.cli.legacy.reading import own_tokenizer_option

        command.params.append(own_tokenizer_option())
    return command


def flowing(text: str) -> str:
    """Help whose paragraphs flow with the width of the terminal; the indented lines of examples stay as they are."""
    paragraphs = [
        part if any(line.startswith(" ") for line in part.split("\n")) else " ".join(part.split("\n"))
        for part in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def _version(wanted: bool) -> None:
    if wanted:
        from wfalens import __version__

        typer.echo(f"wfalens {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=PhasedGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=_CONTEXT,
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
