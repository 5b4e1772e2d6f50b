"""The help as a newcomer sees it in a terminal of 80 columns."""

import inspect
import re
import shlex
from importlib import import_module
from itertools import pairwise

import pytest

from tests.cli.test_commands import wfalens
from wfalens.cli.app import PHASES, load_command
from wfalens.cli.registration import flowing

COMMANDS = [name for commands in PHASES.values() for name in commands]
WIDTH = 80


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def prose(shown):
    """The paragraphs above the first panel, as lines without the margin."""
    above = shown.partition("╭")[0]
    lines = [line.strip() if not line.startswith("   ") else line[1:].rstrip() for line in above.splitlines()]
    return [part.split("\n") for part in re.split(r"\n\n+", "\n".join(lines).strip())][1:]  # without the usage


def panels(shown):
    return re.findall(r"╭─ (.+?) ─", shown)


def test_commands_are_grouped_by_phase_each_on_one_line():
    shown = wfalens("--help").stdout
    assert panels(shown) == ["Options", *PHASES]
    for phase, commands in PHASES.items():
        rows = shown.partition(f"╭─ {phase} ─")[2].partition("╰")[0].splitlines()[1:]
        told = [re.match(r"│ (\S+) +(.+?) +│$", row).groups() for row in rows]
        assert told == list(commands.items())


def test_the_phases_are_those_of_the_work():
    assert {phase: list(commands) for phase, commands in PHASES.items()} == {
        "Begin": ["demo", "train", "wrap", "extract", "data"],
        "Measure": ["evaluate", "evaluate-explanations", "predict", "walk", "sample"],
        "Understand": ["describe", "show", "phrases", "explain", "neighbours", "pairs"],
        "Look": ["report", "explore"],
        "Test and mend": ["attack", "certify", "check", "cover", "detect", "watch", "diff", "blame", "repair"],
        "Hand on": ["minimise", "export", "card", "pretrain"],
    }


@pytest.mark.parametrize("arguments", [(), *((name,) for name in COMMANDS), ("data", "list")])
def test_paragraphs_flow_and_nothing_is_wider_than_the_terminal(arguments):
    shown = wfalens(*arguments, "--help").stdout
    assert all(len(line) <= WIDTH for line in shown.splitlines())
    for paragraph in prose(shown):
        if any(line.startswith(" ") for line in paragraph):
            continue  # examples
        for line, following in pairwise(paragraph):
            assert len(line) + 1 + len(following.split()[0]) > WIDTH - 2, f"broken too early: {line}"
        assert len(paragraph) == 1 or len(paragraph[-1].split()) > 1, f"a word alone on its line: {paragraph[-1]}"


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "data"])
def test_every_command_shows_examples_on_lines_of_their_own(name):
    assert f"\n   wfalens {name}" in wfalens(name, "--help").stdout


def examples():
    for name in COMMANDS:
        own = name.replace("-", "_")
        text = flowing(inspect.getdoc(getattr(import_module(f"wfalens.cli.legacy.{own}"), f"{own}_cli")) or "")
        for line in text.replace("\\\n", "").splitlines():
            if re.match(r" +wfalens ", line):
                yield " ".join(line.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_no_example_runs_over_the_end_of_its_line(name):
    own = name.replace("-", "_")
    text = inspect.getdoc(getattr(import_module(f"wfalens.cli.legacy.{own}"), f"{own}_cli")) or ""
    assert all(len(line) <= WIDTH - 2 for line in text.splitlines() if line.startswith(" ")), text


@pytest.mark.parametrize("example", list(examples()))
def test_examples_are_commands_that_can_be_given(example):
    _, name, *arguments = shlex.split(example)
    load_command(name).make_context(name, arguments)  # refuses options that do not exist


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "data"])
def test_options_are_grouped(name):
    shown = wfalens(name, "--help").stdout
    assert "Options" in panels(shown)
    assert len(panels(shown)) > 1
    for panel in shown.split("╭─ ")[1:]:
        assert len(re.findall(r"^│ [* ] *--|^│ --", panel, re.MULTILINE)) <= 12, panel


def test_a_misspelt_command_gets_a_suggestion():
    done = wfalens("extrct")
    assert done.returncode == 2
    assert "Did you mean 'extract'" in done.stderr


def test_indented_lines_stay_and_others_flow():
    assert flowing("One\ntwo.\n\nExamples:\n  a b\n  c d\n\nThree\nfour.") == (
        "One two.\n\nExamples:\n  a b\n  c d\n\nThree four."
    )
