"""CR and JSD on test texts against processor seconds, for the readable, the fitted and the linear kind.

Each kind is extracted anew with growing limits of time (`extract(…, time=…)`), by a clock of processor seconds, until
ends before its limit. A figure is drawn with --figure FILE.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from common import CACHE, arguments, code_version, finish, news, show, trained_model
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import METHODS, Request
from wfalens.extraction.deadline import Deadline
from wfalens.extraction.extract import extract_requested
from wfalens.extraction.method import ExtractionTexts
from wfalens.models import RNNClassifier
from wfalens.ragged import Ragged
from wfalens.storage import write_atomically

KINDS = {"readable": "readable", "fitted": "stochastic", "linear": "linear"}
LIMITS: tuple[float, ...] = (5, 10, 20, 60, 180)  # processor seconds
QUICK_LIMITS: tuple[float, ...] = (1, 4)
QUICK_TEXTS = 1500
COLOURS = {"readable": "#117733", "fitted": "#332288", "linear": "#CC6677"}  # told apart by the colour-blind, too


def point(
    kind: str,
    limit: float,
    model: RNNClassifier,
    ids: Ragged[np.int32],
    texts: Ragged[np.int32],
    wanted: np.ndarray,
) -> dict[str, float | bool]:
    began = time.process_time()
    wfa = extract_requested(
        Request(
            model=model,
            texts=ExtractionTexts(ids, None, {"name": "texts"}),
            deadline=Deadline(limit, time.process_time),
        ),
        METHODS[kind](),
    )
    spent = time.process_time() - began
    cr = float(np.mean(wfa.predict_indices(texts) == wanted.argmax(1)))
    jsd = float(jensen_shannon(wfa.predict_proba(texts), wanted).mean())
    return {"limit": limit, "cpu_seconds": spent, "cr": cr, "jsd": jsd, "whole": "stopped" not in wfa.provenance}


def curves(options: argparse.Namespace) -> dict[str, list[dict[str, float | bool]]]:
    """Points by kind, in the order of the limits; finished ones are kept under benchmarks/.cache."""
    name, train, test = news(options)
    model = trained_model(name, train, options.quick)
    ids, texts = (model.encoder.encode(corpus.texts).nonempty()[1] for corpus in (train, test))
    if options.quick:
        ids = ids.take(np.arange(min(QUICK_TEXTS, len(ids))))
    wanted, found = model.trace(texts).last(), dict[str, list[dict[str, float | bool]]]()
    for called, kind in KINDS.items():
        found[called] = []
        for limit in QUICK_LIMITS if options.quick else LIMITS:
            path = CACHE / f"anytime-{code_version()}{'-quick' if options.quick else ''}-{name}-{called}-{limit}.json"
            if not path.exists():
                made = point(kind, limit, model, ids, texts, wanted)
                write_atomically(path, json.dumps(made).encode())
                print(
                    f"{called} {limit}: CR {made['cr']:.4f}, {made['cpu_seconds']:.0f} s", file=sys.stderr, flush=True
                )
            found[called].append(json.loads(path.read_text()))
            if found[called][-1]["whole"]:  # with more time it would be the same
                break
    return found


def draw(found: dict[str, list[dict[str, float | bool]]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(6, 6), sharex=True, layout="constrained")
    for called, points in found.items():
        seconds = [each["cpu_seconds"] for each in points]
        for axes, key in ((above, "cr"), (below, "jsd")):
            axes.plot(seconds, [each[key] for each in points], "o-", color=COLOURS[called], label=called)
    above.set(ylabel="CR", xscale="log")
    below.set(ylabel="JSD", xscale="log", yscale="log", xlabel="processor seconds")
    above.legend()
    figure.savefig(path)


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0],
        lambda parser: parser.add_argument("--figure", type=Path, metavar="FILE", help="draw it (.svg, .png, .pdf)"),
    )
    found = curves(options)
    rows = [
        [
            called,
            "none" if each["whole"] else each["limit"],
            each["cpu_seconds"],
            f"{each['cr']:.4f}",
            f"{each['jsd']:.4f}",
        ]
        for called, points in found.items()
        for each in points
    ]
    show("faithfulness by time", ["", "limit", "processor s", "CR", "JSD"], rows)
    if options.figure:
        draw(found, options.figure)
    finish(options, found)


if __name__ == "__main__":
    main()
