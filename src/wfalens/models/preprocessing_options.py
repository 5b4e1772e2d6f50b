"""What few models need to be read as they were trained; importing these options loads neither numpy nor torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wfalens.text.tokenizers import LENGTHS
from wfalens.validation import Bounds, Options, option, whole

READINGS = STEPS, EXACT = ("steps", "exact")
OUTPUTS = PROBABILITIES, LOGITS, BINARY, BINARY_LOGITS = ("probabilities", "logits", "binary", "binary_logits")


@dataclass(frozen=True, kw_only=True)
class PreprocessingOptions(Options):
    """[preprocessing]: what few models need.

    Args:
        unknown: The word of the model's words that stands for all others.
        closed: There are no unknown words: a text with another word is refused, and all of the words are words.
        padding: The word that fills texts up to a fixed width (default: <pad>, where there is one).
        reading: A network that can be stepped but reads its padding: steps starts every text after some pads, exact
            asks for every prefix as a padded text of its own.
        pads: Pads before every text, with reading=steps (default: three quarters of the width).
        max_length: Words after which a text is cut (default: never).
        outputs: What the outputs are (default: by the name of the output).
        state: State inputs, each with the output that holds its new value (a table; default: by their names).
        initial_output: The classes' probabilities before any word.
    """

    unknown: str | None = option("<unk>")
    closed: bool = option(False)
    padding: str | None = option(None)
    reading: str = option(STEPS, allowed=READINGS)
    pads: int | None = option(None, allowed=Bounds(whole, 0, 1 << 16, (None,)))
    max_length: int | None = option(None, allowed=LENGTHS)
    outputs: str | None = option(None, allowed=OUTPUTS)
    state: Mapping[str, str] | None = option(None)
    initial_output: tuple[float, ...] | None = option(None)
