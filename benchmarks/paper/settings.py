"""The settings of the paper's tables: which rows are filled how, with context or without, on which texts."""

from __future__ import annotations

from benchmarks.paper.experiment import TRAIN, Step

Setting = tuple[str, bool, bool]  # completion, context, augmentation
FILLINGS = ("null", "uniform", "empirical")
TABLES: dict[str, list[Setting]] = {
    "table1": [(name, False, False) for name in FILLINGS],
    "table2": [(name, context, False) for name in ("uniform", "empirical") for context in (False, True)],
    "table3": [(name, True, augmented) for name in ("uniform", "empirical") for augmented in (False, True)],
}
ALL = list(dict.fromkeys(setting for settings in TABLES.values() for setting in settings))
PLAIN: Setting = ("uniform", False, False)
BEST: Setting = ("empirical", True, True)


def setting_step(setting: Setting, variant: str = TRAIN) -> Step:
    completion, context, augmented = setting
    options = {"context": context, "augmented": augmented}
    return Step.of("fidelity", variant, completion=completion, **{name: True for name, on in options.items() if on})


def setting_name(setting: Setting) -> str:
    completion, context, augmented = setting
    return completion + (" + context" if context else "") + (" + augmentation" if augmented else "")
