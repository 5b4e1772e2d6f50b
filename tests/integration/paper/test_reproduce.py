"""The whole reproduction in miniature, on generated headlines."""

import io
import json
import re
import signal
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from html import unescape

import numpy as np
import pytest
from benchmarks.paper import FULL, QUICK, Scale, reproduce
from benchmarks.paper.__main__ import main
from benchmarks.paper.caveats import ACCURACY, caveats, network_sentence, title
from benchmarks.paper.contents import SECTIONS
from benchmarks.paper.experiment import Step
from benchmarks.paper.measurements import MEASURES
from benchmarks.paper.result_folder import claims_sentence, measuring_sentence
from benchmarks.paper.section import Results, order_claim
from benchmarks.paper.store import Store

from wfalens.errors import InputError
from wfalens.progress import Progress, shown_on


def command(*arguments, cwd="."):
    """`python -m benchmarks.paper` in this process, without the data folder."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, chdir(cwd), redirect_stdout(out), redirect_stderr(err):
        patch.delenv("WFALENS_DATA", raising=False)
        code = main([str(argument) for argument in arguments])
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


MINIATURE = Scale(
    train_texts=600, test_texts=150, epochs=3, pretraining_epochs=1, attack_texts=20, augmentation_epochs=1
)
FEW = ("table1", "zipf", "proposition2")


@pytest.fixture(scope="module")
def miniature(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reproduction")
    return folder, reproduce(folder, ["newsroom"], seeds=2, scale=MINIATURE)


def without_times(value):
    """A summary without what a clock measured."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in ("took", "seconds")}
    if isinstance(value, list):
        return [without_times(item) for item in value if not (isinstance(item, dict) and "same time" in str(item))]
    return value


@pytest.mark.slow
def test_every_part_is_on_the_page_with_its_claims_marked(miniature):
    folder, summary = miniature
    page = (folder / "index.html").read_text()
    expected = {name for name, part in SECTIONS.items() if part.steps("newsroom")}
    assert {part["part"] for part in summary["parts"]} == expected == set(SECTIONS) - {"leak"}
    for part in summary["parts"]:
        assert f'id="{part["part"]}-newsroom"' in page
    claims = [claim for part in summary["parts"] for claim in part["claims"]]
    assert page.count('class="held"') + page.count('class="failed"') == len(claims) > 40
    assert page.count('class="held"') == sum(claim["held"] for claim in claims)


@pytest.mark.slow
def test_every_figure_and_table_of_the_page_is_there(miniature):
    folder, _ = miniature
    page = (folder / "index.html").read_text()
    linked = re.findall(r'(?:src|href)="(figures/[^"]+)"', page)
    assert len(linked) > 15
    for file in linked:
        assert (folder / file).stat().st_size > 3000
    assert len(list((folder / "tables").glob("*.csv"))) == len(SECTIONS) - 1
    assert "result_cr" in (folder / "tables" / "table1-newsroom.csv").read_text().splitlines()[0]


@pytest.mark.slow
def test_the_tables_also_come_as_text(miniature):
    folder, summary = miniature
    text = (folder / "tables.md").read_text()
    for part in summary["parts"]:
        for claim in part["claims"]:
            assert f"{'held' if claim['held'] else '**not held**'}: {claim['text']}" in text
    assert "| empirical |" in text


@pytest.mark.slow
def test_what_must_hold_holds_even_in_miniature(miniature):
    _, summary = miniature
    claims = {part["part"]: part["claims"] for part in summary["parts"]}
    assert all(claim["held"] for claim in claims["proposition2"])
    assert [claim["held"] for claim in claims["table1"][:3]] == [True, True, True]


@pytest.mark.slow
def test_a_second_run_measures_nothing_and_gives_the_same_page(miniature, monkeypatch):
    folder, _ = miniature
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    for name in MEASURES:
        monkeypatch.setitem(MEASURES, name, lambda *_args, **_options: pytest.fail("measured again"))
    reproduce(folder, ["newsroom"], seeds=2, scale=MINIATURE)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


