"""The commands that compare, certify and check."""

import json
import shutil

import pytest

from tests.cli.test_commands import SMALL, wfalens
from wfalens.automaton import WFA


@pytest.fixture(scope="module")
def folder(copy_once, small_network):
    return copy_once("verifying", lambda folder: fill(folder, small_network))


def fill(folder, small_network):
    shutil.copy(small_network / "news.rnn", folder / "late.rnn")
    options = [*SMALL, "--epochs", "1"]
    assert wfalens("train", "-c", "newsroom", "-o", "early.rnn", *options, cwd=folder).returncode == 0
    for name in ("early", "late"):
        extract = ("extract", f"{name}.rnn", "-c", "newsroom", "-o", f"{name}.wfa", "-k", "15")
        assert wfalens(*extract, "--completion", "probe", "--alpha", "0", cwd=folder).returncode == 0
    (folder / "broken.wfa").write_text("no automaton")


def run(folder, *arguments):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_diff_for_people_and_machines(folder):
    command = ("diff", "early.wfa", "late.wfa", "-c", "newsroom", "--model-a", "early.rnn", "--model-b", "late.rnn")
    people = run(folder, *command, "--html", "diff.html").stdout
    for shown in ("fidelity to its model", "Words whose influence changed most", "model after", "distance of centres"):
        assert shown in people
    assert "<table" in (folder / "diff.html").read_text()
    report = json.loads(run(folder, *command, "--json", "--top", "4").stdout)
    assert len(report["words"]) == len(report["texts"]) == len(report["states"]) == 4
    assert report["fidelity"]["after"]["cr"]["value"] > 0.7
    assert report["before"]["file"] == "early.wfa"


def test_diff_as_a_check(folder):
    command = ("diff", "early.wfa", "late.wfa", "-c", "newsroom", "--min-agreement")
    assert wfalens(*command, "0.1", cwd=folder).returncode == 0
    missed = wfalens(*command, "1", cwd=folder)
    assert missed.returncode == 1
    assert "below 1.000" in missed.stdout


def test_certify_for_people_and_machines(folder):
    command = ("certify", "late.wfa", "-c", "newsroom", "-m", "late.rnn", "--limit", "25", "--changes", "1")
    people = run(folder, *command, "--html", "c.html", "--spare-stop-words").stdout
    assert "no variant changed its class" in people
    assert "the automaton changed its class on 0" in people
    assert "<table" in (folder / "c.html").read_text()
    report = json.loads(run(folder, *command, "--samples", "20", "-s", "2", "--json").stdout)
    assert len(report["texts"]) == 25
    assert report["totals"]["violations"] == 0
    one = json.loads(run(folder, "certify", "late.wfa", "--text", "the senate votes", "--json").stdout)
    assert one["texts"][0]["label"] == "us"
    assert one["totals"]["model"] is None


def test_certify_the_network(folder):
    (folder / "lists.txt").write_text("senate: congress council\nvotes: match\n")
    command = ("certify", "late.wfa", "-m", "late.rnn", "--text", "the senate votes", "--neighbours", "lists.txt")
    people = run(folder, *command, "--of", "network", "--changes", "2", "--delete", "--swap").stdout
    assert "on the network" in people
    report = json.loads(run(folder, *command, "--of", "network", "--changes", "1", "--json").stdout)
    assert report["texts"][0]["status"] in ("proven", "broken")
    few = run(folder, *command, "--of", "network", "--delete", "--insert", "a the of", "--budget", "5")
    assert "proves nothing on the network: the fewest variants" in few.stderr or "broken" in few.stdout


def test_a_list_counts_whole_and_what_the_automaton_does_not_know_is_told(folder):
    words = "congress council governor vote election president nonsense"
    (folder / "long.txt").write_text(f"senate: {words}\n")
    command = ("certify", "late.wfa", "--text", "the senate", "--neighbours", "long.txt", "--json")
    done = run(folder, *command)
    known = [word for word in words.split() if word in WFA.load(folder / "late.wfa").encoder.vocabulary]
    assert json.loads(done.stdout)["texts"][0]["variants"] == 1 + len(known)
    assert f"left out {len(words.split()) - len(known)} replacements" in done.stderr
    assert json.loads(done.stdout)["left_out"] == len(words.split()) - len(known)
    few = json.loads(run(folder, *command, "-s", "2").stdout)
    assert few["texts"][0]["variants"] == 3


def test_every_proof_repeats_that_replacements_were_left_out(folder):
    (folder / "odd.txt").write_text("senate: nonsense gibberish\nthe: a\n")
    command = ("certify", "late.wfa", "--text", "the senate", "--neighbours", "odd.txt", "--changes", "0")
    by_automaton = run(folder, *command).stdout
    assert "by the automaton on all 1 variants) (2 replacements left out)" in by_automaton
    by_network = run(folder, *command, "--of", "network", "-m", "late.rnn").stdout
    assert "proven on the network" in by_network
    assert "(2 replacements left out)" in by_network
    (folder / "known.txt").write_text("the: a\n")
    assert "left out" not in run(folder, *command[:5], "known.txt", "--changes", "0").stdout


