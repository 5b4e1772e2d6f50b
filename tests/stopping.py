"""Runs over files that are stopped on the way."""

from contextlib import contextmanager

import pytest

from wfalens.scale.checkpoints import Checkpoints


class StoppedError(Exception):
    pass


@contextmanager
def stopping_after(kind, number):
    """A run that is stopped when so many blocks of a kind are kept."""
    left, write = [number], Checkpoints.write

    def written(self, name, *content):
        write(self, name, *content)
        left[0] -= name.startswith(kind)
        if left[0] == 0:
            raise StoppedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Checkpoints, "write", written)
        with pytest.raises(StoppedError):
            yield
