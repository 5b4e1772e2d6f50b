"""Sorted runs in files: places and stretches are those of the arrays that were written."""

import numpy as np
import pytest
from wfalens.extraction.counts.assembly import StoredRun

from wfalens.errors import FormatError
from wfalens.storage import SlicedFile, compact, write_file


def stored(path, keys, counts):
    write_file(path, "part", 1, {}, {"keys": keys, "counts": counts})
    return StoredRun(SlicedFile(path), "")


@pytest.mark.parametrize("most", [50, 10**4, 10**12])
@pytest.mark.parametrize("size", [0, 1, 7, 64, 65, 1000])
def test_keys_are_found_where_they_stand(tmp_path, monkeypatch, size, most):
    monkeypatch.setattr("wfalens.extraction.counts.assembly._WINDOW", 8)
    rng = np.random.default_rng(size)
    keys = np.unique(rng.integers(0, most, size))
    run = stored(tmp_path / "a", compact(keys), compact(rng.integers(1, 300, len(keys))))
    wanted = [0, *sorted(rng.integers(0, most, 30).tolist()), *keys[:5].tolist(), most, 10**18]
    np.testing.assert_array_equal(run.starts(wanted), np.searchsorted(keys, wanted))
    places = rng.integers(0, max(1, len(keys)), 20 if len(keys) else 0)
    np.testing.assert_array_equal(run.keys_at(places), keys[places])


def test_stretches_are_widened_as_they_are_read(tmp_path):
    keys, counts = np.arange(0, 400, 2), np.arange(1, 201)
    run = stored(tmp_path / "a", compact(keys), compact(counts))
    for first, size in ((0, 200), (13, 50), (199, 1), (200, 0), (0, 0)):
        into = np.empty(size, np.int64), np.empty(size, np.int64)
        run.read(first, *into)
        np.testing.assert_array_equal(into[0], keys[first : first + size])
        np.testing.assert_array_equal(into[1], counts[first : first + size])


def test_runs_that_are_no_whole_numbers_are_refused(tmp_path):
    with pytest.raises(FormatError, match="'keys' is missing or is no list of whole numbers"):
        len(stored(tmp_path / "a", np.zeros(3), np.ones(3, np.int64)))
