"""Passes over a corpus of any size: where they run, what they keep, how they go on after a stop."""

from wfalens.scale.engines import open_engine
from wfalens.scale.run_config import Run

__all__ = ["Run", "open_engine"]
