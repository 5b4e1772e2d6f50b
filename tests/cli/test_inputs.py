"""Wrong input is one sentence and exit code 2; hostile words reach no terminal."""

import sys

import numpy as np
import pytest

from tests.commands import wfalens
from tests.errors import raises
from tests.readable import negation
from wfalens.cli.config import Reading
from wfalens.cli.inputs import open_model

BAD = {
    "no automaton": "predict none.wfa x",
    "a network in place of an automaton": "predict small.rnn x",
    "no text": "predict news.wfa",
    "no corpus": "evaluate news.wfa -m news.rnn -c none.csv",
    "no model": "evaluate news.wfa -m none.rnn -c test.csv",
    "pickle": "evaluate news.wfa -m mail.pkl -c test.csv",
    "no engine": "evaluate news.wfa -m news.rnn -c test.csv -C engine=spark",
    "little memory": "evaluate news.wfa -m news.rnn -c test.csv -C run.memory=much",
    "no file matches": "extract news.rnn -c no*.csv -o out.wfa",
    "no method": "extract news.rnn -c train.csv -o out.wfa --method magic",
    "no time": "extract news.rnn -c train.csv -o out.wfa --time soon",
    "no language model": "sample news.rnn",
    "no class": "explain text news.wfa senate --class nothing",
    "no report": "report news.wfa -o page.xyz",
    "no drawing": "show readable.wfa -o page.xyz",
    "no format": "export news.wfa -o x.json --format magic",
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_wrong_input_is_one_sentence(workshop, line):
    before = sorted(workshop.iterdir())
    done = wfalens(*line.split(), cwd=workshop)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in done.stderr
    assert sorted(workshop.iterdir()) == before


def test_hostile_words_do_not_reach_the_terminal(tmp_path):
    groups = {"good": ["[/x]", "<script>"], "bad": ["\x1b[31mred"], "not": ["\u202eabc"], "the": ["$\\foo$"]}
    negation(words=groups, class_names=("[/x] neg", "pos\x1b[31m")).wfa.save(tmp_path / "hostile.wfa")
    done = wfalens("show", "hostile.wfa", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\u202e" not in done.stdout
    assert "\x1b" not in done.stdout
    assert "[/x]" in done.stdout


@pytest.fixture
def own_model(tmp_path, monkeypatch):
    """A module with a function of texts in the working folder."""
    (tmp_path / "own_opinion.py").write_text(
        "import numpy as np\n"
        "def predict_proba(texts: list[str]):\n"
        "    share = np.array([(text.lower().count('good') + 1) / (len(text.split()) + 2) for text in texts])\n"
        "    return np.stack([1 - share, share], 1)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    return "own_opinion:predict_proba"


def test_a_function_is_opened_by_its_import_path_and_said_to_run(own_model, capsys):
    wfa = negation().wfa
    model = open_model(own_model, wfa)
    assert model.class_names == wfa.class_names
    np.testing.assert_allclose(model.predict_proba(["Good good film"]).sum(1), 1)
    assert "runs the code of own_opinion" in capsys.readouterr().err


def test_answers_of_a_function_are_kept_in_the_cache(own_model, tmp_path):
    reading = Reading(cache=tmp_path / "answers.sqlite")
    model = open_model(own_model, negation().wfa, reading)
    model.predict_proba(["a Good film"])
    again = open_model(own_model, negation().wfa, reading)
    before = again.queries
    again.predict_proba(["a Good film"])
    assert again.queries == before


@pytest.mark.parametrize("path", ["no_such_module:predict", "math:pi", "own_opinion:absent"])
def test_what_is_no_function_is_refused(path, own_model):
    with raises("import-path"):
        open_model(path)


def test_an_automaton_remembers_the_columns_of_its_extraction(workshop, tmp_path):
    """Named once, for the extraction; texts without the column of labels are read without labels."""
    for name, source in (("mail", "test"), ("new", "train")):
        texts = "".join((workshop / f"{source}.csv").read_text().splitlines(keepends=True)[:200])
        (tmp_path / f"{name}.csv").write_text(texts.replace("text", "Comment", 1).replace("label", "Verdict", 1))
    (tmp_path / "bare.txt").write_text("the senate\n")
    (tmp_path / "bare.csv").write_text("Comment\nthe senate\n")
    columns = ("-C", "text_column=Comment", "-C", "label_column=Verdict")
    model = workshop / "news.rnn"
    out = ("--method", "stochastic", "-C", "stochastic.states=4", "-o", "mail.wfa")
    for line, code in (
        (("extract", model, "-c", "mail.csv", *columns, *out), 0),
        (("evaluate", "mail.wfa", "-m", model, "-c", "mail.csv", "--json"), 0),
        (("predict", "mail.wfa", "-c", "bare.csv"), 0),
        (("evaluate", "mail.wfa", "-m", model, "-c", "mail.csv", "-C", "text_column=text"), 2),
        (("evaluate", "mail.wfa", "-m", model, "-c", "mail.csv", "--by", "label"), 0),
        (("evaluate", "mail.wfa", "-m", model, "-c", "bare.csv"), 0),
        (("evaluate", "mail.wfa", "-m", model, "-c", "mail.csv", "-C", "run.engine=serial"), 0),
        (("explain", "phrases", "mail.wfa", "-m", model, "-c", "mail.csv"), 0),
        (("show", "mail.wfa", "-m", model, "-c", "mail.csv"), 0),
        (("report", "mail.wfa", "-m", model, "-c", "new.csv", "-C", "by=Verdict", "-o", "card.md"), 0),
        (("repair", "labels", "mail.wfa", "-m", model, "--train", "mail.csv"), 0),
    ):
        done = wfalens(*line, cwd=tmp_path)
        assert done.returncode == code, (line, done.stderr)


def test_labels_that_the_extraction_did_not_need_are_asked_for_by_their_option(workshop, tmp_path):
    (tmp_path / "mail.csv").write_text((workshop / "test.csv").read_text().replace("label", "Verdict", 1))
    command = ("repair", "labels", workshop / "news.wfa", "-m", workshop / "news.rnn", "--train", "mail.csv")
    refused = wfalens(*command, cwd=tmp_path)
    assert refused.returncode == 2
    assert "-C label_column=NAME" in refused.stderr
    assert wfalens(*command, "-C", "label_column=Verdict", cwd=tmp_path).returncode == 0
