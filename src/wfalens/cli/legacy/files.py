"""The files that a command writes: refused before the work where they could not be written after it."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.legacy.output import note
from wfalens.errors import InputError
from wfalens.storage import check_writable, write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

_PLOTS = (".png", ".pdf", ".svg")


def check_outputs(*paths: Path | None, force: bool = False) -> None:
    """Refuse files that exist, unless `force` is given, and files that cannot be written; None is no file."""
    given = [path for path in paths if path is not None]
    for at, path in enumerate(given):
        if path in given[:at]:
            raise InputError(f"{path} is given for two outputs")
        _check_output(path, force)


def check_plot(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in _PLOTS:
        raise InputError(f"{path}: a plot must end in {', '.join(_PLOTS)}")


def check_folder(path: Path) -> None:
    """Make a folder for outputs, and refuse one that cannot be written into."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path}: {error.strerror or error}") from None
    check_writable(path / "file")


def write_html(path: Path | None, title: str, *parts: str) -> None:
    """Write a page around parts that are HTML already; None writes nothing."""
    from wfalens.html import page_html

    if path is not None:
        _write(path, page_html(title, parts).encode("utf-8", "replace"))


def write_plot(path: Path | None, draw: Callable[[], Figure]) -> None:
    """Draw into a file, whose ending decides the format; None draws nothing."""
    if path is not None:
        blob = BytesIO()
        draw().savefig(blob, format=path.suffix[1:].lower(), dpi=150)
        _write(path, blob.getvalue())


def write_csv(path: Path | None, table: Callable[[], DataFrame]) -> None:
    """Write a table; None writes nothing."""
    if path is not None:
        _write(path, table().to_csv(index=False).encode("utf-8", "replace"))


def _write(path: Path, blob: bytes) -> None:
    write_atomically(path, blob)
    note(f"wrote {path}")


def _check_output(path: Path, force: bool) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no regular file; give another name")
    if path.exists() and not force:
        raise InputError(f"{path} exists; give --force to overwrite it")
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(f"{path.parent} is not a folder")
    if not path.parent.exists():
        raise InputError(f"the folder {path.parent} does not exist")
    check_writable(path)
