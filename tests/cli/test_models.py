"""Models from elsewhere on the command line: ONNX graphs and Hugging Face folders go where checkpoints go."""

import json
import shutil

import numpy as np
import pytest

from tests.cli.test_commands import wfalens
from tests.models.adapters.test_transformer import bert, word_pieces
from tests.models.graphs import running_graph, summing_graph
from tests.models.toy import CLASSES, ENCODER, texts, word_scores
from wfalens.automaton import WFA
from wfalens.models import Preprocessing, RNNClassifier, export_onnx
from wfalens.text.datasets import newsroom

OPTIONS = ("-k", "10", "--completion", "probe", "--alpha", "0", "--abstraction", "outputs")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_network):
    """A folder with a trained network, as a checkpoint and as a graph."""
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(small_network / "news.rnn", folder)
    export_onnx(RNNClassifier.load(folder / "news.rnn"), folder / "news.onnx")
    return folder


def write_csv(path, corpus):
    rows = [f"{text},{corpus.class_names[label]}" for text, label in zip(corpus.texts, corpus.labels, strict=True)]
    path.write_text("\n".join(["text,label", *rows]))


def test_a_graph_goes_the_same_way_as_its_checkpoint(folder):
    reports = {}
    for kind in ("rnn", "onnx"):
        model, wfa = f"news.{kind}", f"{kind}.wfa"
        done = wfalens("extract", model, "-c", "newsroom", "-o", wfa, *OPTIONS, cwd=folder)
        assert done.returncode == 0, done.stderr
        evaluated = wfalens("evaluate", wfa, "-m", model, "-c", "newsroom", "--json", cwd=folder)
        assert evaluated.returncode == 0, evaluated.stderr
        assert "another model" not in evaluated.stderr
        attack = ("attack", wfa, "-m", model, "-c", "newsroom", "--limit", "30", "--recipe", "guided", "--json")
        attacked = wfalens(*attack, cwd=folder)
        assert attacked.returncode == 0, attacked.stderr
        reports[kind] = json.loads(evaluated.stdout)["overall"], json.loads(attacked.stdout)[0]
    assert reports["onnx"][0]["cr"] == reports["rnn"][0]["cr"]
    assert reports["onnx"][0]["jsd"]["value"] == pytest.approx(reports["rnn"][0]["jsd"]["value"], abs=1e-5)
    assert reports["onnx"][0]["cr"]["value"] > 0.7
    for ours, theirs in zip(reports["rnn"][1]["examples"], reports["onnx"][1]["examples"], strict=True):
        assert (ours["status"], ours["after"]) == (theirs["status"], theirs["after"])
    ours, theirs = (WFA.load(folder / f"{kind}.wfa").predict_proba(["the coach of the league"]) for kind in reports)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_every_command_that_takes_a_model_takes_a_graph(folder):
    extracted = wfalens("extract", "news.onnx", "-c", "newsroom", "-o", "all.wfa", *OPTIONS, cwd=folder)
    assert extracted.returncode == 0, extracted.stderr
    write_csv(folder / "few.csv", newsroom.generate(60, np.random.default_rng(0)))
    for command in ("diff all.wfa all.wfa --model-a news.onnx", "report all.wfa -m news.onnx -o all.html"):
        done = wfalens(*command.split(), "-c", "few.csv", cwd=folder)
        assert done.returncode == 0, done.stderr


def test_a_graph_from_elsewhere_needs_a_file_with_its_words_beside_it(tmp_path):
    summing_graph(tmp_path / "toy.onnx", word_scores(ENCODER.vocabulary))
    write_csv(tmp_path / "toy.csv", texts(200, seed=0))
    extract = ("extract", "toy.onnx", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS)
    refused = wfalens(*extract, cwd=tmp_path)
    assert refused.returncode == 2
    assert "write them to toy.json beside it" in refused.stderr
    Preprocessing.of(ENCODER, CLASSES).write(tmp_path / "toy.json")
    assert wfalens(*extract, cwd=tmp_path).returncode == 0
    evaluated = wfalens("evaluate", "toy.wfa", "-m", "toy.onnx", "-c", "toy.csv", "--min-cr", "0.9", cwd=tmp_path)
    assert evaluated.returncode == 0, evaluated.stderr


