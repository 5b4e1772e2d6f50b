"""The paper's two propositions and its cost model, held against the data."""

from __future__ import annotations

import numpy as np
from benchmarks.paper import figures
from benchmarks.paper.experiment import Step
from benchmarks.paper.paper import printed
from benchmarks.paper.section import Claim, Grid, Picture, Results, Section, Shown, share_claim

_ZIPF = Step.of("zipf")
_EXACT = 1e-12
_ALPHAS = (0.2, 0.4, 0.8)
_SHARES = (0.125, 0.25, 0.5, 1.0)
_COST_STATES = (10, 20, 40, 80)
_COST_EPOCHS = (1, 2, 4)  # with none there are no synonyms to look for, which takes a time of its own
_NOISE = 0.15  # of an exponent that is fitted to a few timings


def _zipf(results: Results) -> Shown:
    first = results.of(_ZIPF)[0]
    known = printed(results.dataset).median_count
    row = [
        f"{first['words']:,}",
        f"{first['tokens']:,}",
        "" if known is None else f"{known:g}",
        f"{first['estimate']:.2f}",
        f"{first['median']:g}",
        results.cell(_ZIPF, "missing_rows"),
        results.cell(_ZIPF, "missing_rows_of_rare_half"),
    ]
    columns = [
        "words m",
        "tokens N",
        "estimate: paper",
        "estimate 2N/(m ln m)",
        "median in the data",
        "rows missing",
        "… of the rarer half",
    ]
    claims = [
        Claim(
            "2N/(m ln m) estimates the median count within a factor of two",
            0.5 <= first["estimate"] / max(first["median"], 0.5) <= 2,
            f"{first['estimate']:.2f} against {first['median']:g}",
        ),
        share_claim(
            "most rows of uncommon words are missing",
            [item["missing_rows_of_rare_half"] > 0.5 for item in results.of(_ZIPF)],
            f"{results.mean(_ZIPF, 'missing_rows_of_rare_half'):.1%} of the rows of the rarer half",
        ),
    ]
    figure = figures.zipf_ranks(first["rank"], first["count"], first["zipf"], first["missing"])
    caption = f"Word counts by rank beside Zipf's law, and the share of missing rows, on {results.dataset}"
    picture = Picture(f"zipf-{results.dataset}", caption, figure)
    return Shown([Grid("Proposition 1", columns, [row])], [picture], claims)


def _proposition2_steps(_dataset: str = "") -> list[Step]:
    return [Step.of("proposition2", alpha=alpha) for alpha in _ALPHAS]


def _proposition2(results: Results) -> Shown:
    rows, claims = [], []
    for alpha, step in zip(_ALPHAS, _proposition2_steps(), strict=True):
        worst = float(results.values(step, "largest_error").max())
        longest = int(results.values(step, "longest_text").max())
        shares = [(1 - alpha) * alpha**gap for gap in range(4)]
        rows.append([f"{alpha:g}", *(f"{share:.4f}" for share in shares), f"{worst:.1e}", str(longest)])
        claims.append(
            Claim(
                f"α = {alpha:g}: dᵢ holds Zⱼ with the share (1−α)·α^(i−j)",
                worst < _EXACT,
                f"largest error {worst:.1e} over texts of up to {longest} words",
            )
        )
    columns = ["α", "share of Zᵢ", "of Zᵢ₋₁", "of Zᵢ₋₂", "of Zᵢ₋₃", "largest error", "longest text"]
    figure = figures.context_shares(_ALPHAS)
    picture = Picture(
        f"proposition2-{results.dataset}", "Share of the decision on an earlier prefix, by distance", figure
    )
    return Shown([Grid("Proposition 2", columns, rows)], [picture], claims)


def _cost_steps(_dataset: str = "") -> dict[str, dict[float, Step]]:
    def step(share: float = 1.0, states: int = 20, epochs: int = 0) -> Step:
        return Step.of("cost", share=share, states=states, epochs=epochs)

    return {
        "N": {share: step(share=share) for share in _SHARES},
        "K": {states: step(states=states) for states in _COST_STATES},
        "t": {epochs: step(epochs=epochs) for epochs in _COST_EPOCHS},
    }


def _cost(results: Results) -> Shown:
    steps = _cost_steps()
    seconds = {name: {x: results.mean(step, "seconds") for x, step in chosen.items()} for name, chosen in steps.items()}
    tokens = {share: results.mean(step, "tokens") for share, step in steps["N"].items()}
    sizes: dict[str, list[float]] = {
        "N": list(tokens.values()),
        "K": [*_COST_STATES],
        "t": [epochs + 1 for epochs in _COST_EPOCHS],
    }
    bound = {"N": 1, "K": 2, "t": 1}
    label = {"N": "tokens N", "K": "states K", "t": "copies of the corpus t + 1"}
    exponents = {name: _slope(sizes[name], list(seconds[name].values())) for name in steps}
    rows = [
        [label[name], f"{size:,.0f}", f"{value:.2f}"]
        for name in steps
        for size, value in zip(sizes[name], seconds[name].values(), strict=True)
    ]
    claims = [
        Claim(
            f"time grows with {label[name]} at most with the power {bound[name]}",
            exponent <= bound[name] + _NOISE,
            f"fitted power {exponent:.2f}",
        )
        for name, exponent in exponents.items()
    ]
    measured = {label[name]: (sizes[name], list(seconds[name].values()), bound[name]) for name in steps}
    caption = f"Time of one extraction on {results.dataset}; dashed: the paper's O(K²·t·N) through the last point"
    picture = Picture(f"cost-{results.dataset}", caption, figures.cost_curves(measured))
    return Shown([Grid("Seconds of one extraction", ["varied", "value", "seconds"], rows)], [picture], claims)


def _slope(sizes: list[float], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


THEORY_SECTIONS = [
    Section(
        "zipf",
        "Word counts and missing rows",
        "Proposition 1: by Zipf's law the median word count is 2N/(m ln m), so that most rows are missing.",
        lambda _dataset: [_ZIPF],
        _zipf,
    ),
    Section(
        "proposition2",
        "What context awareness remembers",
        "Proposition 2: dᵢ = (1−α) Σₖ αⁱ⁻ᵏ Zₖ + αⁱ I, checked on the automaton of real texts.",
        _proposition2_steps,
        _proposition2,
    ),
]

COST = Section(
    "cost",
    "Cost",
    "Measured time beside the paper's O(K²·t·N).",
    lambda dataset: [step for chosen in _cost_steps(dataset).values() for step in chosen.values()],
    _cost,
)
