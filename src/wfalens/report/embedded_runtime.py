"""An automaton small enough to embed in a page, so that readers can type: the exported runtime with common words."""

from __future__ import annotations

from typing import Any

import numpy as np

from wfalens.automaton.linear import LinearWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.export.runtime.fixed_point import make_tables
from wfalens.export.runtime.source_files import to_dict
from wfalens.text.vocabulary import UNKNOWN

_MOST_BYTES = 2_400_000  # before they are written as text, which takes a third more


def embedded_runtime(wfa: WFA, most_bytes: int = _MOST_BYTES) -> dict[str, Any]:
    """As many of the most common words as fit; all others read as `<unk>`. The runtime in the page reads it."""
    common = np.argsort(-wfa.word_counts[UNKNOWN + 1 :], kind="stable") + UNKNOWN + 1
    ids = np.array(common[wfa.word_counts[common] > 0], np.int32)
    tables = make_tables(wfa, ids, 16 if isinstance(wfa, LinearWFA) else 8, most_bytes, for_page=True)
    if tables is None:
        raise InputError("the automaton is too large for a page", code="not-embeddable")
    tokens = max(1, int(wfa.word_counts[UNKNOWN + 1 :].sum()))
    words = wfa.encoder.vocabulary.decode(tables.ids)
    return {
        "tables": to_dict(tables),
        "counts": dict(zip(words, wfa.word_counts[tables.ids].tolist(), strict=True)),
        "words": len(words),
        "share": round(float(wfa.word_counts[tables.ids].sum() / tokens), 4),
    }
