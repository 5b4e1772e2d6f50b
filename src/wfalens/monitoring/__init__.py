"""Watching a network with its automaton: what texts exercise, which are unusual or attacked, what has drifted."""

from wfalens.monitoring.coverage import Coverage, cover
from wfalens.monitoring.detector import Detector, auroc
from wfalens.monitoring.gaps import Gaps, fill_gaps
from wfalens.monitoring.surprise import FEATURES, ReferenceStats, TextFeatures, read
from wfalens.monitoring.synonym_defense import Restoration
from wfalens.monitoring.watching import Alarms, Watcher

__all__ = [
    "FEATURES",
    "Alarms",
    "Coverage",
    "Detector",
    "Gaps",
    "ReferenceStats",
    "Restoration",
    "TextFeatures",
    "Watcher",
    "auroc",
    "cover",
    "fill_gaps",
    "read",
]
