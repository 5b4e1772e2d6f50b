"""The help as a newcomer sees it, and the shape of the command line."""

import re
import shlex

import pytest

from tests.commands import wfalens
from wfalens.cli.app import PHASES, load_command
from wfalens.cli.config import SECTIONS, flowing

COMMANDS = [name for commands in PHASES.values() for name in commands]


def leaves(command, path):
    """All commands below, each with its words."""
    if hasattr(command, "commands"):
        return [leaf for name, each in command.commands.items() for leaf in leaves(each, [*path, name])]
    return [(path, command)]


ALL = [leaf for name in COMMANDS for leaf in leaves(load_command(name), [name])]


def parsed(line):
    """Parse a command line without running it; refuses options that do not exist."""
    name, *arguments = shlex.split(line)[1:]
    command = load_command(name)
    while hasattr(command, "commands"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    return None if "--help" in arguments else command.make_context(name, arguments)


def test_there_are_seventeen_commands_with_few_parameters():
    counts = {" ".join(path): sum(each.name != "help" for each in command.params) for path, command in ALL}
    assert len(COMMANDS) == 17
    assert sum(counts.values()) <= 230
    assert counts["extract"] <= 22


def test_every_command_takes_config_and_json():
    for path, command in ALL:
        names = {option for each in command.params for option in each.opts}
        assert {"--config", "--json"} <= names, path


@pytest.mark.parametrize(("path", "command"), ALL, ids=lambda value: "-".join(value) if isinstance(value, list) else "")
def test_help_shows_examples_that_can_be_given(path, command):
    lines = flowing(command.help).replace("\\\n", " ").splitlines()
    examples = [" ".join(line.split()) for line in lines if line.strip().startswith("wfalens ")]
    assert any(example.startswith(f"wfalens {' '.join(path)}") for example in examples)
    for example in examples:
        parsed(example)


def test_sections_are_known_to_all_commands():
    lines = [line for _, command in ALL for line in command.epilog.split("\n\n")[1:]]
    used = {found[1] for found in (re.match(r"(\w+)\.\w+:", line) for line in lines) if found}
    assert used | {"predict"} == set(SECTIONS)  # whose settings are options, all of them


def test_a_misspelt_command_gets_a_suggestion():
    done = wfalens("extrct")
    assert done.returncode == 2
    assert "extract" in done.stderr


def test_indented_lines_stay_and_others_flow():
    assert flowing("One\ntwo.\n\nExamples:\n  a b\n  c d\n\nThree\nfour.") == (
        "One two.\n\nExamples:\n  a b\n  c d\n\nThree four."
    )
