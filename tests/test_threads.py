"""Dealing out work to threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wfalens.errors import InputError
from wfalens.threads import in_parallel, thread_count, work_alone


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("items", [0, 1, 3, 100])
def test_every_item_is_done_once(monkeypatch, threads, items):
    monkeypatch.setenv("WFALENS_THREADS", str(threads))
    done = np.zeros(items, int)

    def work(start, stop):
        done[start:stop] += 1

    in_parallel(work, np.arange(items + 1) * 10, 1)
    assert done.tolist() == [1] * items


def test_a_worker_uses_no_other_thread(monkeypatch):
    monkeypatch.setenv("WFALENS_THREADS", "5")
    with ThreadPoolExecutor(1, initializer=work_alone) as pool:
        assert pool.submit(thread_count).result() == 1
    assert thread_count() == 5


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setenv("WFALENS_THREADS", "2")

    def work(start, stop):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        in_parallel(work, np.arange(101), 1)


@pytest.mark.parametrize("value", ["0", "-2", "many", "²"])
def test_bad_number_of_threads_is_refused(monkeypatch, value):
    monkeypatch.setenv("WFALENS_THREADS", value)
    with pytest.raises(InputError, match="positive number"):
        thread_count()
