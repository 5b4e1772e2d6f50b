"""Packages of the library, loaded on first use: `--help` need not wait for numba, scikit-learn or torch.

Their names for type checkers stand in `library.pyi`.
"""

from __future__ import annotations

from importlib import import_module

_PLACES = {
    "attack": "robustness.attack",
    "contract": "models.contract",
    "plots": "report.plots",
    "preprocessing_check": "models.preprocessing_check",
    "refine": "extraction.refinement.refine",
    "server": "report.server",
    "training": "models.rnn.training",
    "wrapping": "models.wrapping",
}


class _Package:
    """A package that is imported when something in it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(f"..{self._name}", __package__), name)


def __getattr__(name: str) -> _Package:
    return _Package(_PLACES.get(name, name))
