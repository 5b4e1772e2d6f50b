"""What must be known before the figures of a run are read: other data than the paper's, a small scale, the network."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.paper.experiment import FULL, Scale, Step
from benchmarks.paper.paper import PRINTED, printed
from benchmarks.paper.section import Results

from wfalens.text.datasets.catalogue import DATA_VARIABLE

ACCURACY = Step.of("accuracy")
TITLE = "The paper, reproduced"


def is_of_the_paper(dataset: str) -> bool:
    return dataset in PRINTED


def caveats(datasets: Iterable[str], scale: Scale) -> list[str]:
    """What is known before the work: data that are not the paper's, and a scale below its own."""
    others = [name for name in datasets if not is_of_the_paper(name)]
    told = []
    if others:
        told.append(
            f"not the paper's data, but {', '.join(others)}; the paper's are {' and '.join(PRINTED)}: name the folder "
            f"that holds them with --data FOLDER or {DATA_VARIABLE}"
        )
    if scale != FULL:
        texts = "all" if scale.train_texts is None else f"{scale.train_texts:,}"
        told.append(
            f"a quick run ({texts} training texts, {scale.epochs} epochs) only shows that the program works: do not "
            "cite its figures"
        )
    return told


def network_sentence(results: Results) -> str | None:
    """The accuracy of the networks under study, beside the paper's; None if it could not be measured."""
    if not all(ACCURACY in seed for seed in results.seeds):
        return None
    known = printed(results.dataset).accuracy
    beside = "" if known is None else f"; the paper's: {known:.2f}"
    return f"{results.dataset}: accuracy of the network {results.cell(ACCURACY, 'accuracy')}{beside}"


def title(datasets: Iterable[str], scale: Scale) -> str:
    """What the page may call itself."""
    if not all(map(is_of_the_paper, datasets)):
        return "The paper's experiments on other data"
    return TITLE if scale == FULL else "The paper's experiments, a quick run"
