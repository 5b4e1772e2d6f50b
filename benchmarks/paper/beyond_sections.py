"""What the paper does not show: its tables without the leak, and what lies beyond its method."""

from __future__ import annotations

from benchmarks.paper.experiment import NO_LEAK, TRAIN, Step
from benchmarks.paper.section import Claim, Grid, Results, Section, Shown, order_claim, own
from benchmarks.paper.settings import ALL, BEST, PLAIN, setting_name, setting_step

from wfalens.text.datasets.catalogue import DATASETS


def _leak_steps(dataset: str) -> list[Step]:
    if NO_LEAK not in DATASETS[dataset].splits:
        return []
    return [Step.of("accuracy", NO_LEAK), Step.of("accuracy"), *(setting_step(each, NO_LEAK) for each in ALL)] + [
        setting_step(each) for each in ALL
    ]


def _leak(results: Results) -> Shown:
    rows = [
        [
            setting_name(setting),
            *(
                results.cell(setting_step(setting, variant), what)
                for what in ("cr", "jsd")
                for variant in (TRAIN, NO_LEAK)
            ),
        ]
        for setting in ALL
    ]
    rows.insert(
        0,
        ["accuracy of the LSTM", *(results.cell(Step.of("accuracy", v), "accuracy") for v in (TRAIN, NO_LEAK)), "", ""],
    )
    columns = ["", "CR: paper's split", "without the leak", "JSD: paper's split", "without the leak"]
    shift = max(
        abs(results.mean(setting_step(each, NO_LEAK), "cr") - results.mean(setting_step(each), "cr")) for each in ALL
    )
    best = setting_step(BEST, NO_LEAK)
    base = setting_step(PLAIN, NO_LEAK)
    claims = [
        order_claim(
            "without the leak, the paper's method still beats plain uniform", results, (base, "cr"), (best, "cr")
        ),
        Claim("the leak moves no CR by more than two points", shift <= 0.02, f"largest shift {shift:.3f}"),
    ]
    return Shown(
        [Grid("With and without the training titles that stand in the test set", columns, rows)], claims=own(claims)
    )


_OURS: dict[str, Step] = {
    "probe": setting_step(("probe", False, False)),
    "probe + context": setting_step(("probe", True, False)),
    "probe + context + augmentation": setting_step(("probe", True, True)),
    "empirical, K, α and β chosen automatically": Step.of(
        "fidelity", completion="empirical", states="auto", alpha="auto", beta="auto"
    ),
    "probe, K and α chosen automatically": Step.of("fidelity", completion="probe", states="auto", alpha="auto"),
}


def _beyond(results: Results) -> Shown:
    best = setting_step(BEST)
    rows = [
        [
            name,
            *(results.cell(step, what) for what in ("cr", "jsd")),
            results.cell(step, "seconds", ".1f"),
            results.cell(step, "states", ".0f"),
            results.cell(step, "alpha", ".2f"),
        ]
        for name, step in [("the paper's best (empirical + context + augmentation)", best), *_OURS.items()]
    ]
    auto = _OURS["probe, K and α chosen automatically"]
    claims = [
        order_claim("probing is more consistent than the paper's best", results, (best, "cr"), (_OURS["probe"], "cr")),
        order_claim("probing diverges less than the paper's best", results, (_OURS["probe"], "jsd"), (best, "jsd")),
        order_claim(
            "the automatic choice is more consistent than probing alone",
            results,
            (_OURS["probe"], "cr"),
            (auto, "cr"),
        ),
    ]
    return Shown([Grid("Beyond the paper", ["automaton", "CR", "JSD", "s", "K", "α"], rows)], claims=own(claims))


LEAK = Section(
    "leak",
    "The leak",
    "The paper's news test set shares 523 titles with its training set; the same tables without them.",
    _leak_steps,
    _leak,
)

BEYOND = Section(
    "beyond",
    "Beyond the paper",
    "Rows probed from the model instead of completed, and settings chosen on held-out sentences.",
    lambda _dataset: [setting_step(BEST), *_OURS.values()],
    _beyond,
)
