"""Tables 1 to 3, the parameter sweeps, the leak, and what lies beyond the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from wfalens import plots
from wfalens.corpus.datasets import DATASETS
from wfalens.reproduction import paper
from wfalens.reproduction.paper import printed
from wfalens.reproduction.section import (
    Claim,
    Grid,
    Part,
    Picture,
    Results,
    Shown,
    difference,
    order_claim,
    own,
    share_claim,
)
from wfalens.reproduction.study import NO_LEAK, TRAIN, Step

Setting = tuple[str, bool, bool]  # completion, context, augmentation
_FILLINGS = ("null", "uniform", "empirical")
_TABLES: dict[str, list[Setting]] = {
    "table1": [(name, False, False) for name in _FILLINGS],
    "table2": [(name, context, False) for name in ("uniform", "empirical") for context in (False, True)],
    "table3": [(name, True, augmented) for name in ("uniform", "empirical") for augmented in (False, True)],
}
_ALL = list(dict.fromkeys(setting for settings in _TABLES.values() for setting in settings))
_BEST: Setting = ("empirical", True, True)
_SIMILAR_TIME = 2.0  # "about the same": less than that times as long (the paper's own largest ratio is 1.5)


def setting_step(setting: Setting, variant: str = TRAIN) -> Step:
    completion, context, augmented = setting
    options = {"context": context, "augmented": augmented}
    return Step.of("fidelity", variant, completion=completion, **{name: True for name, on in options.items() if on})


def _name(setting: Setting) -> str:
    completion, context, augmented = setting
    return completion + (" + context" if context else "") + (" + augmentation" if augmented else "")


def _table(results: Results, title: str, settings: Iterable[Setting], variant: str = TRAIN) -> Grid:
    rows = []
    for setting in settings:
        step = setting_step(setting, variant)
        known = printed(results.dataset).rows.get(setting)
        cr, jsd, seconds = known or (None, None, None)
        rows.append(
            [
                _name(setting),
                "" if cr is None else f"{cr:.2f}",
                results.cell(step, "cr"),
                difference(results.mean(step, "cr"), cr),
                "" if jsd is None else f"{jsd:.2f}",
                results.cell(step, "jsd"),
                difference(results.mean(step, "jsd"), jsd),
                "" if seconds is None else f"{seconds:g}",
                results.cell(step, "seconds", ".1f"),
            ]
        )
    return Grid(title, _COLUMNS, rows)


_COLUMNS = ["automaton", "CR: paper", "ours", "difference", "JSD: paper", "ours", "difference", "s: paper", "ours"]


def _fidelity_steps(settings: list[Setting]) -> Callable[[str], list[Step]]:
    return lambda _dataset: [Step.of("accuracy"), *(setting_step(setting) for setting in settings)]


def _table1(results: Results) -> Shown:
    null, uniform, empirical = (setting_step(setting) for setting in _TABLES["table1"])
    times = {step: results.mean(step, "seconds") for step in (null, uniform, empirical)}
    claims = [
        order_claim("uniform filling is more consistent than null", results, (null, "cr"), (uniform, "cr")),
        order_claim("empirical filling is more consistent than uniform", results, (uniform, "cr"), (empirical, "cr")),
        order_claim("empirical filling diverges less than uniform", results, (empirical, "jsd"), (uniform, "jsd")),
        order_claim("uniform filling diverges less than null", results, (uniform, "jsd"), (null, "jsd")),
        Claim(
            f"empirical filling takes about the same time (below {_SIMILAR_TIME:g} times null's)",
            times[empirical] < _SIMILAR_TIME * times[null],
            f"{times[empirical]:.2f} s against {times[null]:.2f} s",
        ),
    ]
    return Shown([_model(results), _table(results, "Filling of missing rows", _TABLES["table1"])], claims=claims)


def _model(results: Results) -> Grid:
    step, known = Step.of("accuracy"), printed(results.dataset).accuracy
    first = results.of(step)[0]
    row = [
        f"{first['train_texts']:,}",
        f"{first['test_texts']:,}",
        f"{first['words']:,}",
        "" if known is None else f"{known:.2f}",
        results.cell(step, "accuracy"),
        difference(results.mean(step, "accuracy"), known),
    ]
    columns = ["training texts", "test texts", "words", "accuracy: paper", "ours", "difference"]
    return Grid("The LSTM under study", columns, [row])


def _table2(results: Results) -> Shown:
    claims = []
    for name in ("uniform", "empirical"):
        without, with_it = (setting_step((name, context, False)) for context in (False, True))
        claims.append(order_claim(f"context makes {name} more consistent", results, (without, "cr"), (with_it, "cr")))
        claims.append(order_claim(f"… and {name} diverges more", results, (without, "jsd"), (with_it, "jsd")))
    return Shown([_table(results, "Context awareness", _TABLES["table2"])], claims=claims)


def _table3(results: Results) -> Shown:
    claims = []
    for name in ("uniform", "empirical"):
        plain, more = (setting_step((name, True, augmented)) for augmented in (False, True))
        claims.append(order_claim(f"augmentation makes {name} more consistent", results, (plain, "cr"), (more, "cr")))
        claims.append(order_claim(f"… and {name} diverges less", results, (more, "jsd"), (plain, "jsd")))
    base, best = setting_step(("uniform", False, False)), setting_step(_BEST)
    claims.append(order_claim("all three together beat plain uniform in CR", results, (base, "cr"), (best, "cr")))
    claims.append(order_claim("… and in JSD", results, (best, "jsd"), (base, "jsd")))
    return Shown([_table(results, "Data augmentation: D₀ against D", _TABLES["table3"])], claims=claims)


def _swept(name: str, values: Iterable[float]) -> dict[float, Step]:
    fixed: dict[str, Any] = {"beta": paper.BETA} if name == "alpha" else {"alpha": 0.0}
    return {value: Step.of("fidelity", completion="empirical", **fixed | {name: value}) for value in values}


_UNIFORM = setting_step(("uniform", False, False))


def _sweep_steps(name: str, values: Iterable[float]) -> Callable[[str], list[Step]]:
    return lambda _dataset: [*_swept(name, values).values(), _UNIFORM]


def _curve(results: Results, steps: Mapping[Any, Step], key: str) -> plots.Curve:
    table = np.array([results.values(step, key) for step in steps.values()]).T  # (seeds, values)
    return plots.Curve(list(steps), table)


def _sweep_picture(results: Results, name: str, symbol: str, steps: dict[float, Step]) -> Picture:
    curves = {what: {"empirical": _curve(results, steps, what)} for what in ("cr", "jsd")}
    base = {what: results.mean(_UNIFORM, what) for what in ("cr", "jsd")}
    figure = plots.parameter_sweep(symbol, curves, base)
    caption = f"CR and JSD under different {symbol} on {results.dataset}; dotted: uniform filling"
    return Picture(f"{name}-{results.dataset}", caption, figure)


def _sweep_grid(results: Results, symbol: str, steps: dict[float, Step]) -> Grid:
    rows = [[f"{value:g}", results.cell(step, "cr"), results.cell(step, "jsd")] for value, step in steps.items()]
    rows.append(["uniform", results.cell(_UNIFORM, "cr"), results.cell(_UNIFORM, "jsd")])
    return Grid(f"Empirical filling under different {symbol}", [symbol, "CR", "JSD"], rows)


def _beta(results: Results) -> Shown:
    steps = _swept("beta", paper.BETAS)
    claims = []
    for value in (0.1, 0.3, 0.5):
        mark = f"β = {value:g}: empirical"
        claims.append(
            order_claim(f"{mark} is more consistent than uniform", results, (_UNIFORM, "cr"), (steps[value], "cr"))
        )
        claims.append(order_claim(f"{mark} diverges less", results, (steps[value], "jsd"), (_UNIFORM, "jsd")))
    best = max(steps, key=lambda value: results.mean(steps[value], "cr"))
    claims.append(Claim("a small β (below .5) is best in CR", best < 0.5, f"best at β = {best:g}"))
    return Shown([_sweep_grid(results, "β", steps)], [_sweep_picture(results, "fig-beta", "β", steps)], claims)


def _alpha(results: Results) -> Shown:
    steps = _swept("alpha", paper.ALPHAS)
    claims = [
        order_claim(f"α = {value:g} is more consistent than α = 0", results, (steps[0.0], "cr"), (steps[value], "cr"))
        for value in (0.2, 0.4)
    ]
    claims += [
        order_claim(f"α = {value:g} diverges more than α = 0", results, (steps[0.0], "jsd"), (steps[value], "jsd"))
        for value in (0.2, 0.4)
    ]
    return Shown([_sweep_grid(results, "α", steps)], [_sweep_picture(results, "fig-alpha", "α", steps)], claims)


def _states_steps(_dataset: str = "") -> dict[tuple[str, int], Step]:
    return {
        (name, states): Step.of("fidelity", completion=name, states=states)
        for name in _FILLINGS
        for states in paper.STATES
    }


def _states(results: Results) -> Shown:
    steps = _states_steps()
    by_name = {name: {states: steps[name, states] for states in paper.STATES} for name in _FILLINGS}
    curves = {what: {name: _curve(results, chosen, what) for name, chosen in by_name.items()} for what in ("cr", "jsd")}
    figure = plots.parameter_sweep("K", curves, {})
    rows = [
        [str(states)] + [results.cell(steps[name, states], what) for what in ("cr", "jsd") for name in _FILLINGS]
        for states in paper.STATES
    ]
    columns = ["K", *(f"{what} {name}" for what in ("CR", "JSD") for name in _FILLINGS)]

    def beaten(what: str, sign: int) -> list[bool]:
        return [
            all(
                sign * seed[steps["empirical", states]][what] > sign * seed[steps[name, states]][what]
                for name in ("null", "uniform")
                for states in paper.STATES
            )
            for seed in results.seeds
        ]

    claims = [
        share_claim(
            "empirical has the highest CR for every K", beaten("cr", 1), f"{2 * len(paper.STATES)} comparisons a seed"
        ),
        share_claim(
            "empirical has the lowest JSD for every K", beaten("jsd", -1), f"{2 * len(paper.STATES)} comparisons a seed"
        ),
    ]
    for name in ("null", "uniform"):
        means = [results.mean(steps[name, states], "cr") for states in paper.STATES]
        falls = all(after < before for before, after in pairwise(means))
        told = " → ".join(f"{mean:.3f}" for mean in means)
        claims.append(Claim(f"{name}: CR falls steadily as K grows from 10 to 50", falls, told))
        means = [results.mean(steps[name, states], "jsd") for states in paper.STATES]
        told = " → ".join(f"{mean:.3f}" for mean in means)
        rises = all(after > before for before, after in pairwise(means))
        claims.append(Claim(f"{name}: JSD rises steadily as K grows from 10 to 50", rises, told))
    caption = f"Fillings under different K on {results.dataset}"
    return Shown(
        [Grid("Number of states", columns, rows)], [Picture(f"fig-states-{results.dataset}", caption, figure)], claims
    )


def _leak_steps(dataset: str) -> list[Step]:
    if NO_LEAK not in DATASETS[dataset].splits:
        return []
    return [Step.of("accuracy", NO_LEAK), Step.of("accuracy"), *(setting_step(each, NO_LEAK) for each in _ALL)] + [
        setting_step(each) for each in _ALL
    ]


def _leak(results: Results) -> Shown:
    rows = [
        [
            _name(setting),
            *(
                results.cell(setting_step(setting, variant), what)
                for what in ("cr", "jsd")
                for variant in (TRAIN, NO_LEAK)
            ),
        ]
        for setting in _ALL
    ]
    rows.insert(
        0,
        ["accuracy of the LSTM", *(results.cell(Step.of("accuracy", v), "accuracy") for v in (TRAIN, NO_LEAK)), "", ""],
    )
    columns = ["", "CR: paper's split", "without the leak", "JSD: paper's split", "without the leak"]
    shift = max(
        abs(results.mean(setting_step(each, NO_LEAK), "cr") - results.mean(setting_step(each), "cr")) for each in _ALL
    )
    best = setting_step(_BEST, NO_LEAK)
    base = setting_step(("uniform", False, False), NO_LEAK)
    claims = [
        order_claim(
            "without the leak, the paper's method still beats plain uniform", results, (base, "cr"), (best, "cr")
        ),
        Claim("the leak moves no CR by more than two points", shift <= 0.02, f"largest shift {shift:.3f}"),
    ]
    return Shown(
        [Grid("With and without the training titles that stand in the test set", columns, rows)], claims=own(claims)
    )


_BEYOND: dict[str, Step] = {
    "probe": setting_step(("probe", False, False)),
    "probe + context": setting_step(("probe", True, False)),
    "probe + context + augmentation": setting_step(("probe", True, True)),
    "empirical, K, α and β chosen automatically": Step.of(
        "fidelity", completion="empirical", states="auto", alpha="auto", beta="auto"
    ),
    "probe, K and α chosen automatically": Step.of("fidelity", completion="probe", states="auto", alpha="auto"),
}


def _beyond(results: Results) -> Shown:
    best = setting_step(_BEST)
    rows = [
        [
            name,
            *(results.cell(step, what) for what in ("cr", "jsd")),
            results.cell(step, "seconds", ".1f"),
            results.cell(step, "states", ".0f"),
            results.cell(step, "alpha", ".2f"),
        ]
        for name, step in [("the paper's best (empirical + context + augmentation)", best), *_BEYOND.items()]
    ]
    auto = _BEYOND["probe, K and α chosen automatically"]
    claims = [
        order_claim(
            "probing is more consistent than the paper's best", results, (best, "cr"), (_BEYOND["probe"], "cr")
        ),
        order_claim("probing diverges less than the paper's best", results, (_BEYOND["probe"], "jsd"), (best, "jsd")),
        order_claim(
            "the automatic choice is more consistent than probing alone",
            results,
            (_BEYOND["probe"], "cr"),
            (auto, "cr"),
        ),
    ]
    return Shown([Grid("Beyond the paper", ["automaton", "CR", "JSD", "s", "K", "α"], rows)], claims=own(claims))


FIDELITY_PARTS = [
    Part(
        "table1",
        "Missing rows",
        "How rows that were never observed are filled (paper, table 1).",
        _fidelity_steps(_TABLES["table1"]),
        _table1,
    ),
    Part(
        "table2",
        "Context awareness",
        "With and without the static probability α (paper, table 2).",
        _fidelity_steps(_TABLES["table2"]),
        _table2,
    ),
    Part(
        "table3",
        "Data augmentation",
        "Extraction from the training texts alone (D₀) and with synonym replacement and dropout (D) (paper, table 3).",
        _fidelity_steps([*_TABLES["table3"], ("uniform", False, False)]),
        _table3,
    ),
    Part(
        "leak",
        "The leak",
        "The paper's news test set shares 523 titles with its training set; the same tables without them.",
        _leak_steps,
        _leak,
    ),
    Part(
        "fig-beta",
        "Reference rate β",
        "Fidelity of empirical filling under different β, α = 0 (paper, figure on β).",
        _sweep_steps("beta", paper.BETAS),
        _beta,
    ),
    Part(
        "fig-alpha",
        "Static probability α",
        "Fidelity of empirical filling under different α, β = .3 (paper, figure on α).",
        _sweep_steps("alpha", paper.ALPHAS),
        _alpha,
    ),
    Part(
        "fig-states",
        "Number of states K",
        "The three fillings under different K (paper, figure on K).",
        lambda dataset: list(_states_steps(dataset).values()),
        _states,
    ),
]

BEYOND = Part(
    "beyond",
    "Beyond the paper",
    "Rows probed from the model instead of completed, and settings chosen on held-out sentences.",
    lambda _dataset: [setting_step(_BEST), *_BEYOND.values()],
    _beyond,
)
