"""Finished measurements on disk, recognised by their parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.storage import write_atomically

_FORMAT = 1
Result = dict[str, Any]


class Store:
    """One JSON file per measurement: its parameters and its result. A file appears whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot make the folder {folder}: {error.strerror}") from None

    def recall(self, parameters: Mapping[str, Any]) -> Result | None:
        """The result of a finished measurement with just these parameters; a damaged file counts as none."""
        try:
            kept = json.loads(self._path(parameters).read_text("utf-8"))
            found = kept["result"] if kept["parameters"] == _plain(parameters) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, dict) else None

    def keep(self, parameters: Mapping[str, Any], measure: Callable[[], Result]) -> Result:
        """Measure unless it was done before. New results pass through JSON too, so that both are equal."""
        found = self.recall(parameters)
        if found is not None:
            return found
        result: Result = _plain(measure())
        text = json.dumps({"parameters": _plain(parameters), "result": result}, ensure_ascii=False, indent=1)
        write_atomically(self._path(parameters), text.encode("utf-8", "replace"))
        return result

    def _path(self, parameters: Mapping[str, Any]) -> Path:
        return self.folder / f"{digest(parameters)}.json"


def digest(parameters: Mapping[str, Any]) -> str:
    text = json.dumps([_FORMAT, _plain(parameters)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value))
