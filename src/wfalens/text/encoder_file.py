"""An encoder in a file of tensors: the words travel as one run of UTF-8 bytes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import WfalensError
from wfalens.ragged import Ragged, offsets_of
from wfalens.storage import StoredFile, Tensors, compact
from wfalens.text.encoder import RIGHT, TextEncoder
from wfalens.text.tokenizers import CUSTOM, Tokenizer, stored_tokenizer
from wfalens.text.vocabulary import Vocabulary


def store_encoder(encoder: TextEncoder) -> tuple[dict[str, Any], Tensors]:
    """Header entries and tensors of an encoder."""
    spelled = encoder.vocabulary.packed.content
    return encoder.told, {"alphabet_bytes": spelled.values, "alphabet_lengths": compact(spelled.lengths)}


def restore_encoder(file: StoredFile, tokenizer: Tokenizer | None = None) -> TextEncoder:
    """The stored encoder; a given tokenizer takes the place of a stored "custom" one."""
    values = file.tensor("alphabet_bytes", "u")
    limit, stored = file.header.get("max_length"), file.field("tokenizer", str)
    side, closed = file.header.get("cutting_side", RIGHT), file.header.get("closed", False)
    if not isinstance(closed, bool):
        raise file.fail("whether its alphabet is closed is not told by true or false")
    if values.dtype != np.uint8:
        raise file.fail("its words are not bytes")
    try:
        spelled = Ragged(values, _offsets(file))
        blob, places = spelled.values.tobytes(), spelled.offsets.tolist()
        words = [blob[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(places)]
        known = tokenizer if tokenizer and stored == CUSTOM else stored_tokenizer(stored)
        return TextEncoder(Vocabulary(words), known, limit, side, closed)
    except (WfalensError, UnicodeDecodeError) as error:
        raise file.fail(str(error)) from None


def _offsets(file: StoredFile) -> NDArray[np.int64]:
    """Where the words begin; files of earlier versions hold just that in place of the words' lengths."""
    if "alphabet_offsets" in file.tensors:
        return file.tensor("alphabet_offsets", "i").astype(np.int64)
    return offsets_of(file.tensor("alphabet_lengths", "u").astype(np.int64))
