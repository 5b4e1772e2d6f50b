"""What can go wrong at the border: each error is one sentence that says what to do."""

from __future__ import annotations


class WfalensError(Exception):
    """Base of all errors that a user can mend; the command line prints them without a traceback."""


class InputError(WfalensError, ValueError):
    """Text, options or arrays that cannot be used as given."""


class FormatError(WfalensError, ValueError):
    """A file that is not what it claims to be, or is damaged."""


class ModelError(WfalensError, ValueError):
    """A model whose answers break the contract of a stepwise classifier."""


class MissingDependencyError(WfalensError, ImportError):
    """An optional package that this action needs."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'wfalens[{extra}]'")
