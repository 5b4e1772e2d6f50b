"""All benchmarks in one run: their results as files, one page with all, and the tables of the documentation."""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from report_results import FOLDER, Result, about, best_results, full_results, machine, programs, split_output, versions
from report_tables import TABLES, pages_with_tables, rewritten

ROOT = FOLDER.parent
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = FOLDER / "results"
HEAD = """# Benchmarks

This page is written by `make bench-report`, from the results that lie as JSON under
`benchmarks/results`. The tables of figures in README and the other pages come from the same files,
so they show what these hold. Many figures of full size are older than these files: they were
entered by hand from the text of the documentation, and a note beside them says so. Figures without
such a note were written by the program that measured them. A program that failed or was left out is
named, with the reason. Figures marked *quick* come from a small version that shows that the program
works: do not cite them. Times depend on the machine; compare ratios within one run.
"""


def run(name: str, quick: bool, data: str | None, limit: float | None) -> Result:
    """One program in a process of its own; what goes wrong is part of the result."""
    command = [
        sys.executable,
        str(FOLDER / f"{name}.py"),
        "--json",
        *(["--quick"] if quick else []),
        *(["--data", data] if data else []),
    ]
    before = _children_seconds()
    failure = None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, cwd=FOLDER.parent)
        printed = done.stdout
        if done.returncode:
            failure = f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"
    except subprocess.TimeoutExpired:
        printed, failure = "", f"not done after {limit:.0f} seconds"
    tables, figures = split_output(printed)
    ended, seconds = _moment(datetime.now(UTC)), round(_children_seconds() - before, 1)
    return Result(
        name, about(name, FOLDER), quick, ended, seconds, machine(), versions(), tables, figures, failure=failure
    )


def taken(name: str, files: Iterable[Path], quick: bool, note: str | None) -> Result:
    """What earlier runs of a program have printed into files; the figures of several runs stand side by side."""
    outputs = [split_output(path.read_text(encoding="utf-8")) for path in files]
    figures = {key: value for _, each in outputs for key, value in (each or {}).items()}
    if not figures:
        raise SystemExit(f"{name}: no file ends with a JSON object; run the program with --json.")
    ended = _moment(datetime.fromtimestamp(max(path.stat().st_mtime for path in files), UTC))
    printed = "\n\n".join(tables for tables, _ in outputs if tables)
    return Result(name, about(name, FOLDER), quick, ended, None, machine(), versions(), printed, figures, note=note)


def page(results: list[Result], absent: list[str]) -> str:
    """The page; the machine and the versions of most results stand at the top."""
    parts = [HEAD]
    places = Counter(_where(each) for each in results if not each.note)
    usual = max(places, key=places.__getitem__, default=None)
    parts += [_wrapped(f"Where a section does not say otherwise: {usual}."), ""] if usual else []
    if absent:
        parts += [_wrapped(f"Not run: {', '.join(f'`{name}`' for name in absent)}."), ""]
    for each in results:
        parts += _section(each, with_machine=_where(each) != usual)
    return "\n".join(parts).rstrip() + "\n"


def _section(result: Result, with_machine: bool) -> list[str]:
    size = "quick" if result.quick else "full"
    time = "" if result.seconds is None else f", {result.seconds:.0f} processor seconds"
    lines = [f"## {result.name}", "", _wrapped(result.about), "", f"*{size}, {result.ended}{time}*", ""]
    if result.note:
        lines += [_wrapped(f"**Note**: {result.note}"), ""]
    if with_machine:
        lines += [_wrapped(f"{_where(result)}."), ""]
    if result.failure:
        lines += [f"**It failed**: `{result.failure.replace('`', chr(39))}`", ""]
    if result.printed:
        lines += ["```text", result.printed, "```", ""]
    elif result.figures:
        shown = [table.render(result.figures) for table in TABLES.values() if table.benchmark == result.name]
        lines += [line for table in shown for line in (table, "")]
    return lines


def _where(result: Result) -> str:
    packages = ", ".join(f"{package} {number}" for package, number in result.versions.items())
    return f"{result.machine}; {packages}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def _moment(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC")


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def keep(result: Result, folder: Path) -> None:
    """Store a result; one that failed does not take the place of one that did not."""
    if not (result.failure and result.path(folder).exists()):
        result.write(folder)


def write_pages(folder: Path) -> list[Path]:
    """Write the page of all results, and the tables in all other pages, from what is stored."""
    results = best_results(folder)
    absent = [name for name in programs(FOLDER) if name not in {each.name for each in results}]
    PAGE.write_text(page(results, absent), encoding="utf-8")
    full, changed = full_results(folder), [PAGE]
    for path in pages_with_tables(ROOT):
        before = path.read_text(encoding="utf-8")
        after = rewritten(path, before, full, ROOT)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


def options_of(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small versions, under a minute each; kept apart")
    parser.add_argument("--data", help="folder with the real data sets (default: WFALENS_DATA)")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for each program (default: none)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder that keeps the results as JSON")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--only", nargs="+", metavar="NAME", choices=programs(FOLDER), help="run some programs; others stay as kept"
    )
    what.add_argument(
        "--take",
        nargs="+",
        metavar=("NAME", "FILE"),
        help="run nothing: store what a program printed into files with --json",
    )
    what.add_argument("--tables", action="store_true", help="run nothing: write the pages from what is stored")
    parser.add_argument("--note", help="with --take: what a reader must know of these figures")
    options = parser.parse_args(given)
    if options.take and (len(options.take) < 2 or options.take[0] not in programs(FOLDER)):
        parser.error(f"--take needs a program and a file; programs: {', '.join(programs(FOLDER))}")
    return options


def main(given: list[str] | None = None) -> int:
    options, failed = options_of(given), []
    if options.take:
        name, *files = options.take
        keep(taken(name, [Path(file) for file in files], options.quick, options.note), options.results)
    elif not options.tables:
        for name in options.only or programs(FOLDER):
            print(f"{name} …", file=sys.stderr, flush=True)
            result = run(name, options.quick, options.data, options.limit)
            keep(result, options.results)
            failed += [f"{name} ({result.failure})"] if result.failure else []
    changed = write_pages(options.results)
    print(f"wrote {', '.join(str(path.relative_to(ROOT)) for path in changed)}")
    for each in failed:
        print(f"failed: {each}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
