"""Parts of the library, loaded on first use: `--help` need not wait for numba, scikit-learn or torch."""

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
    from wfalens.evaluation import baselines
    from wfalens.models import preprocessing_check
    from wfalens.models.rnn import training
    from wfalens.report import plots, server
    from wfalens.robustness import attack as attacks
else:
    from importlib import import_module

    class _Part:
        """A package or module that is imported when something in it is used."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(f"..{self._name}", __package__), name)

    automaton = _Part("automaton")
    evaluation = _Part("evaluation")
    explanation = _Part("explanation")
    export = _Part("export")
    extraction = _Part("extraction")
    language = _Part("language")
    monitoring = _Part("monitoring")
    repair = _Part("repair")
    report = _Part("report")
    robustness = _Part("robustness")
    attacks = _Part("robustness.attack")
    baselines = _Part("evaluation.baselines")
    plots = _Part("report.plots")
    preprocessing_check = _Part("models.preprocessing_check")
    server = _Part("report.server")
    training = _Part("models.rnn.training")

__all__ = [
    "attacks",
    "automaton",
    "baselines",
    "evaluation",
    "explanation",
    "export",
    "extraction",
    "language",
    "monitoring",
    "plots",
    "preprocessing_check",
    "repair",
    "report",
    "robustness",
    "server",
    "training",
]
