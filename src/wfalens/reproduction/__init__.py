"""The paper's tables and figures, re-run and set beside what it prints."""

from wfalens.reproduction.run import reproduce
from wfalens.reproduction.study import FULL, QUICK, Scale

__all__ = ["FULL", "QUICK", "Scale", "reproduce"]
