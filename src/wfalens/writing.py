"""Output files: written atomically, and refused before the work where that would fail after it."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

from wfalens.errors import InputError


def write_atomically(path: Path, blob: bytes) -> None:
    """Write to a temporary name beside `path`, then rename: a reader sees the old file or the new one."""
    remove_abandoned(path)
    temporary = _temporary(path)
    try:
        with temporary.open("xb") as stream:
            stream.write(blob)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        _removed(temporary)


def check_writable(path: Path) -> None:
    """Refuse a file that `write_atomically` could not write: its temporary file is made, and removed again."""
    temporary = _temporary(path)
    try:
        temporary.open("xb").close()
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        _removed(temporary)


def remove_abandoned(path: Path) -> None:
    """Remove the temporary files of `path` that processes of this machine left behind when they were killed."""
    ours = re.compile(rf"\.{re.escape(path.name)}\.{_machine()}-(\d+)\.[0-9a-f]+\.part")
    with suppress(OSError), os.scandir(path.parent) as entries:  # a folder that cannot be read: writing tells
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found and not _is_alive(int(found[1])):
                _removed(Path(entry.path))


def _temporary(path: Path) -> Path:
    """A name that tells its writer: only files of dead processes may be removed, and only by their own machine."""
    return path.with_name(f".{path.name}.{_machine()}-{os.getpid()}.{secrets.token_hex(4)}.part")


@cache
def _machine() -> str:
    from platform import node

    return sha256(node().encode("utf-8", "replace")).hexdigest()[:8]


def _is_alive(process: int) -> bool:
    if os.name != "posix":  # elsewhere asking with signal 0 would end the process
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # it belongs to somebody else
    return True


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)


def _refused(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
