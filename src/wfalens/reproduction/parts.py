"""All parts, in the order of the paper."""

from __future__ import annotations

from wfalens.reproduction.application_parts import APPLICATION_PARTS
from wfalens.reproduction.beyond_parts import BEYOND, LEAK
from wfalens.reproduction.section import Part
from wfalens.reproduction.sweep_parts import SWEEP_PARTS
from wfalens.reproduction.table_parts import TABLE_PARTS
from wfalens.reproduction.theory_parts import COST, THEORY_PARTS
from wfalens.reproduction.word_parts import WORD_PARTS

PARTS: dict[str, Part] = {
    part.name: part
    for part in [
        *TABLE_PARTS,
        LEAK,
        *SWEEP_PARTS,
        *THEORY_PARTS,
        *WORD_PARTS,
        *APPLICATION_PARTS,
        COST,
        BEYOND,
    ]
}
