"""`wfalens demo`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import DataOption, JsonOption, TerminalProgress, print_json, print_table, say
from wfalens.cli.evaluate import print_fidelity
from wfalens.corpus.datasets import DATASETS, load_dataset
from wfalens.errors import InputError

_COMPLETIONS = ("null", "uniform", "empirical", "probe")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for what the demo writes.")] = Path("demo"),
    dataset: Annotated[str, typer.Option(help="Data set by name.")] = "rotten_tomatoes",
    states: Annotated[int, typer.Option(help="Number of abstract states K.")] = 40,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train, extract, evaluate, explain, attack and report on real text, from nothing, in a minute or two."""
    from wfalens.corpus.vectors import wordllama_vectors
    from wfalens.evaluation import measure_fidelity
    from wfalens.explanation import influence
    from wfalens.extraction import Extractor
    from wfalens.inspection import Study
    from wfalens.models.training import Trainer, accuracy
    from wfalens.report import collect, write_page

    if dataset not in DATASETS:
        raise InputError(f"unknown data set {dataset!r}; choose one of {', '.join(DATASETS)}")
    known, began = DATASETS[dataset], time.perf_counter()
    train_texts, test_texts = (load_dataset(dataset, split, data) for split in ("train", "test"))
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out}: {error.strerror}") from None
    progress = TerminalProgress()

    def tell(message: str) -> None:
        if not as_json:
            say(message)

    tell(f"1. training an LSTM on {len(train_texts):,} texts of {dataset}")
    trainer = Trainer(max_length=known.max_length, tokenizer=known.tokenizer)
    model = trainer.train(train_texts, progress=progress).model
    model_path = out / f"{dataset}.rnn"
    model.save(model_path)
    tested = accuracy(model, test_texts)
    tell(f"   test accuracy {tested:.3f}; wrote {model_path}")

    tell("2. extracting automata, one for each way to complete missing rows")
    automata = {
        name: Extractor.paper(states=states, completion=name, alpha=0.0).extract(model, train_texts, progress)
        for name in _COMPLETIONS
    }
    best_path = out / f"{dataset}.wfa"
    automata["probe"].save(best_path)
    tell(f"   wrote {best_path} (the most faithful one)")

    tell(f"3. comparing them with the LSTM on {len(test_texts):,} texts that neither has seen")
    fidelity = {
        name: measure_fidelity(wfa, model, test_texts, reference=train_texts, progress=progress)
        for name, wfa in automata.items()
    }
    tell("4. explaining and attacking the LSTM through the probed automaton, and writing a page that shows it all")
    best, vectors = automata["probe"], wordllama_vectors(model.encoder.vocabulary.words[2:])
    scores = influence(best)
    page = collect(Study(best_path.name, best, model, test_texts, vectors), progress=progress)
    report_path = out / f"{dataset}.html"
    write_page(page, report_path)
    seconds = time.perf_counter() - began
    if as_json:
        print_json(
            {
                "model": str(model_path),
                "automaton": str(best_path),
                "test_accuracy": tested,
                "fidelity": {name: item.to_json() for name, item in fidelity.items()},
                "top_words": {name: list(scores.top(name).words) for name in best.class_names},
                "attacks": page["attacks"]["recipes"],
                "report": str(report_path),
                "seconds": seconds,
            }
        )
        return
    print_table(
        "Completion of missing rows",
        ["", "CR [95 %]", "JSD [95 %]"],
        [[name, f"{item.overall.cr:.3f}", f"{item.overall.jsd:.3f}"] for name, item in fidelity.items()],
    )
    print_fidelity("The probed automaton in detail", fidelity["probe"])
    print_table(
        f"Most influential words (change of {best.unit})",
        ["class", "words"],
        [[name, ", ".join(scores.top(name).words)] for name in best.class_names],
    )
    attacks = page["attacks"]
    print_table(
        f"Success of attacks that change one word, on {attacks['texts']:,} texts",
        ["recipe", "of all", "of correct", "words", "queries"],
        [
            [
                item["recipe"],
                f"{item['asr_all']:.3f}",
                f"{item['asr_correct']:.3f}",
                f"{item['words_changed']:.1%}",
                f"{item['queries']:.1f}",
            ]
            for item in attacks["recipes"]
        ],
    )
    say(f"done in {seconds:.0f} s; now open {report_path} in a browser, or try")
    say(f"  wfalens explore {best_path} --model {model_path}")
    say(f'  wfalens explain {best_path} --text "a moving and funny film"')
