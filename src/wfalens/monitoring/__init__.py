"""Monitoring a network with its automaton: what texts exercise, which are unusual or attacked, what has drifted."""

from wfalens.monitoring.coverage import coverage, fill_gaps
from wfalens.monitoring.detector import DetectOptions, Detector, auroc, detect
from wfalens.monitoring.novelty import UsualTexts
from wfalens.monitoring.text_features import FEATURES, ReferenceStats, SynonymDefense, text_features
from wfalens.monitoring.watch import Alarms, Watcher, watch

__all__ = [
    "FEATURES",
    "Alarms",
    "DetectOptions",
    "Detector",
    "ReferenceStats",
    "SynonymDefense",
    "UsualTexts",
    "Watcher",
    "auroc",
    "coverage",
    "detect",
    "fill_gaps",
    "text_features",
    "watch",
]
