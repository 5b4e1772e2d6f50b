"""Automata for other tools: one module per format, each writing a `Subset`, and drawings of readable automata."""

from wfalens.export.aalpy_dot import to_aalpy
from wfalens.export.diagram import Diagram, diagram_of
from wfalens.export.diagram_drawing import draw, draw_diagram
from wfalens.export.dot import to_dot
from wfalens.export.json_file import read_json, to_json
from wfalens.export.mdp import to_drn, to_prism
from wfalens.export.networkx_graph import to_networkx
from wfalens.export.onnx_automaton import to_onnx
from wfalens.export.openfst import to_openfst
from wfalens.export.registry import FORMATS, Exported, Exporter, export_files, exporter, format_of
from wfalens.export.subset import LOST, MOST_TRANSITIONS, Subset, frequent_words, subset
from wfalens.export.symbols import SymbolTable, escape, unescape

__all__ = [
    "FORMATS",
    "LOST",
    "MOST_TRANSITIONS",
    "Diagram",
    "Exported",
    "Exporter",
    "Subset",
    "SymbolTable",
    "diagram_of",
    "draw",
    "draw_diagram",
    "escape",
    "export_files",
    "exporter",
    "format_of",
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
    "unescape",
]
