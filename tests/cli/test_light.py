"""What the base installation can do without any extra, and what it says about the rest."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.automata import linear_sample, sample
from tests.readable import negation
from wfalens.errors import _EXTRAS, MissingDependencyError, naming_extras

ROOT = Path(__file__).parents[2]
OPTIONAL = [
    *_EXTRAS,
    "fastapi",
    "uvicorn",
    "ray",
    "stormpy",
    "onnx",
    "onnxruntime",
    "transformers",
    "keras",
    "networkx",
]
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))  # importing them fails as if they were not installed
from wfalens.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments):
    return subprocess.run([sys.executable, "-c", WITHOUT, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("kind", ["stochastic", "linear", "readable"])
def test_automata_are_read_and_explained_without_any_extra(tmp_path, kind):
    made = {"stochastic": lambda: sample("fit", 0).wfa, "linear": lambda: linear_sample(0).wfa}
    made.get(kind, lambda: negation().wfa)().save(tmp_path / "some.wfa")
    told = [("describe", ()), ("show", ())] if kind == "readable" else []
    for command, text in [
        ("predict", ("w1",)),
        ("walk", ("w1",)),
        ("explain", ()),
        ("explain", ("--text", "w1")),
        *told,
    ]:
        done = run(command, tmp_path / "some.wfa", *text)
        assert done.returncode == 0, done.stderr
        assert done.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("explain", "some.wfa", "--plot", "words.png"), "plot"),
        (("extract", "some.rnn", "-c", "texts.csv", "-o", "out.wfa"), "extract"),
        (("neighbours", "some.wfa", "w1"), "vectors"),
        (("demo",), "demo"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, arguments, extra):
    monkeypatch.chdir(tmp_path)
    sample("fit", 0).wfa.save("some.wfa")
    Path("texts.csv").write_text("text\nw1 w2\n")
    done = run(*arguments)
    assert done.returncode == 2
    assert f"pip install 'wfalens[{extra}]'" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_every_extra_that_is_named_brings_what_it_promises():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, extra in _EXTRAS.values():
        assert any(each.startswith(package) for each in extras[extra]), package


def test_other_import_errors_stay_what_they_are():
    with pytest.raises(ModuleNotFoundError) as caught, naming_extras():
        import no_such_module_anywhere  # noqa: F401
    assert not isinstance(caught.value, MissingDependencyError)
