"""`wfalens demo`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_folder
from wfalens.cli.output import print_json, print_table, say
from wfalens.cli.progress import TerminalProgress
from wfalens.errors import InputError
from wfalens.progress import SILENT, Progress

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Fidelity
    from wfalens.explanation import Influence

_COMPLETIONS = ("null", "uniform", "empirical", "probe")
_BEST = "probe"


@dataclass(frozen=True)
class Demo:
    """What the demo wrote and found; fidelity by completion, the rest of the best automaton."""

    model: Path
    automaton: Path
    report: Path
    wfa: WFA
    test_accuracy: float
    fidelity: dict[str, Fidelity]
    influence: Influence
    attacks: dict[str, Any]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "model": str(self.model),
            "automaton": str(self.automaton),
            "test_accuracy": self.test_accuracy,
            "fidelity": {name: item.to_json() for name, item in self.fidelity.items()},
            "top_words": {name: list(self.influence.top(name).words) for name in self.wfa.class_names},
            "attacks": self.attacks["recipes"],
            "report": str(self.report),
            "seconds": self.seconds,
        }


def demo_cli(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="For what the demo writes.")] = Path(
        "demo"
    ),
    dataset: Annotated[
        str, typer.Option(metavar="NAME", help="Data set by name (see `wfalens data list`).")
    ] = "rotten_tomatoes",
    states: Annotated[int, typer.Option(metavar="K", help="Number of abstract states.")] = 40,
    data: opt.Data = None,
    as_json: opt.Json = False,
) -> None:
    """Train, extract, evaluate, explain, attack and report on real text, from nothing, in a minute or two.

    It writes a network (.rnn), an automaton (.wfa) and a page (.html) that shows both, and says what to try next.

    Example:
      wfalens demo --out demo
    """
    progress = TerminalProgress()
    done = demo(out, dataset, states, data, tell=_silent if as_json else say, progress=progress)
    if as_json:
        print_json(done.to_json())
    else:
        _print(done)


def demo(
    out: Path,
    dataset: str = "rotten_tomatoes",
    states: int = 40,
    data: Path | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
    progress: Progress = SILENT,
) -> Demo:
    """The whole way on a data set; `tell` hears of every step."""
    from wfalens.corpus.datasets import DATASETS, load_dataset

    if dataset not in DATASETS:
        raise InputError(f"unknown data set {dataset!r}; choose one of {', '.join(DATASETS)}")
    check_folder(out)
    known, began = DATASETS[dataset], time.perf_counter()
    train_texts, test_texts = (load_dataset(dataset, split, data) for split in ("train", "test"))
    from wfalens.corpus.vectors import wordllama_vectors
    from wfalens.evaluation import measure_fidelity
    from wfalens.explanation import influence
    from wfalens.extraction import Extractor
    from wfalens.inspection import Study
    from wfalens.models.training import Trainer, accuracy
    from wfalens.report import collect, write_page

    tell(f"1. training an LSTM on {len(train_texts):,} texts of {dataset}")
    training = Trainer(max_length=known.max_length, tokenizer=known.tokenizer).train(train_texts, progress=progress)
    if training.interrupted:
        raise KeyboardInterrupt
    model, paths = training.model, {ending: out / f"{dataset}.{ending}" for ending in ("rnn", "wfa", "html")}
    model.save(paths["rnn"])
    tested = accuracy(model, test_texts)
    tell(f"   test accuracy {tested:.3f}; wrote {paths['rnn']}")

    tell("2. extracting automata, one for each way to complete missing rows")
    automata = {
        name: Extractor.paper(states=states, completion=name, alpha=0.0).extract(model, train_texts, progress)
        for name in _COMPLETIONS
    }
    best = automata[_BEST]
    best.save(paths["wfa"])
    tell(f"   wrote {paths['wfa']} (the most faithful one)")

    tell(f"3. comparing them with the LSTM on {len(test_texts):,} texts that neither has seen")
    fidelity = {
        name: measure_fidelity(wfa, model, test_texts, reference=train_texts, progress=progress)
        for name, wfa in automata.items()
    }
    tell("4. explaining and attacking the LSTM through the probed automaton, and writing a page that shows it all")
    vectors = wordllama_vectors(model.encoder.vocabulary.words[2:])
    page = collect(Study(paths["wfa"].name, best, model, test_texts, vectors), progress=progress)
    write_page(page, paths["html"])
    return Demo(
        paths["rnn"],
        paths["wfa"],
        paths["html"],
        best,
        tested,
        fidelity,
        influence(best),
        page["attacks"],
        time.perf_counter() - began,
    )


def _silent(_message: str) -> None:
    """Machines read the result only."""


def _print(done: Demo) -> None:
    from wfalens.cli.evaluate import print_fidelity

    print_table(
        "Completion of missing rows",
        ["", "CR [95 %]", "JSD [95 %]"],
        [[name, f"{item.overall.cr:.3f}", f"{item.overall.jsd:.3f}"] for name, item in done.fidelity.items()],
    )
    print_fidelity("The probed automaton in detail", done.fidelity[_BEST])
    print_table(
        f"Most influential words (change of {done.wfa.unit})",
        ["class", "words"],
        [[name, ", ".join(done.influence.top(name).words)] for name in done.wfa.class_names],
    )
    print_table(
        f"Success of attacks that change one word, on {done.attacks['texts']:,} texts",
        ["recipe", "of all", "of correct", "words", "queries"],
        [
            [
                item["recipe"],
                f"{item['asr_all']:.3f}",
                f"{item['asr_correct']:.3f}",
                f"{item['words_changed']:.1%}",
                f"{item['queries']:.1f}",
            ]
            for item in done.attacks["recipes"]
        ],
    )
    say(f"done in {done.seconds:.0f} s; now open {done.report} in a browser, or try")
    say(f"  wfalens explore {done.automaton} --model {done.model}")
    say(f'  wfalens explain {done.automaton} --text "a moving and funny film"')
