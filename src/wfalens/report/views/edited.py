"""Edits of a text of characters that turn a reader to another class; each of them is a text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.models.inference import final_outputs
from wfalens.ragged import Ragged, concatenate
from wfalens.report.study import Study
from wfalens.text.character_edits import Edit, edited_texts

_TRIED = 400  # edits that the network reads at most
_SHOWN = 60


def edit_flips(study: Study, text: str) -> dict[str, Any]:
    """All single edits are read by the automaton, those that hurt its class most by the network; the surest first."""
    wfa, own = study.wfa, study.wfa.ids([text])
    found = edited_texts(wfa.encoder, text)
    outputs = wfa.predict_proba(concatenate([own, found.ids]))
    before = {"automaton": int(outputs[0].argmax())}
    order = np.argsort(outputs[1:, before["automaton"]], kind="stable")[:_TRIED]
    said = _network(study, concatenate([own, found.ids.take(order)]))
    readers = {"automaton": outputs[1:][order]}
    if said is not None:
        readers["network"] = said[1:]
        before["network"] = int(said[0].argmax())
    turned = np.any([rows.argmax(1) != before[name] for name, rows in readers.items()], axis=0)
    return {
        "text": text,
        "before": before,
        "tried": {"edits": len(found), "changes": len(order)},
        "edits": [
            _as_json(found.edits[int(order[at])], {name: rows[at] for name, rows in readers.items()})
            for at in np.flatnonzero(turned)[:_SHOWN]
        ],
    }


def _as_json(edit: Edit, outputs: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    told = {"kind": edit.kind, "position": edit.position, "old": edit.old, "new": edit.new, "text": edit.text}
    return told | {name: [int(row.argmax()), round(float(row.max()), 3)] for name, row in outputs.items()}


def _network(study: Study, texts: Ragged[np.int32]) -> NDArray[np.float64] | None:
    return None if study.model is None else final_outputs(study.model, texts)
