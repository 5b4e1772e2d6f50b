"""What is imported: nothing heavy for quick commands, and what the base installation does without any extra."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.automata import linear_sample, sample
from tests.readable import negation
from wfalens.cli.app import PHASES
from wfalens.errors import _EXTRAS, MissingDependencyError, naming_extras

ROOT = Path(__file__).parents[2]
HEAVY = {"sklearn", "pandas", "torch", "pyarrow", "matplotlib"}
MORE = ["fastapi", "uvicorn", "ray", "stormpy", "onnx", "onnxruntime", "transformers", "keras", "networkx"]
LOADED = """
import json, sys
from wfalens.cli.main import main
code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
# all in one process: what one command loads, the next ones have
EVERY_HELP = """
import io, json, sys
from contextlib import redirect_stdout
from wfalens.cli.main import main
with redirect_stdout(io.StringIO()):
    loaded = {name: (main([*name.split(), "--help"]), sorted(sys.modules)) for name in sys.argv[1:]}
print(json.dumps(loaded))
"""
WITHOUT = f"""
import shlex, sys
sys.modules.update(dict.fromkeys({[*_EXTRAS, *MORE]}))  # importing them fails as if they were not installed
from wfalens.cli.main import main
for line in sys.argv[1:]:
    code = main(shlex.split(line))
    if code:
        sys.exit(code)
"""


def python(script, *arguments, cwd=None):
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def modules_of(*arguments):
    code, names = json.loads(python(LOADED, *arguments).stderr.splitlines()[-1])
    assert code == 0
    return set(names)


def tops(names):
    return {name.partition(".")[0] for name in names}


def test_help_loads_no_library_that_computes():
    """But for `extract`, whose methods and completion rules register themselves where they are written."""
    commands = [[name] for phase in PHASES.values() for name in phase if name != "extract"]
    given = [*(["explain", form] for form in ("text", "words")), ["monitor", "watch"], ["monitor", "detect"]]
    given += [["verify", "certify"], ["verify", "check"], ["repair", "apply"], ["extract"]]
    loaded = json.loads(python(EVERY_HELP, *(" ".join(each) for each in [[], *commands, *given])).stdout)
    assert loaded.keys() >= {"", "demo", "monitor watch", "extract"}
    for name, (code, modules) in loaded.items():
        assert code == 0, name
        assert not tops(modules) & {*HEAVY, *(() if name == "extract" else ("scipy", "numba", "numpy"))}, name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stochastic", "linear"])
def test_an_automaton_is_used_without_the_heavy_libraries(tmp_path, kind):
    (sample("fit", 0) if kind == "stochastic" else linear_sample(0)).wfa.save(tmp_path / "some.wfa")
    for trace in ((), ("--trace",)):
        assert not tops(modules_of("predict", tmp_path / "some.wfa", "w1 w2", *trace)) & HEAVY


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["stochastic", "linear", "readable"])
def test_automata_are_read_and_explained_without_any_extra(tmp_path, kind):
    made = {"stochastic": lambda: sample("fit", 0).wfa, "linear": lambda: linear_sample(0).wfa}
    made.get(kind, lambda: negation().wfa)().save(tmp_path / "some.wfa")
    lines = ["predict some.wfa w1", "predict some.wfa w1 --trace", "explain words some.wfa -C min_count=1"]
    lines += ["explain text some.wfa w1"] if kind != "readable" else ["show some.wfa"]
    done = python(WITHOUT, *lines, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("explain words some.wfa -C min_count=1 -o words.png", "plot"),
        ("extract some.rnn -c texts.csv -o out.wfa", "extract"),
        ("explain neighbours some.wfa w1", "vectors"),
        ("demo", "demo"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, line, extra):
    sample("fit", 0).wfa.save(tmp_path / "some.wfa")
    (tmp_path / "texts.csv").write_text("text\nw1 w2\n")
    done = python(WITHOUT, line, cwd=tmp_path)
    assert done.returncode == 2
    assert f"pip install 'wfalens[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_every_extra_that_is_named_brings_what_it_promises():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package, extra in _EXTRAS.values():
        assert any(each.startswith(package) for each in extras[extra]), package


def test_other_import_errors_stay_what_they_are():
    with pytest.raises(ModuleNotFoundError) as caught, naming_extras():
        import no_such_module_anywhere  # noqa: F401
    assert not isinstance(caught.value, MissingDependencyError)
