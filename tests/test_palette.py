"""The colours of classes: told apart by every kind of colour vision, seen on the page, and like nothing else there."""

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest

from wfalens import palette

# what people see who lack one kind of cones (Machado, Oliveira and Fernandes, 2009), in linear RGB
VISION = {
    "usual": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_CONES = [[0.4122215, 0.5363325, 0.051446], [0.2119035, 0.6806995, 0.107397], [0.0883025, 0.2817188, 0.6299787]]
TO_OKLAB = [[0.2104543, 0.793618, -0.004072], [1.9779985, -2.428592, 0.4505937], [0.025904, 0.7827718, -0.8086758]]
STYLE = (files("wfalens.report") / "static" / "page.css").read_text()
THEMES = {"light": palette.LIGHT, "dark": palette.DARK}
LEAST_APART = 0.08  # in OKLab; 0.02 is a difference that can just be seen


def linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def seen(colour, vision):
    """The colour in OKLab, in which distances are as large as they look."""
    light = np.clip(np.array(VISION[vision]) @ linear(colour), 0, 1)
    return np.array(TO_OKLAB) @ np.cbrt(np.array(TO_CONES) @ light)


def contrast(one, other):
    bright, dim = sorted((float(linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (one, other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def variable(name, theme):
    """A colour of the page's style."""
    light, dark = re.search(rf"--{name}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\)", STYLE).groups()
    return light if theme == "light" else dark


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", THEMES)
def test_eight_classes_are_told_apart(theme, vision):
    for one, other in combinations(THEMES[theme], 2):
        assert np.linalg.norm(seen(one, vision) - seen(other, vision)) > LEAST_APART, (one, other)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("theme", THEMES)
def test_no_class_looks_like_what_speaks_against_or_for_none(theme, vision):
    grey = variable("against", theme)
    for colour in THEMES[theme]:
        assert np.linalg.norm(seen(colour, vision) - seen(grey, vision)) > 0.05, colour


@pytest.mark.parametrize("theme", THEMES)
def test_every_class_is_seen_on_the_page(theme):
    for colour in THEMES[theme]:
        assert contrast(colour, variable("panel", theme)) >= 3, colour


@pytest.mark.parametrize("colours", [palette.COLOURS, palette.DARK_COLOURS])
def test_more_than_ten_classes_have_colours_of_their_own(colours):
    assert len(set(colours)) == len(colours) == 24
    for one, other in combinations(colours, 2):
        assert np.linalg.norm(seen(one, "usual") - seen(other, "usual")) > 0.02, (one, other)


def test_diagrams_and_pages_share_the_colours():
    style = palette.as_style()
    for at, (light, dark) in enumerate(zip(palette.COLOURS, palette.DARK_COLOURS, strict=True)):
        assert f"--class-{at}:light-dark({light},{dark});" in style
    assert "--class-0" not in STYLE  # the one place is palette.py


def test_a_mix_lies_between():
    assert palette.mixed("#000000", 0.5) == "#808080"
    assert palette.mixed("#ff0000", 1) == "#ff0000"
    assert palette.mixed("#ff0000", 0, "#0000ff") == "#0000ff"
