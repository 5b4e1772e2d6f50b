"""Settings: TOML files and KEY=VALUE, checked against the options that a command has."""

from dataclasses import dataclass

import pytest

from wfalens.cli.config import Common, Reading, read_settings
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole


@dataclass(frozen=True)
class Example(Options):
    share: float | str = option(0.5, "A share.", Bounds(real, 0, 1, ("auto",)))
    number: int = option(3, "A number.", Bounds(whole, 1, 10))
    names: tuple[str, ...] = option((), "Names.")
    loud: bool = option(False, "A flag.")


SECTIONS = {"common": Common, "texts": Reading, "check": Example}


def test_values_have_the_types_of_their_fields():
    found = read_settings(["check.share=auto", "number=4", "names=a,b", "loud=true", "text_column=5"], SECTIONS)
    assert (found.check.share, found.check.number, found.check.names, found.check.loud) == ("auto", 4, ("a", "b"), True)
    assert found.texts.text_column == "5"
    assert found.given("check") == {"share": "auto", "number": 4, "names": ("a", "b"), "loud": True}


def test_a_file_has_sections_and_what_comes_later_counts(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("seed = 7\n[texts]\ntext_column = 'body'\n[attack]\nweak = 'q0.1'\n[check]\nnumber = 2\n")
    found = read_settings([str(file), "number=5"], SECTIONS)
    assert (found.common.seed, found.texts.text_column, found.check.number) == (7, "body", 5)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ("numbr=4", "config-key"),
        ("check.nothing=4", "config-key"),
        ("number=11", "option-value"),
        ("none.toml", "config-file"),
    ],
)
def test_what_is_wrong_is_refused_by_its_code(spec, code):
    with pytest.raises(InputError) as error:
        read_settings([spec], SECTIONS)
    assert error.value.code == code


@pytest.mark.parametrize(("text", "code"), [("x = ", "config-file"), ("[nothing]\na = 1\n", "config-key")])
def test_a_file_that_is_wrong_is_refused(tmp_path, text, code):
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(InputError) as error:
        read_settings([str(tmp_path / "settings.toml")], SECTIONS)
    assert error.value.code == code
