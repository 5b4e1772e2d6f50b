"""Texts from files and from memory, as blocks."""

from wfalens.text.sources.blocks import BLOCK_BYTES, BadRow, Block, LeftOut, Place, Source, classes_of
from wfalens.text.sources.memory_texts import MemoryTexts
from wfalens.text.sources.text_files import TextFiles, with_labels

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
