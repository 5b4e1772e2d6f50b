"""The packages of the library, loaded on first use: `--help` need not wait for numba, scikit-learn or torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wfalens import (
        automaton,
        evaluation,
        explanation,
        export,
        extraction,
        language,
        monitoring,
        repair,
        report,
        robustness,
    )
else:
    import lazy_loader

    automaton = lazy_loader.load("wfalens.automaton")
    evaluation = lazy_loader.load("wfalens.evaluation")
    explanation = lazy_loader.load("wfalens.explanation")
    export = lazy_loader.load("wfalens.export")
    extraction = lazy_loader.load("wfalens.extraction")
    language = lazy_loader.load("wfalens.language")
    monitoring = lazy_loader.load("wfalens.monitoring")
    repair = lazy_loader.load("wfalens.repair")
    report = lazy_loader.load("wfalens.report")
    robustness = lazy_loader.load("wfalens.robustness")

__all__ = [
    "automaton",
    "evaluation",
    "explanation",
    "export",
    "extraction",
    "language",
    "monitoring",
    "repair",
    "report",
    "robustness",
]
