"""The paper's tables and figures, re-run and set beside what it prints."""

from wfalens.reproduction.experiment import FULL, QUICK, Scale
from wfalens.reproduction.reproduce import reproduce

__all__ = ["FULL", "QUICK", "Scale", "reproduce"]
