"""The paper's tables and figures, re-run and set beside what it prints."""

from benchmarks.paper.experiment import FULL, QUICK, Scale
from benchmarks.paper.reproduce import reproduce

__all__ = ["FULL", "QUICK", "Scale", "reproduce"]
