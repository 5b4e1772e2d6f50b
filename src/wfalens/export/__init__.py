"""Automata for other tools: one module per format, each writing a `Subset`; and drawings."""

from wfalens.export.canvas import DRAWING_FORMATS, Canvas
from wfalens.export.diagram import Diagram, diagram_of
from wfalens.export.dot import to_dot
from wfalens.export.exporters import FORMATS, Exported, export_files, exporter, format_of
from wfalens.export.json_file import read_json, to_json
from wfalens.export.mdp import to_drn
from wfalens.export.networkx_graph import to_networkx
from wfalens.export.onnx_automaton import to_onnx
from wfalens.export.openfst import to_openfst
from wfalens.export.opinion_drawing import draw_opinions
from wfalens.export.runtime.source_files import to_c, to_js
from wfalens.export.subset import Subset, frequent_words, subset
from wfalens.export.symbols import escape, unescape

__all__ = [
    "DRAWING_FORMATS",
    "FORMATS",
    "Canvas",
    "Diagram",
    "Exported",
    "Subset",
    "diagram_of",
    "draw_opinions",
    "escape",
    "export_files",
    "exporter",
    "format_of",
    "frequent_words",
    "read_json",
    "subset",
    "to_c",
    "to_dot",
    "to_drn",
    "to_js",
    "to_json",
    "to_networkx",
    "to_onnx",
    "to_openfst",
    "unescape",
]
