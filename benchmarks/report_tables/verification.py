"""Tables of certificates, model checking and formal languages."""

from __future__ import annotations

from report_tables.writing import SETS, Figures, markdown, percent, rate, table


@table("certify-network", "certify")
def certify_network(figures: Figures) -> str:
    rows = []
    for name, found in figures.items():
        for changes, one in found.items() if name in SETS else ():
            if changes not in ("1", "2"):
                continue
            rows.append(
                [
                    f"{found['texts']} {SETS[name]}, {changes} change{'s' * (changes != '1')}",
                    percent(one["proven"]),
                    percent(one["broken"]),
                    f"{one['queries_broken']:.3g} / {one['queries_broken_plain']:.3g}",
                    rate(one["queries_ratio"]),
                    percent(one["queries_of_all"]),
                    f"{rate(one['seconds'])} / {rate(one['seconds_plain'])}",
                ]
            )
    columns = ["", "proven", "broken", "queries a break: ours / plain", "ratio", "share of all variants"]
    return markdown([*columns, "seconds a text: ours / plain"], rows)


@table("certify-any", "certify")
def certify_any(figures: Figures) -> str:
    rows = []
    for name, found in figures.items():
        if name not in SETS or "any" not in found:
            continue
        one = found["any"]
        kept = _never_changed(one.get("network_held"), one.get("variants_kept"))
        rows.append([f"{found['texts']} {SETS[name]}", percent(one["certified_on_automaton"]), kept])
    columns = ["", "certified on the automaton"]
    return markdown([*columns, "certified texts whose class the network never changed, where both agree"], rows)


def _never_changed(held: Figures | None, variants: float | None) -> str:
    if held is None:
        return "no text"
    interval = f"[{100 * held['low']:.1f}, {100 * held['high']:.1f}]"
    return f"{percent(held['value'])} {interval}" + (
        "" if variants is None else f" ({percent(variants)} of the variants)"
    )


@table("checking", "checking")
def checking(figures: Figures) -> str:
    rows = [
        [
            question,
            rate(one["agrees"], 2),
            f"{_signed(one['automaton_change'])} / {_signed(one['model_change'])}",
            f"{one['model_flips']} of {one['flips']}",
            f"{one['gap']:.1g}".replace("0.", ".", 1),
        ]
        for question, one in figures.items()
    ]
    columns = ["question", "LSTM agrees", "mean change: automaton / LSTM", "class changes that the LSTM follows"]
    return markdown([*columns, "Storm − best fixed words, at most"], rows)


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "") + rate(value)


@table("languages", "languages")
def languages(figures: Figures) -> str:
    ways = [way for way in next(iter(figures.values())) if way != "known_states"]
    rows = [
        [tomita, str(found["known_states"])]
        + [f"**{found[way]['states']}**" if found[way]["equal"] else str(found[way]["states"]) for way in ways]
        for tomita, found in figures.items()
    ]
    return markdown(["Tomita", "known", *ways], rows)


@table("tomita", "tomita")
def tomita(figures: Figures) -> str:
    shown = {
        "outputs": "stochastic, outputs, K = 12",
        "lookahead": "stochastic, looking ahead, K = 12",
        "linear": "linear",
    }
    rows = [
        [told, *(rate(found.get(way)) for found in figures.values())]
        for way, told in {"accuracy": "the LSTM itself", **shown}.items()
    ]
    return markdown(["", *figures], rows)
