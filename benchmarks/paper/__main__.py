"""Run the paper's experiments again and set our figures beside the printed ones: `make paper`.

Writes index.html, results.json, tables (csv, md) and figures (png, pdf) to a folder. Every claim of the paper is
checked and marked held or not held. May be stopped at any time: the same command continues after the last network that
was trained and the last figure that was measured.

The paper's data are not bundled: --data or WFALENS_DATA names the folder that has tagmynews/train.csv and so on
(docs/corpora.md). Without it, generated headlines are used, and the page says so. All sections on both data sets with
three seeds took 84 minutes of processor time on our machine.

Sections: table1 (missing rows), table2 (context), table3 (augmentation), leak (news titles in both splits), fig-beta,
fig-alpha, fig-states, zipf (proposition 1), proposition2, words (influence), maps (t-SNE), pairs, pretraining, attacks,
cost, beyond (probing and automatic choice).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.paper import FULL, QUICK, reproduce
from benchmarks.paper.result_folder import claims_sentence, measuring_sentence

from wfalens.errors import InputError, WfalensError
from wfalens.progress import shown
from wfalens.text.datasets.catalogue import is_available

PAPER_DATA = ("tagmynews", "jigsaw_toxic")


def main(arguments: Sequence[str]) -> int:
    """Run the experiments; -> the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with shown(True):
            summary = _run(options)
    except WfalensError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"stopped; the same command continues from {options.out}", file=sys.stderr)
        return 130
    if options.json:
        print(json.dumps(summary, indent=2))
    else:
        _print(summary, options.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", "-o", type=Path, default=Path("reproduction"), metavar="FOLDER", help="results")
    parser.add_argument("--only", default="", metavar="SECTIONS", help="sections to run, separated by commas")
    parser.add_argument("--dataset", default="", metavar="NAMES", help="data sets, separated by commas")
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: 3; quick: 1)")
    parser.add_argument("--quick", action="store_true", help="a small version of everything; do not cite it")
    parser.add_argument("--model", action="append", default=[], metavar="DATASET=FILE", help="use a trained model")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the data folder (default: WFALENS_DATA)")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    return parser


def _run(options: argparse.Namespace) -> dict[str, Any]:
    names = _listed(options.dataset) or [name for name in PAPER_DATA if is_available(name, options.data)]
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {options.out}: {error.strerror}", code="output") from None
    return reproduce(
        options.out,
        names or ["newsroom"],
        seeds=options.seeds or (1 if options.quick else 3),
        only=_listed(options.only),
        scale=QUICK if options.quick else FULL,
        data=options.data,
        models=_models(options.model),
    )


def _print(summary: dict[str, Any], out: Path) -> None:
    print(*summary["caveats"], *summary["networks"], sep="\n")
    for part in summary["parts"]:
        print(f"{part['part']}, {part['dataset']}" + (f": {part['missing']}" if part["missing"] else ""))
        for claim in part["claims"]:
            agree = f"; {claim['seeds']} seeds" if claim["seeds"] else ""
            print(f"  {'held    ' if claim['held'] else 'NOT HELD'} {claim['text']} ({claim['evidence']}{agree})")
    print(claims_sentence(summary), measuring_sentence(summary), f"wrote {out / 'index.html'}", sep="\n")


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _models(given: Sequence[str]) -> dict[str, list[Path]]:
    models: dict[str, list[Path]] = {}
    for item in given:
        name, sign, path = item.partition("=")
        if not (name and sign and path):
            raise InputError(f"--model must be DATASET=FILE, not {item!r}", code="option-value")
        models.setdefault(name, []).append(Path(path))
    return models


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
