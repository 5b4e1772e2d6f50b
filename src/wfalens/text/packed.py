"""Many texts as one run of bytes: a Python string is made only of those that somebody looks at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from wfalens.ragged import Ragged, offsets_of


@dataclass(frozen=True, slots=True, eq=False)
class PackedTexts(Sequence[str]):
    """A list of texts for its readers; text `i` is UTF-8 (lone surrogates may pass, as in Python)."""

    content: Ragged[np.uint8]

    @classmethod
    def of(cls, texts: Sequence[str]) -> PackedTexts:
        joined = "".join(texts)
        if joined.isascii():
            sizes = np.fromiter(map(len, texts), np.int64, len(texts))
            return cls(Ragged(np.frombuffer(joined.encode("ascii"), np.uint8), offsets_of(sizes)))
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(Ragged(np.frombuffer(b"".join(encoded), np.uint8), offsets_of(sizes)))

    def __len__(self) -> int:
        return len(self.content)

    @overload
    def __getitem__(self, item: int) -> str: ...

    @overload
    def __getitem__(self, item: slice) -> list[str]: ...

    def __getitem__(self, item: int | slice) -> str | list[str]:
        if isinstance(item, slice):
            return [self[one] for one in range(*item.indices(len(self)))]
        return self.content[item].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        blob, bounds = self.content.values.tobytes(), pairwise(self.content.offsets.tolist())
        if blob.isascii():
            whole = blob.decode("ascii")
            return (whole[first:behind] for first, behind in bounds)
        return (blob[first:behind].decode("utf-8", "surrogatepass") for first, behind in bounds)

    def take(self, items: NDArray[np.int64]) -> PackedTexts:
        return PackedTexts(self.content.take(items))

    def between(self, first: int, behind: int) -> PackedTexts:
        """Neighbouring texts; nothing is copied."""
        return PackedTexts(self.content.between(first, behind))

    def is_ascii(self) -> NDArray[np.bool_]:
        # -> (texts,)
        values, offsets = self.content.values, self.content.offsets
        if values.max(initial=0) < 128:
            return np.ones(len(self), bool)
        foreign = offsets_of((values >= 128).astype(np.int64))
        plain: NDArray[np.bool_] = foreign[offsets[1:]] == foreign[offsets[:-1]]
        return plain
