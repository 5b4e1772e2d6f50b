"""The figures on β, α and K: fidelity under different parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from benchmarks.paper import figures, paper
from benchmarks.paper.experiment import Step
from benchmarks.paper.section import Claim, Grid, Picture, Results, Section, Shown, order_claim, share_claim
from benchmarks.paper.settings import FILLINGS, PLAIN, setting_step

_UNIFORM = setting_step(PLAIN)


def _swept(name: str, values: Iterable[float]) -> dict[float, Step]:
    fixed: dict[str, Any] = {"beta": paper.BETA} if name == "alpha" else {"alpha": 0.0}
    return {value: Step.of("fidelity", completion="empirical", **fixed | {name: value}) for value in values}


def _sweep_steps(name: str, values: Iterable[float]) -> Callable[[str], list[Step]]:
    return lambda _dataset: [*_swept(name, values).values(), _UNIFORM]


def _curve(results: Results, steps: Mapping[Any, Step], key: str) -> figures.Curve:
    table = np.array([results.values(step, key) for step in steps.values()]).T  # (seeds, values)
    return figures.Curve(list(steps), table)


def _sweep_picture(results: Results, name: str, symbol: str, steps: dict[float, Step]) -> Picture:
    curves = {what: {"empirical": _curve(results, steps, what)} for what in ("cr", "jsd")}
    base = {what: results.mean(_UNIFORM, what) for what in ("cr", "jsd")}
    figure = figures.parameter_sweep(symbol, curves, base)
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
        for name in FILLINGS
        for states in paper.STATES
    }


def _states(results: Results) -> Shown:
    steps = _states_steps()
    by_name = {name: {states: steps[name, states] for states in paper.STATES} for name in FILLINGS}
    curves = {what: {name: _curve(results, chosen, what) for name, chosen in by_name.items()} for what in ("cr", "jsd")}
    figure = figures.parameter_sweep("K", curves, {})
    rows = [
        [str(states)] + [results.cell(steps[name, states], what) for what in ("cr", "jsd") for name in FILLINGS]
        for states in paper.STATES
    ]
    columns = ["K", *(f"{what} {name}" for what in ("CR", "JSD") for name in FILLINGS)]

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
        for what, sign, verb in (("cr", -1, "falls"), ("jsd", 1, "rises")):
            means = [results.mean(steps[name, states], what) for states in paper.STATES]
            steady = all(sign * after > sign * before for before, after in pairwise(means))
            text = f"{name}: {what.upper()} {verb} steadily as K grows from 10 to 50"
            claims.append(Claim(text, steady, " → ".join(f"{mean:.3f}" for mean in means)))
    caption = f"Fillings under different K on {results.dataset}"
    return Shown(
        [Grid("Number of states", columns, rows)], [Picture(f"fig-states-{results.dataset}", caption, figure)], claims
    )


SWEEP_SECTIONS = [
    Section(
        "fig-beta",
        "Reference rate β",
        "Fidelity of empirical filling under different β, α = 0 (paper, figure on β).",
        _sweep_steps("beta", paper.BETAS),
        _beta,
    ),
    Section(
        "fig-alpha",
        "Static probability α",
        "Fidelity of empirical filling under different α, β = .3 (paper, figure on α).",
        _sweep_steps("alpha", paper.ALPHAS),
        _alpha,
    ),
    Section(
        "fig-states",
        "Number of states K",
        "The three fillings under different K (paper, figure on K).",
        lambda dataset: list(_states_steps(dataset).values()),
        _states,
    ),
]
