"""Every public name says what its arguments are, and has an example that runs."""

import doctest
import inspect
import os
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

import wfalens
import wfalens.models
from tests.methods import quicken_teachers
from wfalens.models import adapter_registry

os.environ.setdefault("KERAS_BACKEND", "torch")
REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "api.md"
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


def shown_methods() -> dict[str, object]:
    """The methods and properties of classes that the reference shows, by full name."""
    parts = re.split(r"^::: (\S+)", REFERENCE.read_text(), flags=re.MULTILINE)[1:]
    found = {}
    for path, about in zip(parts[::2], parts[1::2], strict=True):
        thing = _resolved(path)
        if not inspect.isclass(thing):
            continue
        listed = re.search(r"members: \[(.*?)\]", about, re.DOTALL)
        names = re.split(r",\s+", listed[1]) if listed else [name for name in vars(thing) if not name.startswith("_")]
        methods = {f"{path}.{name}": inspect.getattr_static(thing, name) for name in names if name}
        found |= {name: method for name, method in methods.items() if _plain(method)}
    return found


def _plain(member: object) -> object:
    """The function behind a method or property; None for anything else."""
    inner = getattr(member, "__func__", None) or getattr(member, "fget", None) or getattr(member, "func", None)
    member = inner or member
    return member if inspect.isfunction(member) else None


PUBLIC = public()
METHODS = {name: _plain(member) for name, member in shown_methods().items()}
CONTRACTS = {name for name in METHODS if name.startswith("wfalens.models.contract.")}  # nothing to run


@pytest.fixture(scope="module")
def shared():
    """The lines that the reference says its examples share; teachers of readable automata are trained little."""
    (block,) = re.findall(r"```python\n(.*?)```", REFERENCE.read_text(), re.DOTALL)
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        quicken_teachers(patch)
        exec(block, names)  # noqa: S102 - our own text
        yield names


@pytest.mark.parametrize("name", sorted({*PUBLIC, *METHODS} - CONTRACTS))
def test_the_example_of_a_public_name_runs(name, shared, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(adapter_registry, "_ADAPTERS", [*adapter_registry._ADAPTERS])  # an example adds one
    for package in ("keras", "transformers"):
        if package.rstrip("s") in name.rsplit(".", 1)[1]:
            pytest.importorskip(package)
    known = {each.__name__: each for each in PUBLIC.values() if name not in PUBLIC}  # a method's own class, and others
    told_of = inspect.getdoc({**PUBLIC, **METHODS}[name]) or ""
    examples = doctest.DocTestParser().get_doctest(told_of, {**known, **shared}, name, None, None)
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
    if is_dataclass(thing):  # options explain themselves
        explained |= {each.name for each in fields(thing) if each.metadata.get("help")}
    parameters = set(inspect.signature(thing).parameters) if callable(thing) else set()
    assert parameters <= explained, f"{name} does not explain {', '.join(sorted(parameters - explained))}"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_argument_of_a_shown_method_is_explained(name):
    method = METHODS[name]
    explained = set(re.findall(r"^    (\w+): ", (inspect.getdoc(method) or "").partition("Args:")[2], re.MULTILINE))
    wanted = set(inspect.signature(method).parameters) - {"self", "cls"}
    assert inspect.getdoc(method), f"{name} has no docstring"
    assert wanted <= explained, f"{name} does not explain {', '.join(sorted(wanted - explained))}"


def test_every_public_name_is_in_the_reference():
    shown = {path.rsplit(".", 1)[1] for path in SHOWN}
    assert set(wfalens.__all__) <= shown
