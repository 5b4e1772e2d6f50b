"""All sections, in the order of the paper."""

from __future__ import annotations

from wfalens.reproduction.application_sections import APPLICATION_SECTIONS
from wfalens.reproduction.beyond_sections import BEYOND, LEAK
from wfalens.reproduction.section import Section
from wfalens.reproduction.sweep_sections import SWEEP_SECTIONS
from wfalens.reproduction.table_sections import TABLE_SECTIONS
from wfalens.reproduction.theory_sections import COST, THEORY_SECTIONS
from wfalens.reproduction.word_sections import WORD_SECTIONS

SECTIONS: dict[str, Section] = {
    section.name: section
    for section in [
        *TABLE_SECTIONS,
        LEAK,
        *SWEEP_SECTIONS,
        *THEORY_SECTIONS,
        *WORD_SECTIONS,
        *APPLICATION_SECTIONS,
        COST,
        BEYOND,
    ]
}
