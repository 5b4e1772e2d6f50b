"""Language models, machines and asking back at the command line."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.cli.test_commands import wfalens
from tests.language.grammar import Grammar
from tests.robustness.dfa.test_machines import known
from wfalens.automaton import WFA
from wfalens.language import sample
from wfalens.robustness import read_machine, shortest_difference

SMALL = ["--embedding", "8", "--hidden", "16", "--dropout", "0", "--epochs", "4", "--learning-rate", "0.02"]


def write_texts(path, texts):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["text"], *([text] for text in texts)])


@pytest.fixture(scope="module")
def session(copy_once):
    """A folder with strings, a language model and its automaton, made by the commands."""

    def make(folder):
        drawn = [text for text in sample(Grammar(7, least_end=0.15), 500, seed=1).texts if text]
        write_texts(folder / "train.csv", drawn[:300])
        write_texts(folder / "test.csv", drawn[300:])
        told = ["train", "--task", "next", "--tokenizer", "characters", "-c", "train.csv", "--test", "test.csv"]
        done = wfalens(*told, "-o", "it.rnn", *SMALL, "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / "trained.json").write_text(done.stdout)
        told = ["extract", "it.rnn", "-c", "train.csv", "-o", "it.wfa", "-k", "6", "--completion", "probe"]
        done = wfalens(*told, cwd=folder)
        assert done.returncode == 0, done.stderr

    return copy_once("strings", make)


def test_training_tells_the_perplexity(session):
    told = json.loads((session / "trained.json").read_text())
    assert told["test_accuracy"] is None
    assert 1 < told["test_perplexity"] < 4
    assert told["classes"][-1] == "<end>"


def test_evaluation_is_over_all_prefixes_beside_stand_ins(session):
    command = ["evaluate", "it.wfa", "-m", "it.rnn", "-c", "test.csv", "--reference", "train.csv"]
    told = json.loads(wfalens(*command, "--json", cwd=session).stdout)
    assert set(told["baselines"]) >= {"last symbol", "spectral"}
    assert told["automaton"]["kl"]["value"] < 0.2
    shown = wfalens(*command, cwd=session).stdout
    assert "stand-in: last symbol" in shown
    assert "perplexity" in shown
    refused = wfalens(*command, "--min-cr", "0.5", cwd=session)
    assert refused.returncode == 2
    assert "measured on all prefixes" in refused.stderr


@pytest.mark.parametrize("source", ["it.wfa", "it.rnn"])
def test_strings_are_drawn_and_ranked(session, source):
    drawn = json.loads(wfalens("sample", source, "-n", "7", "--json", cwd=session).stdout)
    assert len(drawn) == 7
    assert all(set(each["text"]) <= set("abc") for each in drawn)
    best = json.loads(wfalens("sample", source, "-n", "5", "--most-likely", "--json", cwd=session).stdout)
    scores = [each["log_probability"] for each in best]
    assert scores == sorted(scores, reverse=True)
    assert "ln P" in wfalens("sample", source, "-n", "3", cwd=session).stdout


def test_a_walk_shows_what_comes_next(session):
    done = wfalens("walk", "it.wfa", "ab", cwd=session)
    assert done.returncode == 0
    assert "(start)" in done.stdout
    assert "it.wfa: next comes " in done.stdout


def test_sampling_a_classifier_is_refused(session, small_network):
    done = wfalens("sample", small_network / "news.rnn", cwd=session)
    assert done.returncode == 2
    assert "no language model: none of its classes is the end symbol" in done.stderr


@pytest.fixture(scope="module")
def language(copy_once):
    """A folder with an automaton of Tomita's fifth language."""

    def make(folder):
        from tests.robustness.dfa.test_machines import extracted

        extracted(5).save(folder / "five.wfa")

    return copy_once("language", make)


def test_a_machine_is_written_read_and_compared(language):
    done = wfalens("minimise", "five.wfa", "-o", "five.json", "--samples", "100", cwd=language)
    assert done.returncode == 0, done.stderr
    assert "agrees with the original on ≥" in done.stdout
    machine, classes = read_machine(language / "five.json")
    assert len(classes) == 2
    assert shortest_difference(machine, known(5), empty=False) is None
    told = json.loads(wfalens("minimise", "five.wfa", "--compare", "five.json", "--json", cwd=language).stdout)
    assert told["compared"] == {"equal": True, "difference": None}
    assert told["states"] == len(machine)
    other = replace(machine, outputs=tuple(1 - output for output in machine.outputs))
    other.save(language / "other.json", classes)
    differs = wfalens("minimise", "five.wfa", "--compare", "other.json", cwd=language)
    assert differs.returncode == 1
    assert "differently" in differs.stdout
    assert wfalens("minimise", "five.wfa", "-o", "five.dot", cwd=language).returncode == 0
    assert (language / "five.dot").read_text().startswith("digraph")


@pytest.mark.parametrize("way", ["likely", "kv", "lstar"])
def test_other_ways_are_judged_alike(language, way):
    told = json.loads(wfalens("minimise", "five.wfa", "--way", way, "--samples", "50", "--json", cwd=language).stdout)
    assert told["guarantee"]["texts"] == 50
    assert told["states"] >= 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--states", "2"], "would have more than 2 states"),
        (["--way", "magic"], "unknown way 'magic'"),
        (["--letters", "0 x"], "does not know the letter 'x'"),
        (["-o", "it.png"], "written as .dot or .json"),
        (["--compare", "five.wfa"], "not a machine of wfalens"),
    ],
)
def test_bad_input_is_one_sentence(language, options, said):
    done = wfalens("minimise", "five.wfa", *options, cwd=language)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_asking_back_ends_with_a_proof(session):
    command = ["extract", "it.rnn", "-c", "train.csv", "-o", "refined.wfa", "-k", "4", "--completion", "probe"]
    refining = ["--refine", "--rounds", "2", "--round-texts", "100", "--samples", "200"]
    done = wfalens(*command, *refining, cwd=session)
    assert done.returncode == 0, done.stderr
    assert "confidence (200 fresh samples" in done.stdout
    assert "compared is the likeliest next symbol after each" in done.stdout  # it is a language model
    provenance = WFA.load(session / "refined.wfa").provenance
    assert provenance["guarantee"]["texts"] == 200
    assert 1 <= len(provenance["refinement"]["rounds"]) <= 2
    assert np.isfinite(provenance["guarantee"]["bound"])
    refused = wfalens(*command, "--rounds", "2", "--force", cwd=session)
    assert refused.returncode == 2
    assert "belong to --refine" in refused.stderr
