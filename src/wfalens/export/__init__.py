"""Automata for other tools: one module per format, all of them writing a `Subset`."""

from wfalens.export.drn import to_drn
from wfalens.export.subset import LOST, MOST_TRANSITIONS, Subset, subset
from wfalens.export.symbols import SymbolTable, escape, unescape

__all__ = ["LOST", "MOST_TRANSITIONS", "Subset", "SymbolTable", "escape", "subset", "to_drn", "unescape"]
