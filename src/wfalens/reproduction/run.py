"""The whole reproduction: measure what is not measured yet, then write the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wfalens.corpus.datasets import DATASETS, load_dataset
from wfalens.errors import InputError, WfalensError
from wfalens.progress import SILENT, Progress
from wfalens.reproduction.measurements import MEASURES
from wfalens.reproduction.page import Chapter, write_pages
from wfalens.reproduction.parts import PARTS
from wfalens.reproduction.section import Part, Results, Shown
from wfalens.reproduction.store import Result, Store
from wfalens.reproduction.study import FULL, TRAIN, Scale, Step, Study


def reproduce(
    folder: Path,
    datasets: Sequence[str] = ("tagmynews", "jigsaw_toxic"),
    *,
    seeds: int = 3,
    only: Sequence[str] = (),
    scale: Scale = FULL,
    data: Path | None = None,
    models: Mapping[str, Sequence[Path]] | None = None,
    progress: Progress = SILENT,
) -> dict[str, Any]:
    """Run the parts named in `only` (default: all) on every data set and seed; `folder/index.html` shows the result.

    A finished measurement is kept under `folder/measurements` and recognised by its parameters: after a stop, the same
    call goes on where it was. `models` are trained classifiers to take, one per seed, instead of training them.
    """
    parts = _chosen(only)
    given = dict(models or {})
    _check(datasets, seeds, given, data)
    store = Store(folder / "measurements")
    runs = {name: len(given[name]) if name in given else seeds for name in datasets}
    total = sum(runs[name] * len(_steps(parts, name)) for name in datasets)
    progress.start("reproducing the paper", total)
    results = {}
    failures: dict[tuple[str, Step], str] = {}
    for name in datasets:
        tables = []
        for seed in range(runs[name]):
            model = given[name][seed] if name in given else None
            table, failed = _measured(parts, name, seed, scale, folder, data, model, store, progress)
            tables.append(table)
            failures |= {(name, step): reason for step, reason in failed.items()}
        results[name] = Results(name, tables)
    progress.finish()
    chapters = [_chapter(part, results[name], failures) for part in parts for name in datasets if part.steps(name)]
    return write_pages(folder, chapters, scale)


def _chapter(part: Part, results: Results, failures: Mapping[tuple[str, Step], str]) -> Chapter:
    """What a part shows, or why it cannot."""
    steps = part.steps(results.dataset)
    reasons = {failures[results.dataset, step] for step in steps if (results.dataset, step) in failures}
    if reasons:
        return Chapter(part, results, Shown(), [], f"Not measured: {'; '.join(sorted(reasons))}.")
    return Chapter(part, results, part.show(results), steps)


def _measured(
    parts: Sequence[Part],
    dataset: str,
    seed: int,
    scale: Scale,
    folder: Path,
    data: Path | None,
    model: Path | None,
    store: Store,
    progress: Progress,
) -> tuple[dict[Step, Result], dict[Step, str]]:
    """All steps of the parts on one data set and one seed, and why some could not be measured."""
    studies: dict[str, Study] = {}
    table, failed = {}, {}
    for step in _steps(parts, dataset):
        progress.advance(0, f"{dataset}, seed {seed}: {step}")
        if step.variant not in studies:
            given = model if step.variant == TRAIN else None  # a given model was trained on the paper's texts
            studies[step.variant] = Study(dataset, seed, scale, folder, data, step.variant, given)
        try:
            table[step] = studies[step.variant].measure(step, MEASURES, store)
        except WfalensError as error:
            failed[step] = str(error)
            progress.say(f"{dataset}, seed {seed}: {step} could not be measured: {error}")
        progress.advance(1, f"{dataset}, seed {seed}: {step}")
    return table, failed


def _steps(parts: Sequence[Part], dataset: str) -> list[Step]:
    """The steps of all parts, each once, in order."""
    return list(dict.fromkeys(step for part in parts for step in part.steps(dataset)))


def _chosen(only: Sequence[str]) -> list[Part]:
    for name in only:
        if name not in PARTS:
            raise InputError(f"unknown part {name!r}; choose among {', '.join(PARTS)}")
    return [part for part in PARTS.values() if not only or part.name in only]


def _check(datasets: Sequence[str], seeds: int, models: Mapping[str, Sequence[Path]], data: Path | None) -> None:
    if seeds < 1:
        raise InputError(f"there must be at least one seed, not {seeds}")
    if not datasets:
        raise InputError("name at least one data set")
    for name in datasets:
        if name not in DATASETS:
            raise InputError(f"unknown data set {name!r}; choose one of {', '.join(DATASETS)}")
        load_dataset(name, "test", data)
    for name, paths in models.items():
        if name not in datasets:
            raise InputError(f"a model is given for {name}, which is not among the data sets {', '.join(datasets)}")
        for path in paths:
            if not path.is_file():
                raise InputError(f"{path}: no such file")