def test_a_graph_that_looks_ahead_is_read_with_a_note(tmp_path):
    running_graph(tmp_path / "toy.onnx", word_scores(ENCODER.vocabulary), reverse=1)
    Preprocessing.of(ENCODER, CLASSES).write(tmp_path / "toy.json")
    write_csv(tmp_path / "toy.csv", texts(60, seed=0))
    done = wfalens("extract", "toy.onnx", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, "-k", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\nnote: the model looks ahead: its output for a prefix changes by" in f"\n{done.stderr}"
    assert "Warning" not in done.stderr


def test_a_hugging_face_folder_is_read_by_the_words_of_the_corpus(tmp_path):
    tokenizer = word_pieces(["fine", "poor", "thing", *(f"##{number}" for number in range(5))])
    bert(0, tokenizer, CLASSES).save_pretrained(tmp_path / "toy")
    tokenizer.save_pretrained(tmp_path / "toy")
    write_csv(tmp_path / "toy.csv", texts(120, seed=0))
    extract = ("extract", "hf:toy", "-c", "toy.csv", "-o", "toy.wfa", *OPTIONS, "--queries", "5000")
    done = wfalens(*extract, "--max-length", "7", "--min-count", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    forecast, cut = done.stderr.splitlines()
    assert forecast.startswith("note: asks the model for up to ")
    assert cut == "note: 30 of 120 texts were cut after 7 tokens"
    wfa = WFA.load(tmp_path / "toy.wfa")
    assert set(wfa.encoder.vocabulary.words) == set(ENCODER.vocabulary.words)
    assert (wfa.encoder.tokenizer_name, wfa.encoder.max_length, wfa.class_names) == ("whitespace", 7, CLASSES)
    evaluated = wfalens("evaluate", "toy.wfa", "-m", "hf:toy", "-c", "toy.csv", "--json", cwd=tmp_path)
    assert evaluated.returncode == 0, evaluated.stderr
    assert "another model" not in evaluated.stderr
    assert json.loads(evaluated.stdout)["overall"]["cr"]["value"] > 0.7
    bert(1, tokenizer, CLASSES).save_pretrained(tmp_path / "toy")
    other = wfalens("evaluate", "toy.wfa", "-m", "hf:toy", "-c", "toy.csv", cwd=tmp_path)
    assert "was extracted from another model" in other.stderr


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "mail.joblib",
            "loading a pickle runs code that is in it; load it yourself in Python",
        ),
        ("mail.pkl", "loading a pickle runs code that is in it"),
        ("mail.keras", "mail.keras: no such file"),
        ("mail.pt", "load it in Python"),
        ("mail.onnx", "mail.onnx: no such file"),
        ("mail.rnn", "mail.rnn: no such file"),
        (".", "is a folder; if it holds a Hugging Face classifier, give hf:."),
        ("hf:./nothing", "transformers cannot load a sequence classifier from there"),
    ],
)
def test_models_that_cannot_be_opened_are_refused_in_one_sentence(tmp_path, model, message):
    write_csv(tmp_path / "toy.csv", texts(10, seed=0))
    done = wfalens("extract", model, "-c", "toy.csv", "-o", "toy.wfa", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_options_about_words_are_refused_where_the_model_has_its_own(folder):
    done = wfalens("extract", "news.onnx", "-c", "newsroom", "-o", "x.wfa", "--tokenizer", "whitespace", cwd=folder)
    assert done.returncode == 2
    assert "news.onnx has its own words; --tokenizer, --max-length and --min-count are for hf: models" in done.stderr
