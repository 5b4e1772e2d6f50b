"""Options: numbers within bounds become plain Python numbers, everything else is refused by name in one sentence."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from wfalens.errors import InputError
from wfalens.validation import Bounds, check_choice, check_numbers, real, whole

HUGE = pytest.param(-(10**5000), id="huge")
COUNT, SHARE = Bounds(whole, 1, 2000), Bounds(real, 0, 1)
PART = Bounds(real, 0, 1, ("auto", None), excluded=(0, 1))


@pytest.mark.parametrize("given", [3, np.int8(3), np.uint64(3), np.int64(3)])
def test_whole_numbers_of_every_kind_become_plain(given):
    assert type(COUNT.checked("epochs", given)) is int
    assert COUNT.checked("epochs", given) == 3


@pytest.mark.parametrize("given", [1, 0.5, np.float32(0.25), np.float64(1), np.int64(0), Fraction(1, 2), False + 1])
def test_numbers_of_every_kind_become_plain(given):
    assert type(SHARE.checked("alpha", given)) is float
    assert SHARE.checked("alpha", given) == float(given)


@pytest.mark.parametrize("given", [0, -1, 2001, 10**400, HUGE, np.uint64(2**63)])
def test_whole_numbers_out_of_bounds_are_refused(given):
    with pytest.raises(InputError, match=r"^epochs must lie between 1 and 2,000, not \S+") as caught:
        COUNT.checked("epochs", given)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("given", [1.0, np.float64(3), True, np.True_, "3", None, [3], np.array([3]), math.nan])
def test_what_is_no_whole_number_is_refused(given):
    with pytest.raises(InputError, match=r"^epochs must lie between 1 and 2,000 as a whole number, not "):
        COUNT.checked("epochs", given)


@pytest.mark.parametrize(
    "given", [-1e-9, 1.1, math.nan, math.inf, -math.inf, np.float32("nan"), 10**400, -(10**400), True, "x", None, 1j]
)
def test_numbers_out_of_bounds_are_refused(given):
    with pytest.raises(InputError, match=r"^alpha must lie between 0 and 1, not "):
        SHARE.checked("alpha", given)


def test_excluded_ends_and_words_are_told():
    assert [PART.checked("beta", given) for given in (0.5, "auto", None)] == [0.5, "auto", None]
    for given in (0, 1, "corpus", ""):
        with pytest.raises(
            InputError, match=rf"^beta must lie between 0 and 1 \(0 and 1 excluded\) or be 'auto', not {given!r}$"
        ):
            PART.checked("beta", given)


def test_a_frozen_value_keeps_plain_numbers():
    @dataclass(frozen=True)
    class Options:
        epochs: int
        share: float

        def __post_init__(self):
            check_numbers(self, {"epochs": COUNT, "share": SHARE})

    made = Options(np.int32(7), 1)
    assert (type(made.epochs), type(made.share), made) == (int, float, Options(7, 1.0))
    with pytest.raises(InputError, match="share must lie between 0 and 1, not 2"):
        Options(1, 2)


@pytest.mark.parametrize("given", ["magic", None, 3, ["lstm"], HUGE, "x" * 10**5, np.zeros((50, 50))])
def test_a_name_that_cannot_be_chosen_is_refused(given):
    check_choice("cell", "lstm", ("lstm", "gru"))
    with pytest.raises(InputError, match=r"^unknown cell .*; choose one of lstm, gru$") as caught:
        check_choice("cell", given, ("lstm", "gru"))
    assert len(str(caught.value)) < 150