def test_certify_as_a_check(folder):
    command = ("certify", "late.wfa", "--text", "the senate votes", "--changes", "0", "--min-certified")
    assert wfalens(*command, "1", cwd=folder).returncode == 0
    missed = wfalens(*command[:-2], "3", "-s", "200", "--min-certified", "1", cwd=folder)
    assert missed.returncode == 1
    assert "are certified, below 1.000" in missed.stdout


ASKED = ("check", "late.wfa", "--text", "a new week", "--words", "vaccine patients the")


def test_check_for_people_and_machines(folder):
    (folder / "words.txt").write_text("vaccine\npatients\nnonsense\nthe\n")
    question = ("--ask", "push", "--class", "health", "-n", "2", "-m", "late.rnn")
    people = run(folder, *ASKED, *question).stdout
    assert "With what probability can at most 2 words from a list of 3 push to 'health' after 'a new week'?" in people
    assert "the classifier agrees" in people
    report = json.loads(run(folder, *ASKED, *question, "--json").stdout)
    assert abs(report["value"] - report["own_value"]) < 1e-9
    assert report["witness"]["model"]["label_after"] == "health"
    listed = run(folder, *ASKED[:4], "--word-file", "words.txt", *question, "--json")
    assert "left out 1 words" in listed.stderr
    assert json.loads(listed.stdout)["value"] == report["value"]
    senate = (*ASKED[:2], "--text", "the senate votes", "--from", "us", "--top", "50")
    many = json.loads(run(folder, *senate, *question[:4], "--json").stdout)
    assert many["by_words"] is None
    raised = json.loads(run(folder, *ASKED, "--ask", "lower", "--class", "us", "-n", "1", "--json").stdout)
    assert raised["value"] < raised["by_words"][0]


def test_check_of_a_property(folder):
    pctl = 'Pmax=? [F<=3 "says_class_health"]'
    value = json.loads(run(folder, *ASKED, "--property", pctl, "--json").stdout)["value"]
    assert value > 0.2
    assert run(folder, *ASKED, "--property", 'P>=0 [F "says_class_us"]').stdout.endswith(": yes\n")
    no = wfalens(*ASKED, "--property", 'P>=1 [F<=1 "says_class_health"]', cwd=folder)
    assert (no.returncode, no.stdout[-5:]) == (1, ": no\n")
    for option, bound, code in (("--at-most", -0.01, 1), ("--at-most", 0.01, 0), ("--at-least", 0.01, 1)):
        assert wfalens(*ASKED, "--property", pctl, option, value + bound, cwd=folder).returncode == code


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("diff", "early.wfa", "broken.wfa"), "broken.wfa"),
        (("diff", "early.wfa", "late.wfa", "--model-a", "early.rnn"), "give --corpus too"),
        (("certify", "broken.wfa", "--text", "x"), "broken.wfa"),
        (("certify", "late.wfa", "--text", "the", "--max-semantic", "0"), "no word of the texts has a substitute"),
        (("certify", "late.wfa"), "give either --corpus or --text"),
        (("certify", "late.wfa", "--text", "the", "--of", "all"), "unknown --of 'all'; choose one of automaton"),
        (("certify", "late.wfa", "--text", "the", "--of", "network"), "--of network needs the network"),
        (("certify", "late.wfa", "--text", "the senate", "--changes", "9"), "more than the longest text has words (2)"),
        (
            ("certify", "late.wfa", "--text", "the", "--delete", "--insert", "zz"),
            "does not know 'zz', which may be inserted",
        ),
        (("certify", "late.wfa", "--text", "the", "--neighbours", "late.rnn"), "late.rnn: not UTF-8 text"),
        (("certify", "late.wfa", "--text", "the", "--delete", "--of", "readable"), "carries no readable automaton"),
        (("check", "broken.wfa", "--ask", "push", "--class", "us", "-w", "the"), "broken.wfa"),
        (("check", "late.wfa", "--class", "us", "-w", "the"), "give either --ask or --property"),
        (("check", "late.wfa", "--ask", "push", "-w", "the"), "say which --class"),
        (("check", "late.wfa", "--ask", "push", "--class", "us"), "give the words to choose from"),
        (("check", "late.wfa", "--ask", "guess", "--class", "us", "-w", "the"), "unknown question 'guess'"),
        (
            ("check", "late.wfa", "--ask", "push", "--class", "us", "-w", "zz"),
            "the word 'zz' is not in the automaton's",
        ),
        (("check", "late.wfa", "--property", "Pmax=? [F", "-w", "the"), "Storm does not take the property"),
        (("check", "late.wfa", "--ask", "push", "--class", "us", "-k", "300", "--memory", "0.001"), "GB allowed"),
        (
            ("check", "late.wfa", "--ask", "push", "--class", "us", "-w", "a", "--text", "senate", "--from", "health"),
            "the automaton reads the text as 'us', not as 'health'",
        ),
        (("diff", "early.wfa", "late.wfa", "--min-agreement", "2"), "--min-agreement must lie between 0 and 1"),
    ],
)
def test_bad_input_is_one_sentence(folder, arguments, sentence):
    done = wfalens(*arguments, cwd=folder)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
