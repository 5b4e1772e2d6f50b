"""Automata for other tools: one module per format, all of them writing a `Subset`.

Drawings of readable automata are in `export.diagram_files`, which is not loaded with the others.
"""

from wfalens.export.aalpy_dot import to_aalpy
from wfalens.export.dot import to_dot
from wfalens.export.drn import to_drn
from wfalens.export.export_choice import frequent_words
from wfalens.export.formats import FORMATS, Exported, export_files
from wfalens.export.json_file import read_json, to_json
from wfalens.export.networkx_graph import to_networkx
from wfalens.export.onnx_automaton import to_onnx
from wfalens.export.openfst import to_openfst
from wfalens.export.prism import to_prism
from wfalens.export.prism_explicit import to_prism_explicit
from wfalens.export.subset import LOST, MOST_TRANSITIONS, Subset, subset
from wfalens.export.symbols import SymbolTable, escape, unescape

__all__ = [
    "FORMATS",
    "LOST",
    "MOST_TRANSITIONS",
    "Exported",
    "Subset",
    "SymbolTable",
    "escape",
    "export_files",
    "frequent_words",
    "read_json",
    "subset",
    "to_aalpy",
    "to_dot",
    "to_drn",
    "to_json",
    "to_networkx",
    "to_onnx",
    "to_openfst",
    "to_prism",
    "to_prism_explicit",
    "unescape",
]
