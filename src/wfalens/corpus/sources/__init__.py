"""Texts from files and from memory, as blocks."""

from wfalens.corpus.sources.blocks import BLOCK_BYTES, BadRow, Block, LeftOut, Place, Source, classes_of
from wfalens.corpus.sources.files import TextFiles, with_labels
from wfalens.corpus.sources.memory import MemoryTexts

__all__ = [
    "BLOCK_BYTES",
    "BadRow",
    "Block",
    "LeftOut",
    "MemoryTexts",
    "Place",
    "Source",
    "TextFiles",
    "classes_of",
    "with_labels",
]
