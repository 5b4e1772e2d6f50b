"""The whole reproduction: measure what is not measured yet, then write the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.paper.caveats import ACCURACY, caveats
from benchmarks.paper.contents import SECTIONS
from benchmarks.paper.experiment import FULL, TRAIN, Experiment, Scale, Step
from benchmarks.paper.measurements import MEASURES
from benchmarks.paper.result_folder import Chapter, write_results
from benchmarks.paper.section import Results, Section, Shown
from benchmarks.paper.store import Result, Store

from wfalens import progress
from wfalens.errors import InputError, WfalensError
from wfalens.text.datasets.catalogue import DATASETS, load_dataset
from wfalens.validation import check_choice


def reproduce(
    folder: Path,
    datasets: Sequence[str] = ("tagmynews", "jigsaw_toxic"),
    *,
    seeds: int = 3,
    only: Sequence[str] = (),
    scale: Scale = FULL,
    data: Path | None = None,
    models: Mapping[str, Sequence[Path]] | None = None,
) -> dict[str, Any]:
    """Run the sections named in `only` (default: all) on every data set and seed; `folder/index.html` shows the result.

    A finished measurement is kept under `folder/measurements` and recognised by its parameters: after a stop, the same
    call goes on where it was. `models` are trained classifiers to take, one per seed, instead of training them.
    """
    sections = _chosen(only)
    given = dict(models or {})
    _check(datasets, seeds, given, data)
    for caveat in caveats(datasets, scale):
        progress.say(caveat)
    store = Store(folder / "measurements")
    runs = {name: len(given[name]) if name in given else seeds for name in datasets}
    total = sum(runs[name] * len(_steps(sections, name)) for name in datasets)
    progress.start("reproducing the paper", total)
    results = {}
    failures: dict[tuple[str, Step], str] = {}
    for name in datasets:
        tables = []
        for seed in range(runs[name]):
            model = given[name][seed] if name in given else None
            table, failed = _measured(sections, name, seed, scale, folder, data, model, store)
            tables.append(table)
            failures |= {(name, step): reason for step, reason in failed.items()}
        results[name] = Results(name, tables)
    progress.finish()
    chapters = [
        _chapter(section, results[name], failures) for section in sections for name in datasets if section.steps(name)
    ]
    return write_results(folder, chapters, list(results.values()), scale)


def _chapter(section: Section, results: Results, failures: Mapping[tuple[str, Step], str]) -> Chapter:
    """What a section shows, or why it cannot."""
    steps = section.steps(results.dataset)
    reasons = {failures[results.dataset, step] for step in steps if (results.dataset, step) in failures}
    if reasons:
        return Chapter(section, results, Shown(), [], f"Not measured: {'; '.join(sorted(reasons))}.")
    return Chapter(section, results, section.show(results), steps)


def _measured(
    sections: Sequence[Section],
    dataset: str,
    seed: int,
    scale: Scale,
    folder: Path,
    data: Path | None,
    model: Path | None,
    store: Store,
) -> tuple[dict[Step, Result], dict[Step, str]]:
    """All steps of the sections on one data set and one seed, and why some could not be measured."""
    experiments: dict[str, Experiment] = {}
    table, failed = {}, {}
    for step in _steps(sections, dataset):
        progress.advance(0, f"{dataset}, seed {seed}: {step}")
        if step.variant not in experiments:
            given = model if step.variant == TRAIN else None  # a given model was trained on the paper's texts
            experiments[step.variant] = Experiment(dataset, seed, scale, folder, data, step.variant, given)
        try:
            table[step] = experiments[step.variant].measure(step, MEASURES, store)
        except WfalensError as error:
            failed[step] = str(error)
            progress.say(f"{dataset}, seed {seed}: {step} could not be measured: {error}")
        progress.advance(1, f"{dataset}, seed {seed}: {step}")
    return table, failed


def _steps(sections: Sequence[Section], dataset: str) -> list[Step]:
    """How good the network is, and then the steps of all sections, each once, in order; none if no section has any."""
    steps = dict.fromkeys(step for section in sections for step in section.steps(dataset))
    return list({ACCURACY: None, **steps}) if steps else []


def _chosen(only: Sequence[str]) -> list[Section]:
    for name in only:
        check_choice("section", name, SECTIONS)
    return [section for section in SECTIONS.values() if not only or section.name in only]


def _check(datasets: Sequence[str], seeds: int, models: Mapping[str, Sequence[Path]], data: Path | None) -> None:
    if seeds < 1:
        raise InputError(f"there must be at least one seed, not {seeds}")
    if not datasets:
        raise InputError("name at least one data set")
    for name in datasets:
        check_choice("data set", name, DATASETS)
        load_dataset(name, "test", data)
    for name, paths in models.items():
        if name not in datasets:
            raise InputError(f"a model is given for {name}, which is not among the data sets {', '.join(datasets)}")
        for path in paths:
            if not path.is_file():
                raise InputError(f"{path}: no such file")
