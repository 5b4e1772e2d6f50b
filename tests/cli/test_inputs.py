"""Wrong input is one sentence and exit code 2; hostile words reach no terminal."""

import pytest

from tests.commands import wfalens
from tests.readable import negation

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


@pytest.mark.parametrize("more", [(), ("--text",)])
def test_hostile_words_do_not_reach_the_terminal(tmp_path, more):
    groups = {"good": ["[/x]", "<script>"], "bad": ["\x1b[31mred"], "not": ["\u202eabc"], "the": ["$\\foo$"]}
    negation(words=groups, class_names=("[/x] neg", "pos\x1b[31m")).wfa.save(tmp_path / "hostile.wfa")
    done = wfalens("show", "hostile.wfa", *more, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "\u202e" not in done.stdout
    assert "\x1b" not in done.stdout
    assert "[/x]" in done.stdout
