"""Tables 1 to 3: how missing rows are filled, context awareness, data augmentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from benchmarks.paper.experiment import Step
from benchmarks.paper.paper import printed
from benchmarks.paper.section import Claim, Grid, Results, Section, Shown, difference, order_claim
from benchmarks.paper.settings import BEST, PLAIN, TABLES, Setting, setting_name, setting_step

_COLUMNS = ["automaton", "CR: paper", "ours", "difference", "JSD: paper", "ours", "difference", "s: paper", "ours"]
_SIMILAR_TIME = 2.0  # "about the same": less than that times as long (the paper's own largest ratio is 1.5)


def _table(results: Results, title: str, settings: Iterable[Setting]) -> Grid:
    rows = []
    for setting in settings:
        step = setting_step(setting)
        known = printed(results.dataset).rows.get(setting)
        cr, jsd, seconds = known or (None, None, None)
        rows.append(
            [
                setting_name(setting),
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


def _fidelity_steps(settings: list[Setting]) -> Callable[[str], list[Step]]:
    return lambda _dataset: [Step.of("accuracy"), *(setting_step(setting) for setting in settings)]


def _table1(results: Results) -> Shown:
    null, uniform, empirical = (setting_step(setting) for setting in TABLES["table1"])
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
    return Shown([_model(results), _table(results, "Filling of missing rows", TABLES["table1"])], claims=claims)


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
    return Shown([_table(results, "Context awareness", TABLES["table2"])], claims=claims)


def _table3(results: Results) -> Shown:
    claims = []
    for name in ("uniform", "empirical"):
        plain, more = (setting_step((name, True, augmented)) for augmented in (False, True))
        claims.append(order_claim(f"augmentation makes {name} more consistent", results, (plain, "cr"), (more, "cr")))
        claims.append(order_claim(f"… and {name} diverges less", results, (more, "jsd"), (plain, "jsd")))
    base, best = setting_step(PLAIN), setting_step(BEST)
    claims.append(order_claim("all three together beat plain uniform in CR", results, (base, "cr"), (best, "cr")))
    claims.append(order_claim("… and in JSD", results, (best, "jsd"), (base, "jsd")))
    return Shown([_table(results, "Data augmentation: D₀ against D", TABLES["table3"])], claims=claims)


TABLE_SECTIONS = [
    Section(
        "table1",
        "Missing rows",
        "How rows that were never observed are filled (paper, table 1).",
        _fidelity_steps(TABLES["table1"]),
        _table1,
    ),
    Section(
        "table2",
        "Context awareness",
        "With and without the static probability α (paper, table 2).",
        _fidelity_steps(TABLES["table2"]),
        _table2,
    ),
    Section(
        "table3",
        "Data augmentation",
        "Extraction from the training texts alone (D₀) and with synonym replacement and dropout (D) (paper, table 3).",
        _fidelity_steps([*TABLES["table3"], PLAIN]),
        _table3,
    ),
]
