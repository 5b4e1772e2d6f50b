"""Tables of speed, memory and scaling."""

from __future__ import annotations

from report_tables.writing import SETS, Figures, markdown, number, power, rate, table


@table("extraction", "extraction")
def extraction(figures: Figures) -> str:
    plain, ours, peak = figures["seconds_plain"]["total"], figures["seconds"]["total"], figures["peak_mb"]
    return markdown(
        ["", "seconds", "peak memory", "CR"],
        [
            ["plain", number(plain, 1), f"{peak['plain']:.0f} MB", rate(figures["cr_plain"], 4)],
            ["wfalens", number(ours, 2), f"{peak['fast']:.0f} MB", rate(figures["cr"], 4)],
            [
                "ratio",
                f"**{figures['speedup']:.0f} ×**",
                f"**1 / {1 / figures['memory_ratio']:.1f}**",
                "equal" if figures["cr"] == figures["cr_plain"] else "",
            ],
        ],
    )


@table("extraction-steps", "extraction")
def extraction_steps(figures: Figures) -> str:
    return markdown(["step", "seconds"], [[step, number(value, 2)] for step, value in figures["seconds"].items()])


@table("inference", "inference")
def inference(figures: Figures) -> str:
    one = figures["one_thread"]
    shown = [
        ("stochastic, empirical completion, K = 40", one["speedup"], 10),
        ("stochastic, probed rows, K = 40", one["speedup_probe"], None),
        ("stochastic, fitted rows, K = 40", one["speedup_fit"], None),
        ("linear, five layers of 32", one["linear_speedup"], 4),
        ("readable, 13 states and 32 word clusters", one["readable_speedup"], 40),
    ]
    rows = [
        [kind, f"{ratio:.{1 if ratio < 20 else 0}f} ×", "" if goal is None else f"{goal} ×"]
        for kind, ratio, goal in shown
    ]
    return markdown(["", "tokens/s as a ratio to the LSTM", "goal"], rows)


@table("scaling", "scaling")
def scaling(figures: Figures) -> str:
    points = {}
    for series in ("corpus", "vocabulary", "states"):
        points |= {(one["tokens"], one["words"], one["states"]): one for one in figures["points"][series]}
    rows = [
        [
            power(one["tokens"]),
            power(one["words"]),
            number(one["states"]),
            f"{one['extract_s']:.2g} s",
            f"{one['step_ns']:,.0f} ns",
            number(one["transitions"]),
            f"{one['grown_mb']:.0f} MB",
        ]
        for one in points.values()
    ]
    slopes = [f"tokens^{figures['token_exponent']:.2f}"]
    slopes += [f"words^{figures['vocabulary_exponent']:.2f}, states^{figures['state_exponent']:.2f}".replace("-", "−")]
    rows.append(["slopes", "", "", *slopes, "", ""])
    return markdown(["tokens", "words", "K", "extract", "step", "transitions kept", "memory grown"], rows)


@table("streaming", "streaming")
def streaming(figures: Figures) -> str:
    rows = [
        [
            power(one["tokens"]),
            number(one["seconds"], 1),
            number(one["fixed_seconds"], 1),
            f"{one['peak_mb'] / 1e3:.2f} GB",
            number(one["transitions"]),
        ]
        for one in figures["points"]
    ]
    return markdown(["words", "seconds", "of these fixed", "peak", "transitions"], rows)


@table("export-sizes", "runtime")
def export_sizes(figures: Figures) -> str:
    rows = []
    for name in (name for name in SETS if name in figures):
        one = figures[name]
        size = f"{one['states']} states, {one['words']:,} words"
        goal = f"{rate(one['goal'], 2)} at 100 kB"
        rivals = [rate(one[rival].get("cr")) for rival in ("bag", "fasttext", "m2cgen")]
        rows.append([SETS[name], f"{one['bytes'] / 1000:.0f} kB", size, rate(one["cr"]), goal, *rivals])
    rivals = ("bag of words", "fastText", "m2cgen")
    return markdown(["", "file", "automaton", "CR", "goal", *(f"CR of {rival}" for rival in rivals)], rows)


@table("export-speed", "runtime")
def export_speed(figures: Figures) -> str:
    speed, names = figures["speed"], {"page": "readable, 13 states", "linear": "linear, 161 states"}
    goals = {"page": ("100 ×", "50 ×"), "linear": ("5 ×", "")}
    rows = []
    for kind, name in names.items():
        one = speed[kind]
        texts, ids, node = (one.get(f"speedup_{key}") for key in ("c", "c_ids", "node"))
        shown = [f"{ratio:.{0 if ratio >= 10 else 1}f} ×" if ratio else "" for ratio in (texts, ids, node)]
        cold = f"{one['cold_start_ms']:.0f} ms"
        rows.append([name, rate(one["cr"]), shown[0], shown[1], goals[kind][0], shown[2], goals[kind][1], cold])
    columns = ["", "CR", "C from text", "C from word ids", "goal", "Node", "goal", "cold start in Node"]
    return markdown(columns, rows)
