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
    from importlib import import_module

    class _Package:
        """A package that is imported when something in it is used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(f"..{self._name}", __package__), name)

    automaton = _Package("automaton")
    evaluation = _Package("evaluation")
    explanation = _Package("explanation")
    export = _Package("export")
    extraction = _Package("extraction")
    language = _Package("language")
    monitoring = _Package("monitoring")
    repair = _Package("repair")
    report = _Package("report")
    robustness = _Package("robustness")

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
