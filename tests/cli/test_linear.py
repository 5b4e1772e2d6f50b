"""Every command on a linear automaton, end to end."""

import json
import shutil

import pytest

from tests.cli.test_commands import wfalens
from tests.extraction.test_distillation import Stops
from wfalens.automaton import WFA, LinearWFA
from wfalens.cli.output import note
from wfalens.text.datasets import newsroom

EXTRACT = ("extract", "n.rnn", "-c", "newsroom", "--kind", "linear", "-k", "20", "--epochs", "3")


@pytest.fixture(scope="module")
def folder(copy_once, small_network):
    return copy_once("linear", lambda folder: fill(folder, small_network))


def fill(folder, small_network):
    shutil.copy(small_network / "news.rnn", folder / "n.rnn")
    done = wfalens(*EXTRACT, "-o", "n.wfa", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "wrote n.wfa" in done.stdout
    vectors = newsroom.vectors()
    lines = [
        f"{word} {' '.join(f'{x:.5f}' for x in row)}" for word, row in zip(vectors.words, vectors.matrix, strict=True)
    ]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n")


def run(folder, *arguments):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_extraction_writes_a_linear_automaton_and_leaves_no_training_behind(folder):
    wfa = WFA.load(folder / "n.wfa")
    assert isinstance(wfa, LinearWFA)
    assert wfa.states == 21
    assert not (folder / "n.wfa.training").exists()


class ToldStops(Stops):
    def say(self, message):
        note(message)


def test_a_stopped_extraction_goes_on_with_the_same_command(folder, monkeypatch):
    monkeypatch.setattr("wfalens.cli.legacy.extract.TerminalProgress", lambda: ToldStops(2))
    stopped = wfalens(*EXTRACT, "-o", "again.wfa", cwd=folder)
    assert stopped.returncode == 0
    assert "stopped after 2 of" in stopped.stderr
    assert "--force goes on" in stopped.stderr
    assert len(WFA.load(folder / "again.wfa").provenance["training"]) == 2  # the best so far
    assert (folder / "again.wfa.training").exists()
    monkeypatch.undo()
    run(folder, *EXTRACT, "-o", "again.wfa", "--force")
    assert (folder / "again.wfa").read_bytes() == (folder / "n.wfa").read_bytes()
    assert not (folder / "again.wfa.training").exists()


def test_predict(folder):
    senate, coach = json.loads(
        run(folder, "predict", "n.wfa", "senate votes to veto", "the coach and players", "--json")
    )
    assert (senate["label"], coach["label"]) == ("us", "sport")
    assert sum(senate["output"].values()) == pytest.approx(1)
    assert "sport" in run(folder, "predict", "n.wfa", "the coach and players")


def test_walk_shows_no_states(folder):
    text = run(folder, "walk", "n.wfa", "the senate zzzz")
    assert "observed" in text
    assert "unknown" in text
    assert "state" not in text
    steps = json.loads(run(folder, "walk", "n.wfa", "the senate", "--json"))["steps"]
    assert [set(step) for step in steps] == [{"word", "rows", "shares", "output"}] * 2
    assert sum(steps[1]["output"].values()) == pytest.approx(1)


def test_explain_a_text_in_log_odds(folder):
    text = "the senate votes"
    shown = run(folder, "explain", "n.wfa", "--text", text, "--html", "t.html", "--plot", "t.png")
    assert "(log-odds)" in shown
    assert "mass through rows" not in shown
    assert "log-odds" in (folder / "t.html").read_text()
    assert (folder / "t.png").read_bytes()[:4] == b"\x89PNG"
    report = json.loads(run(folder, "explain", "n.wfa", "--text", text, "--json"))
    assert report["unit"] == "log-odds"
    assert sum(report["output"].values()) == pytest.approx(0, abs=1e-9)
    for name in report["output"]:
        total = sum(word["contribution"][name] for word in report["words"])
        assert total == pytest.approx(report["output"][name] - report["prior"][name])
    wfa = WFA.load(folder / "n.wfa")
    column = wfa.class_names.index(report["label"])
    swapped = f"the {report['lowest_with'][1]['word']} votes"
    assert report["lowest_with"][1]["output"] == pytest.approx(wfa.weights([swapped])[0, column])


def test_explain_globally_words_and_phrases(folder):
    assert "log-odds" in run(folder, "explain", "n.wfa", "--html", "top.html", "--plot", "top.svg")
    report = json.loads(run(folder, "explain", "n.wfa", "--json"))
    assert report["unit"] == "log-odds"
    planted = newsroom.TRUTH.carriers["health"]
    assert sum(item["word"] in planted for item in report["top"]["health"]) >= 8
    for option, value in (("--word", "senate"), ("--phrase", "the senate")):
        scores = json.loads(run(folder, "explain", "n.wfa", option, value, "--json"))["words"][0]["scores"]
        assert max(scores, key=scores.get) == "us"
    run(folder, "explain", "n.wfa", "--embeddings", "tme.txt", "--size", "5")
    assert (folder / "tme.txt").read_text().split("\n")[0].endswith(" 5")


def test_neighbours_and_pairs(folder):
    report = json.loads(run(folder, "neighbours", "n.wfa", "senate", "--vectors", "vectors.txt", "--json"))
    assert newsroom.TRUTH.topic_of(report["acts_alike"][0][0]) == "us"
    pairs = ("pairs", "n.wfa", "--vectors", "vectors.txt", "--epsilon", "q0.02", "--delta", "q0.5")
    assert json.loads(run(folder, *pairs, "--json"))["pairs"]
    assert "adversarial pairs among" in run(folder, *pairs, "--plot", "maps.png")


def test_attack(folder):
    command = ("attack", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--limit", "40", "--vectors", "vectors.txt")
    bounds = ("--strong", "q1", "--min-transition", "q0.1")
    report = json.loads(run(folder, *command, *bounds, "--recipe", "guided", "--recipe", "random-word", "--json"))
    guided, control = (item["summary"]["succeeded"] for item in report)
    assert guided >= control


def test_evaluate(folder):
    report = json.loads(run(folder, "evaluate", "n.wfa", "-m", "n.rnn", "-c", "newsroom", "--json"))
    assert report["overall"]["cr"]["value"] > 0.8
    assert report["undecided"] == 0
    least, *_, most = report["trust"]["deciles"]
    assert least["cr"]["value"] < most["cr"]["value"]
    unsure = json.loads(run(folder, "predict", "n.wfa", "the of and", "--min-confidence", "0.9", "--json"))[0]
    assert (unsure["label"], unsure["unsure"]) == (None, True)
    assert "CR [95 %]" in run(folder, "evaluate", "n.wfa", "-m", "n.rnn", "-c", "newsroom")
