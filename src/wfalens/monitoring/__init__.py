"""Monitoring a network with its automaton: what texts exercise, which are unusual or attacked, what has drifted."""

from wfalens.monitoring.coverage import Coverage, Gaps, coverage, fill_gaps
from wfalens.monitoring.detector import Detection, DetectOptions, Detector, auroc, detect
from wfalens.monitoring.text_features import FEATURES, ReferenceStats, SynonymDefense, TextFeatures, text_features
from wfalens.monitoring.watch import Alarms, Drift, Watcher, against_extraction, against_reference, watch

__all__ = [
    "FEATURES",
    "Alarms",
    "Coverage",
    "DetectOptions",
    "Detection",
    "Detector",
    "Drift",
    "Gaps",
    "ReferenceStats",
    "SynonymDefense",
    "TextFeatures",
    "Watcher",
    "against_extraction",
    "against_reference",
    "auroc",
    "coverage",
    "detect",
    "fill_gaps",
    "text_features",
    "watch",
]
