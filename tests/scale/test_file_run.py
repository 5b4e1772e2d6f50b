"""How files are read: options, and which engine fits into memory."""

import pytest

from tests.errors import raises
from wfalens.memory import resident
from wfalens.scale.file_run import chosen_engine
from wfalens.scale.run_config import RunConfig


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"engine": "spark"}, "option-value"),
        ({"workers": 0}, "option-value"),
        ({"on_error": "ignore"}, "option-value"),
        ({"memory": 0}, "option-value"),
        ({"engine": "threads", "address": "auto"}, "option-conflict"),
    ],
)
def test_bad_options_are_refused(options, code):
    with raises(code):
        RunConfig(**options)


def test_sizes_may_be_written_with_units():
    assert (RunConfig(memory="2GB").memory, RunConfig(block_bytes="16MB").block_bytes) == (2 * 10**9, 16 * 10**6)


def test_workers_become_threads_where_memory_does_not_hold_a_model_for_each():
    here = resident()

    def chosen(workers, memory=None):
        return chosen_engine(RunConfig(engine="local", workers=workers), memory)

    assert chosen(1) == ("serial", 1)
    assert chosen(2, here + 10**8) == ("threads", 2)
    assert chosen(2, 100 * here + 10**10) == ("processes", 2)
    assert chosen(16, 5 * here + 10**9)[1] < 16
    assert chosen_engine(RunConfig(), None) == ("serial", 1)