@pytest.mark.slow
def test_stopped_half_way_it_goes_on_and_ends_alike(miniature, tmp_path, monkeypatch):
    _, whole = miniature
    done = []

    def counted(name, measure):
        def run(study, **options):
            if len(done) == 5:
                raise KeyboardInterrupt
            done.append(name)
            return measure(study, **options)

        return run

    with monkeypatch.context() as patch:
        for name, measure in MEASURES.items():
            patch.setitem(MEASURES, name, counted(name, measure))
        with pytest.raises(KeyboardInterrupt):
            reproduce(tmp_path, ["newsroom"], seeds=2, only=FEW, scale=MINIATURE)
    assert len(list((tmp_path / "measurements").iterdir())) == 5
    assert not (tmp_path / "index.html").exists()
    summary = reproduce(tmp_path, ["newsroom"], seeds=2, only=FEW, scale=MINIATURE)
    parts = [part for part in whole["parts"] if part["part"] in FEW]
    assert without_times(summary["parts"]) == without_times(parts)


KILLED_AT_THE_SECOND_MEASUREMENT = """
import os, signal
import sys
from benchmarks.paper import store
from benchmarks.paper.__main__ import main

write, done = store.write_atomically, []

def write_or_die(path, content):
    if done:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(path)
    write(path, content)

store.write_atomically = write_or_die
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_process_loses_only_what_it_was_doing(tmp_path):
    arguments = ["--quick", "--dataset", "newsroom", "--only", "table1", "--out", str(tmp_path)]
    program = [sys.executable, "-c", KILLED_AT_THE_SECOND_MEASUREMENT, *arguments]
    killed = subprocess.run(program, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    kept = tmp_path / "measurements"
    assert not (tmp_path / "index.html").exists()
    before = {file.name: file.read_bytes() for file in kept.glob("*.json")}
    assert len(before) == 1
    again = command(*arguments)
    assert again.returncode == 0, again.stderr
    assert "statements of the paper held on other data than the paper's" in again.stdout
    assert {name: (kept / name).read_bytes() for name in before} == before
    assert (tmp_path / "index.html").exists()


def test_a_given_model_is_taken(tmp_path, news_model):
    news_model.save(tmp_path / "own.rnn")
    summary = reproduce(
        tmp_path / "out",
        ["newsroom"],
        only=["zipf"],
        scale=MINIATURE,
        models={"newsroom": [tmp_path / "own.rnn"]},
    )
    assert summary["parts"][0]["seeds"] == 1
    assert not (tmp_path / "out" / "models").exists()


class Heard(Progress):
    """Keeps what it is told, and whether work had begun by then."""

    def __init__(self):
        self.told, self.began = [], False

    def start(self, task, total=None):
        self.began = True

    def say(self, message):
        assert not self.began
        self.told.append(message)


def test_other_data_and_a_small_scale_are_told_before_any_figure(tmp_path, news_model):
    news_model.save(tmp_path / "own.rnn")
    heard = Heard()
    given = {"newsroom": [tmp_path / "own.rnn"]}
    with shown_on(heard):
        summary = reproduce(tmp_path, ["newsroom"], only=["zipf"], scale=MINIATURE, models=given)
    data, scale = heard.told
    assert data.startswith("not the paper's data, but newsroom; the paper's are tagmynews and jigsaw_toxic")
    assert "--data FOLDER or WFALENS_DATA" in data
    assert "600 training texts, 3 epochs" in scale
    assert "do not cite" in scale
    (network,) = summary["networks"]
    assert re.fullmatch(r"newsroom: accuracy of the network 0\.\d{3}", network)
    page = unescape((tmp_path / "index.html").read_text())
    assert "<h1>The paper's experiments on other data</h1>" in page
    for told in (data, scale, network):
        assert page.index(told) < page.index("Claims held, by section")
        assert told in (tmp_path / "tables.md").read_text()
    assert "claims of the paper" not in claims_sentence(summary)


def test_the_papers_data_at_full_size_need_no_caveat_and_a_quick_run_does():
    papers = ["tagmynews", "jigsaw_toxic"]
    assert caveats(papers, FULL) == []
    assert title(papers, FULL) == "The paper, reproduced"
    (quick,) = caveats(papers, QUICK)
    assert "do not cite" in quick
    assert title(papers, QUICK) != title(papers, FULL)


def test_the_accuracy_of_the_network_stands_beside_the_papers():
    results = Results("tagmynews", [{ACCURACY: {"accuracy": 0.35}}])
    assert network_sentence(results) == "tagmynews: accuracy of the network 0.350; the paper's: 0.81"
    assert network_sentence(Results("tagmynews", [{}])) is None


@pytest.mark.parametrize(("seconds", "shown"), [(59.6, "60 s"), (119, "119 s"), (125, "2 minutes")])
def test_the_time_of_measuring_says_what_it_counts(seconds, shown):
    told = measuring_sentence({"seconds": seconds})
    assert told.startswith(f"Measuring took {shown} by the clock")
    assert "without the training" in told


def test_a_damaged_or_foreign_measurement_is_made_anew(tmp_path):
    store = Store(tmp_path)
    assert store.keep({"a": 1}, lambda: {"x": 1}) == {"x": 1}
    assert store.keep({"a": 1}, lambda: {"x": 2}) == {"x": 1}
    assert store.keep({"a": 2}, lambda: {"x": 3}) == {"x": 3}
    for content in ("", "{", "[]", '{"parameters": {"a": 9}, "result": {}}', '{"result": 3}'):
        next(iter(sorted(tmp_path.iterdir()))).write_text(content)
        values = [store.keep({"a": number}, lambda: {"x": 7})["x"] for number in (1, 2)]
        assert 7 in values


def test_an_order_is_held_or_not(tmp_path):
    first, second = Step.of("fidelity", completion="null"), Step.of("fidelity", completion="uniform")
    seeds = [{first: {"cr": 0.1}, second: {"cr": 0.2}}, {first: {"cr": 0.5}, second: {"cr": 0.3}}]
    claim = order_claim("x", Results("d", seeds), (first, "cr"), (second, "cr"))
    assert (claim.held, claim.seeds) == (False, "1 of 2")
    claim = order_claim("x", Results("d", seeds), (second, "cr"), (first, "cr"))
    assert (claim.held, claim.seeds) == (True, "1 of 2")
    assert Results("d", seeds).cell(first, "cr") == f"0.300 ± {np.std([0.1, 0.5], ddof=1):.3f}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "table9"], "unknown section 'table9'; choose one of table1"),
        (["--dataset", "nothing"], "unknown data set 'nothing'"),
        (["--dataset", "tagmynews"], "needs the file tagmynews/train.csv"),
        (["--dataset", "newsroom", "--model", "own.rnn"], "--model must be DATASET=FILE"),
        (["--dataset", "newsroom", "--model", "newsroom=own.rnn"], "own.rnn: no such file"),
        (["--dataset", "newsroom", "--model", "tomita1=own.rnn"], "not among the data sets"),
        (["--dataset", "newsroom", "--out", "taken/x"], "cannot make the folder"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path, arguments, message):
    (tmp_path / "taken").write_text("")
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_json_of_the_command_is_the_file(tmp_path):
    done = command("--quick", "--dataset", "newsroom", "--only", "zipf", "-o", "r", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads((tmp_path / "r" / "results.json").read_text())


def test_what_cannot_be_measured_is_said_and_the_rest_is_shown(tmp_path, monkeypatch):
    def fails(_study, **_options):
        raise InputError("no such thing")

    monkeypatch.setitem(MEASURES, "proposition2", fails)
    summary = reproduce(tmp_path, ["newsroom"], seeds=1, only=["zipf", "proposition2"], scale=MINIATURE)
    by_name = {part["part"]: part for part in summary["parts"]}
    assert by_name["proposition2"]["missing"] == "Not measured: no such thing."
    assert by_name["zipf"]["claims"]
    assert "Not measured: no such thing." in (tmp_path / "index.html").read_text()


@pytest.mark.slow
def test_our_own_checks_are_counted_apart(miniature):
    _, summary = miniature
    claims = [claim for part in summary["parts"] for claim in part["claims"]]
    theirs = [claim for claim in claims if not claim["ours"]]
    assert 0 < len(theirs) < len(claims)
    assert f"of {len(theirs)} statements of the paper held on other data than the paper's, " in claims_sentence(summary)
    assert all(claim["ours"] for part in summary["parts"] if part["part"] == "beyond" for claim in part["claims"])
