"""Passes over a corpus of any size: where they run, what they keep, how they go on after a stop."""

from wfalens.passes.engines import open_engine
from wfalens.passes.run import Run

__all__ = ["Run", "open_engine"]
