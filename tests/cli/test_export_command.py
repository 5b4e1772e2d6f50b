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


def test_a_module_is_written_within_its_size(workshop, tmp_path):
    size = ("-C", "export.bits=8", "-C", "export.max_bytes=60k")
    made = json.loads(ok(workshop, "export", "news.wfa", *size, "-o", tmp_path / "n.js", "--json"))
    assert made["files"] == [{"file": str(tmp_path / "n.js"), "bytes": (tmp_path / "n.js").stat().st_size}]
    assert made["files"][0]["bytes"] <= 60_000
    assert "the same class as the automaton" in made["remark"]
    ok(workshop, "export", "news.wfa", "-o", tmp_path / "n.c")
    assert (tmp_path / "n.h").exists()
    refused = wfalens("export", "news.wfa", "-o", tmp_path / "m.js", "-C", "export.bits=9", cwd=workshop)
    assert refused.returncode == 2


def test_a_minimal_deterministic_automaton_is_written_and_compared(workshop, tmp_path):
    learn = ("export", "readable.wfa", "--format", "dfa", "-C", "dfa.samples=50")
    found = json.loads(ok(workshop, *learn, "-o", tmp_path / "a.json", "--json"))
    assert found["states"] >= 2
    ok(workshop, *learn, "--words", "good bad", "-o", tmp_path / "b.json")
    assert json.loads(ok(tmp_path, "compare", "a.json", "a.json", "--json"))["equal"] is True
    assert wfalens("compare", "a.json", "b.json", cwd=tmp_path).returncode in (1, 2)
