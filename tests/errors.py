"""Errors by their codes: sentences may be reworded, codes stay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from wfalens.errors import WfalensError


@contextmanager
def raises(
    code: str, kind: type[WfalensError] = WfalensError, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[WfalensError]]:
    """Expect an error with a code; `match` is for what a sentence must name, not for its wording."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert caught.value.code == code, str(caught.value)
