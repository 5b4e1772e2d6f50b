"""All sections, in the order of the paper."""

from __future__ import annotations

from benchmarks.paper.application_sections import APPLICATION_SECTIONS
from benchmarks.paper.beyond_sections import BEYOND, LEAK
from benchmarks.paper.section import Section
from benchmarks.paper.sweep_sections import SWEEP_SECTIONS
from benchmarks.paper.table_sections import TABLE_SECTIONS
from benchmarks.paper.theory_sections import COST, THEORY_SECTIONS
from benchmarks.paper.word_sections import WORD_SECTIONS

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
