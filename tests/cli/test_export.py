"""`wfalens export` as a user meets it."""

import json
import re
import sys

import pytest

from tests.automata import linear_sample, sample
from tests.cli.test_commands import wfalens
from wfalens.export import SymbolTable, read_json, subset

FILES = {
    "dot": ["out.dot"],
    "openfst": ["out.txt", "out.txt.syms"],
    "prism": ["out.prism", "out.prism.syms"],
    "drn": ["out.drn", "out.drn.syms"],
    "json": ["out.json"],
    "onnx": ["out.onnx"],
    "aalpy": ["out.gv", "out.gv.syms"],
}


@pytest.fixture
def folder(tmp_path):
    """A folder with a stochastic automaton of three classes and a linear one."""
    seed = next(seed for seed in range(99) if len(sample("fit", seed).wfa.class_names) == 3)
    sample("fit", seed).wfa.save(tmp_path / "some.wfa")
    linear_sample(0).wfa.save(tmp_path / "linear.wfa")
    return tmp_path


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".wfa")


@pytest.mark.parametrize("name", FILES)
def test_every_format_writes_its_files(folder, name):
    target = next(file for file in FILES[name] if not file.endswith(".syms"))
    chosen = ["--class", "c1"] if name == "openfst" else []
    done = wfalens("export", "some.wfa", "--format", name, "-o", target, *chosen, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert files(folder) == FILES[name]
    assert re.search(r"wrote out\.\S+.* \(8 words, 6 states", done.stdout)


@pytest.mark.parametrize("name", ["dot", "json", "onnx"])
def test_a_linear_automaton_goes_where_real_weights_can_go(folder, name):
    done = wfalens("export", "linear.wfa", "-o", f"out.{name}", cwd=folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["openfst", "prism", "drn", "aalpy"])
def test_a_linear_automaton_is_refused_elsewhere_and_nothing_is_written(folder, name):
    chosen = ["--class", "c1"] if name == "openfst" else []
    done = wfalens("export", "linear.wfa", "--format", name, "-o", "out", *chosen, cwd=folder)
    assert done.returncode == 2
    assert "a linear automaton has real weights" in done.stderr
    assert files(folder) == []


def test_words_states_and_threshold_reach_the_file(folder):
    from wfalens.automaton import WFA

    (folder / "words.txt").write_text("w3\nzebra\r\nw4\r\n\nw0\n")
    options = ["--words", "w0 w2", "--word-file", "words.txt", "--states", "0, 2-4", "--threshold", "0.2"]
    done = wfalens("export", "some.wfa", "-o", "out.json", *options, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "words.txt: left out 1 words that are not in the automaton's alphabet (zebra)" in done.stderr
    told, part = json.loads(done.stdout), read_json(folder / "out.json")
    assert part.words == ("w0", "w2", "w3", "w4")
    assert part.states.tolist()[:4] == [0, 2, 3, 4]
    expected = subset(WFA.load(folder / "some.wfa"), part.words, [0, 2, 3, 4], 0.2)
    assert part.weight.tolist() == expected.weight.tolist()
    assert told == {
        "format": "json",
        "kind": "stochastic",
        "words": 4,
        "states": len(expected.states),
        "transitions": len(expected.weight),
        "remark": None,
        "files": [{"file": "out.json", "bytes": (folder / "out.json").stat().st_size}],
    }


def test_top_takes_the_most_frequent_words_and_unknown(folder):
    from wfalens.automaton import WFA

    assert wfalens("export", "some.wfa", "-o", "out.drn", "--top", "2", cwd=folder).returncode == 0
    wfa = WFA.load(folder / "some.wfa")
    words = SymbolTable.from_text((folder / "out.drn.syms").read_text()).words
    counts = dict(zip(wfa.encoder.vocabulary.words, wfa.word_counts, strict=True))
    rest = [counts[word] for word in wfa.encoder.vocabulary.words[2:] if word not in words]
    assert words[0] == "<unk>"
    assert min(counts[word] for word in words[1:]) >= max(rest)


def test_flows_are_as_many_as_asked_for(folder):
    def drawn(*options):
        assert wfalens("export", "some.wfa", "-o", "out.dot", "-f", *options, cwd=folder).returncode == 0
        return (folder / "out.dot").read_text().count(" -> ")

    assert drawn("--flows", "4") == 4
    assert drawn() == 30  # moves between six states
    assert drawn("--flows", "0") == 36


def test_existing_files_are_refused_without_force(folder):
    command = ("export", "some.wfa", "-o", "out.drn")
    assert wfalens(*command, cwd=folder).returncode == 0
    before = (folder / "out.drn").read_bytes()
    again = wfalens(*command, "--top", "1", cwd=folder)
    assert (again.returncode, "out.drn exists; give --force" in again.stderr) == (2, True)
    (folder / "out.drn").unlink()
    beside = wfalens(*command, "--top", "1", cwd=folder)
    assert (beside.returncode, "out.drn.syms exists; give --force" in beside.stderr) == (2, True)
    assert not (folder / "out.drn").exists()
    assert wfalens(*command, "--force", cwd=folder).returncode == 0
    assert (folder / "out.drn").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["some.wfa", "-o", "out.xyz"], "the ending names no export format"),
        (["some.wfa", "-o", "out", "--format", "xml"], "unknown format 'xml'; choose one of"),
        (["some.wfa", "-o", "out.txt", "--format", "openfst"], "OpenFst holds one class; choose one of c0, c1, c2"),
        (
            ["some.wfa", "-o", "out.txt", "--format", "openfst", "--class", "no"],
            "there is no class 'no'; choose one of",
        ),
        (["some.wfa", "-o", "out.drn", "--class", "c0"], "--class belongs to --format openfst, not drn"),
        (["some.wfa", "-o", "out.drn", "--flows", "3"], "--flows belongs to --format dot, not drn"),
        (["some.wfa", "-o", "out.drn", "--words", "zebra"], "'zebra' is not in the automaton's alphabet"),
        (["some.wfa", "-o", "out.drn", "--word-file", "none.txt"], "none.txt: No such file"),
        (["some.wfa", "-o", "out.drn", "--word-file", "bytes.txt"], "bytes.txt: not readable as utf-8"),
        (["some.wfa", "-o", "out.drn", "--states", "1-x"], "--states takes numbers and ranges such as 0,3,7-12"),
        (["some.wfa", "-o", "out.drn", "--states", "77"], "states are numbered from 0 to 5"),
        (["some.wfa", "-o", "out.drn", "--threshold", "2"], "the threshold must lie in [0, 1), not 2.0"),
        (["some.wfa", "-o", "no/out.drn"], "the folder no does not exist"),
        (["none.wfa", "-o", "out.drn"], "none.wfa: no such file"),
        (["bytes.txt", "-o", "out.drn"], "bytes.txt: damaged or not made by wfalens"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(folder, arguments, sentence):
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\xfa")
    done = wfalens("export", *arguments, cwd=folder)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert files(folder) == ["bytes.txt"]


def test_too_many_transitions_are_refused(folder, monkeypatch):
    monkeypatch.setattr(sys.modules["wfalens.export.subset"], "MOST_TRANSITIONS", 100)
    done = wfalens("export", "some.wfa", "-o", "out.drn", cwd=folder)
    assert (done.returncode, "choose fewer words or states, or a threshold" in done.stderr) == (2, True)


def test_a_missing_extra_names_itself(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.delitem(sys.modules, "wfalens.models.onnx.graph_builder", raising=False)
    done = wfalens("export", "some.wfa", "-o", "out.onnx", cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "error: onnx is not installed; install it with: pip install 'wfalens[onnx]'\n",
    )
