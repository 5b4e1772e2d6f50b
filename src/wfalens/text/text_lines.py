"""The lines of a text file, gzipped or not, in any encoding, from any place on."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from wfalens.errors import InputError
from wfalens.messages import reason_of

LONGEST = 1 << 26  # characters of a line or a value: what is longer is no text, and would fill the memory
MARK = "wfalens.mark"  # how wrong bytes are decoded: into characters that are none
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 16  # bytes that are read at a time
_SHIFTING = ("utf-7", "hz", "iso2022")  # encodings in which a line may depend on the lines before it

Line = bytes | str


class EndlessLineError(Exception):
    """A line that is too long to be held."""

    def __init__(self) -> None:
        super().__init__(f"a line of more than {LONGEST >> 20} MB")


UNREADABLE = (gzip.BadGzipFile, EOFError, zlib.error, UnicodeError, EndlessLineError)


def known_encoding(encoding: str) -> str:
    """An encoding by its usual name; a byte order mark is no part of the text in any of them."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        raise InputError(reason_of(error)) from None
    return name.removesuffix("-sig")


def _has_plain_lines(encoding: str) -> bool:
    """Whether bytes in an encoding can be cut into lines before they are decoded."""
    try:
        return "\r\n".encode(encoding) == b"\r\n" and not encoding.startswith(_SHIFTING)
    except UnicodeError:
        return False


class TextLines:
    """The lines of a text file with their line ends: \\n, \\r\\n or \\r.

    Lines are bytes, and offsets count bytes, where lines can be told before they are decoded. Else the file is decoded
    from its start, lines are texts and offsets count characters. `start` is the offset behind a byte order mark.
    """

    def __init__(self, path: Path, encoding: str) -> None:
        self.path, self.encoding = path, encoding
        with path.open("rb") as handle:
            self.is_gzip = path.suffix.lower() == ".gz" or handle.read(2) == _GZIP
        self.is_plain = _has_plain_lines(encoding)
        with self._opened() as handle:
            self.start = self._mark(handle)

    @property
    def divisible(self) -> bool:
        return self.is_plain and not self.is_gzip

    def read(self, offset: int) -> Iterator[Line]:
        """The lines from an offset on."""
        with self._opened() as handle:
            yield from self._plain(handle, offset) if self.is_plain else self._decoded(handle, offset)

    def _opened(self) -> IO[bytes]:
        return gzip.open(self.path, "rb") if self.is_gzip else self.path.open("rb")  # type: ignore[return-value]

    def _mark(self, handle: IO[bytes]) -> int:
        """The size of the byte order mark."""
        if not self.is_plain:
            return int(self._wrapped(handle).read(1) == "\ufeff")
        return len(codecs.BOM_UTF8) if self.encoding == "utf-8" and handle.read(3) == codecs.BOM_UTF8 else 0

    def _wrapped(self, handle: IO[bytes]) -> io.TextIOWrapper:
        return io.TextIOWrapper(handle, self.encoding, newline="")

    def _plain(self, handle: IO[bytes], offset: int) -> Iterator[bytes]:
        if self.is_gzip:
            return _split(_skipped(_chunks(handle), offset))
        handle.seek(offset)
        return _split(_chunks(handle))

    def _decoded(self, handle: IO[bytes], offset: int) -> Iterator[str]:
        """Everything is decoded from the start, so that damage hides the same lines wherever reading begins."""
        lines = self._wrapped(handle)
        passed = len(lines.read(self.start))
        for line in iter(lambda: lines.readline(LONGEST), ""):
            if len(line) >= LONGEST:
                raise EndlessLineError
            if passed >= offset:
                yield line
            passed += len(line)


def _chunks(handle: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: handle.read1(_CHUNK), b"")  # type: ignore[attr-defined]


def _skipped(chunks: Iterable[bytes], offset: int) -> Iterator[bytes]:
    """Chunks without their first bytes; an archive is always read from its start, in the same steps."""
    for chunk in chunks:
        if offset < len(chunk):
            yield chunk[offset:]
        offset = max(0, offset - len(chunk))


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their ends."""
    held: list[bytes] = []  # of the line that is not complete
    for chunk in chunks:
        if b"\n" not in chunk and b"\r" not in chunk and not (held and held[-1].endswith(b"\r")):
            held.append(chunk)
            if sum(map(len, held)) > LONGEST:
                raise EndlessLineError
            continue
        lines = b"".join([*held, chunk]).splitlines(keepends=True)
        held = [] if lines[-1].endswith(b"\n") else [lines.pop()]  # after \r, \n may follow
        yield from lines
    yield from b"".join(held).splitlines(keepends=True)


def _marking(error: UnicodeError) -> tuple[str, int]:
    """Bytes that are not text become characters that are none, so that the rest of a line can be read."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(MARK, _marking)
