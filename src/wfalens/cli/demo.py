"""`wfalens demo`."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import DataOption, JsonOption, TerminalProgress, print_json, print_table, say
from wfalens.cli.evaluate import print_fidelity
from wfalens.corpus.datasets import DATASETS, load_dataset
from wfalens.errors import InputError

_ATTACKED = 400  # texts
_COMPLETIONS = ("null", "uniform", "empirical", "probe")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for what the demo writes.")] = Path("demo"),
    dataset: Annotated[str, typer.Option(help="Data set by name.")] = "rotten_tomatoes",
    states: Annotated[int, typer.Option(help="Number of abstract states K.")] = 40,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Train, extract, evaluate, explain and attack on real text, from nothing, in about two minutes on two cores."""
    import numpy as np

    from wfalens.attack import Arsenal, run_attack
    from wfalens.attack.outcome import SUCCEEDED, SUMMARY_COLUMNS, summary_rows
    from wfalens.corpus.vectors import wordllama_vectors
    from wfalens.evaluation import measure_fidelity
    from wfalens.explanation import influence
    from wfalens.extraction import Extractor
    from wfalens.models.training import Trainer, accuracy

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
        name: Extractor(states=states, completion=name, alpha=0.0).extract(model, train_texts, progress)
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
    tell("4. explaining and attacking the LSTM through the probed automaton")
    best = automata["probe"]
    scores = influence(best)
    arsenal = Arsenal.prepare(best, wordllama_vectors(best.encoder.vocabulary.words[2:]), progress=progress)
    part = test_texts.subset(np.arange(0, len(test_texts), max(1, len(test_texts) // _ATTACKED)))
    outcomes = [
        run_attack(recipe, 1, arsenal.recipe(recipe, 1), model, part, progress=progress)
        for recipe in ("random-word", "strong", "guided")
    ]
    seconds = time.perf_counter() - began
    if as_json:
        print_json(
            {
                "model": str(model_path),
                "automaton": str(best_path),
                "test_accuracy": tested,
                "fidelity": {name: item.to_json() for name, item in fidelity.items()},
                "top_words": {name: list(scores.top(name).words) for name in best.class_names},
                "attacks": [{"recipe": item.recipe, **asdict(item.summary)} for item in outcomes],
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
    print_table(
        f"Success of attacks that change one word, on {len(part):,} texts", SUMMARY_COLUMNS, summary_rows(outcomes)
    )
    for example in [item for item in outcomes[-1].examples if item.status == SUCCEEDED][:2]:
        say(str(example))
    say(f"done in {seconds:.0f} s; now try")
    say(f'  wfalens explain {best_path} --text "a moving and funny film"')
