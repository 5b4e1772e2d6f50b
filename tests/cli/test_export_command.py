"""Exports, and deterministic automata."""

import json

from tests.commands import ok, wfalens


def test_chosen_words_are_written(workshop, tmp_path):
    (tmp_path / "words.txt").write_text("senate\nnosuchword\n")
    chosen = ("--words", f"@{tmp_path / 'words.txt'}", "--words", "the of")
    made = json.loads(ok(workshop, "export", "news.wfa", *chosen, "-o", tmp_path / "n.drn", "--json"))
    assert made["words"] == 3
    assert (tmp_path / "n.drn").exists()
    made = json.loads(ok(workshop, "export", "news.wfa", "--words", "top:5", "-o", tmp_path / "n.json", "--json"))
    assert made["words"] in (5, 6)


def test_an_unknown_format_and_states_that_are_none_are_refused(workshop, tmp_path):
    assert wfalens("export", "news.wfa", "-o", tmp_path / "n.xyz", cwd=workshop).returncode == 2
    done = wfalens("export", "news.wfa", "-o", tmp_path / "n.drn", "-C", "export.states=a", cwd=workshop)
    assert done.returncode == 2
