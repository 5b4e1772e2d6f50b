"""Parts of the library, loaded on first use: `--help` need not wait for numba, scikit-learn or torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import wfalens.report.server.serve as server
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
    from wfalens.extraction.refinement import refine as refinement
    from wfalens.models import model_description, preprocessing_check
    from wfalens.models.rnn import pretraining, training
    from wfalens.report import plots
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
    model_description = _Part("models.model_description")
    plots = _Part("report.plots")
    preprocessing_check = _Part("models.preprocessing_check")
    pretraining = _Part("models.rnn.pretraining")
    refinement = _Part("extraction.refinement.refine")
    server = _Part("report.server.serve")
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
    "model_description",
    "monitoring",
    "plots",
    "preprocessing_check",
    "pretraining",
    "refinement",
    "repair",
    "report",
    "robustness",
    "server",
    "training",
]
