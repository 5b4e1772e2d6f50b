"""Storm, the model checker, through stormpy: models through DRN files, properties in PCTL."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens.errors import InputError, MissingDependencyError
from wfalens.export.mdp import to_drn
from wfalens.robustness.model_checking.word_game import Game

_UNKNOWN_LABEL = "unknown label"  # as Storm says it


@dataclass(frozen=True)
class Verdict:
    """What Storm says of a property: at the start, and in every state."""

    value: float | bool
    values: NDArray[np.float64] | None  # (n,), without the state before the start; None where it says yes or no
    scheduler: tuple[int, ...] | None  # for every state the index of the word to read; None where Storm gives none


class StormModel:
    """A game as Storm's own model. Its first step leads to the state after the text, so k words are k + 1 steps."""

    def __init__(self, game: Game) -> None:
        self._storm = _stormpy()
        self._words, self._states = len(game.words), len(game.subset.states)
        options = self._storm.io.DirectEncodingParserOptions()
        options.build_choice_labeling = False
        with tempfile.TemporaryDirectory(prefix="wfalens-") as folder:
            path = Path(folder) / "game.drn"
            path.write_text(to_drn(game.subset, game.start), encoding="ascii")
            self._model = self._storm.build_model_from_drn(str(path), options=options)

    def ask(self, pctl: str, scheduler: bool = False) -> Verdict:
        """Check a property; a malformed one, or one that Storm cannot check, is refused in one sentence."""
        with _quiet(self._storm):
            try:
                properties = self._storm.parse_properties(pctl)
                if len(properties) != 1:
                    raise InputError(f"give one property, not {len(properties)}", code="property")
                result = self._storm.model_checking(self._model, properties[0], extract_scheduler=scheduler)
            except RuntimeError as error:
                raise InputError(
                    f"Storm does not take the property {pctl!r}: {self._reason(error)}", code="property"
                ) from None
        if result.is_qualitative():
            return Verdict(bool(result[self._states]), None, None)
        if not result.is_quantitative() or not hasattr(result, "get_value_vector"):
            raise InputError(f"the answer to the property {pctl!r} is neither a number nor yes or no", code="property")
        values = np.array(result.get_value_vector(), np.float64)
        chosen = self._choices(result) if scheduler and result.has_scheduler() else None
        return Verdict(float(values[-1]), values[:-1], chosen)

    def _reason(self, error: RuntimeError) -> str:
        """Storm's reason; of a label that the model lacks also those that it has."""
        reason = _first_line(error)
        if _UNKNOWN_LABEL not in reason:
            return reason
        known = ", ".join(sorted(self._model.labeling.get_labels()))
        return f"{reason}; the model has {known} (a class that no state decides for has no label)"

    def _choices(self, result: Any) -> tuple[int, ...]:
        schedule = result.get_scheduler()
        return tuple(int(schedule.get_choice(state).get_deterministic_choice()) for state in range(self._states))


def _stormpy() -> Any:
    try:
        import stormpy
    except ImportError:
        raise MissingDependencyError("stormpy", "verify") from None
    return stormpy


class _quiet:  # noqa: N801 - used like a function
    """Storm prints its errors before it raises them; we raise them as one sentence instead."""

    def __init__(self, storm: Any) -> None:
        self._developer = storm.developer

    def __enter__(self) -> None:
        self._level = self._developer.get_log_level()
        self._developer.set_log_level(self._developer.LogLevel.OFF)

    def __exit__(self, *_: object) -> None:
        self._developer.set_log_level(self._level)


def _first_line(error: RuntimeError) -> str:
    """The first line of what Storm says, without the name of its exception."""
    line = " ".join(str(error).split("\n")[0].split("Note that")[0].removesuffix(", here:").split())
    while line.partition(":")[0].endswith("Exception"):
        line = line.partition(":")[2]
    return line.strip(" .:,") or "no reason given"
