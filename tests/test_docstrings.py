"""Every public name says what its arguments are, and has an example that runs."""

import doctest
import inspect
import re
from pathlib import Path

import pytest

import wfalens
import wfalens.models

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "api.md"
SHOWN = re.findall(r"^::: (\S+)", REFERENCE.read_text(), re.MULTILINE)
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def public() -> dict[str, object]:
    """What can be imported from `wfalens` and `wfalens.models`, and what the reference shows, by full name."""
    found = [getattr(package, name) for package in (wfalens, wfalens.models) for name in package.__all__]
    found += [_resolved(path) for path in SHOWN]
    return {f"{each.__module__}.{each.__qualname__}": each for each in found if inspect.getdoc(each) is not None}


def _resolved(path: str) -> object:
    module, name = path.rsplit(".", 1)
    return getattr(__import__(module, fromlist=[name]), name)


PUBLIC = public()


@pytest.fixture(scope="module")
def shared():
    """The lines that the reference says its examples share."""
    (block,) = re.findall(r"```python\n(.*?)```", REFERENCE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102 - our own text
    return names


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_the_example_of_a_public_name_runs(name, shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(PUBLIC[name]), dict(shared), name, None, None)
    assert examples.examples, f"{name} has no example"
    told: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=told.append)
    assert not told, "".join(told)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_argument_of_a_public_name_is_explained(name):
    thing = PUBLIC[name]
    if getattr(thing, "_is_protocol", False):
        return
    explained = set(re.findall(r"^    (\w+): ", inspect.getdoc(thing).partition("Args:")[2], re.MULTILINE))
    wanted = set(inspect.signature(thing).parameters) if callable(thing) else set()
    assert wanted <= explained, f"{name} does not explain {', '.join(sorted(wanted - explained))}"


def test_every_public_name_is_in_the_reference():
    shown = {path.rsplit(".", 1)[1] for path in SHOWN}
    assert set(wfalens.__all__) <= shown
