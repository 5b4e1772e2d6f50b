"""From a corpus in memory to the word ids of its texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wfalens.corpus.corpus import Corpus
from wfalens.corpus.encoder import TextEncoder
from wfalens.errors import InputError
from wfalens.progress import Progress
from wfalens.ragged import Ragged


def read_texts(
    encoder: TextEncoder, corpus: Corpus | Sequence[str] | Ragged[np.int32], progress: Progress
) -> tuple[Ragged[np.int32], str]:
    """Word ids of the texts that have words, and the corpus' name."""
    if isinstance(corpus, Ragged):
        ids, name = encoder.checked(corpus), "ids"
    else:
        texts, name = (corpus.texts, corpus.name) if isinstance(corpus, Corpus) else (corpus, "texts")
        ids = encoder.encode(texts)
        cut = int(np.sum(ids.lengths == encoder.max_length)) and encoder.count_cut(texts)
        if cut:
            progress.say(f"{cut} of {len(texts)} texts were cut after {encoder.max_length} tokens")
    worded = np.flatnonzero(ids.lengths)
    if len(worded) == 0:
        raise InputError("there is no text with a word in it to extract from")
    return ids if len(worded) == len(ids) else ids.take(worded), name
