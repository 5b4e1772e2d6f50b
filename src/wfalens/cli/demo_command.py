"""`wfalens demo`: the whole way on a data set."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import wfalens as wl
from wfalens import models, text
from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.library import explanation, report
from wfalens.cli.output import check_folder, print_json, print_result, print_rows, say
from wfalens.text.datasets import NAMES
from wfalens.validation import check_choice

_LONGEST_EXAMPLE, _SUREST = 16, 0.95  # words of the text that is explained, and the automaton's confidence at most
_CLAIMS = 8  # of the findings, the most useful ones
_EXTRACTION = 40.0  # seconds at most: a demo should not make anyone wait for the last half percent
_EXTENT = {"sentences": 15, "attacked": 200}  # on the page: of each kind, and texts; `wfalens report` has more
command = new_group()


@register(command, "demo")
def demo(
    settings: Settings,
    out: Annotated[Path, opt.value("--out -o", "FOLDER", "Where files are written.")] = Path("demo"),
    dataset: Annotated[str, opt.value("--dataset", "NAME", f"Data set: {', '.join(NAMES)}.")] = "rotten_tomatoes",
) -> None:
    """Train a network on real texts, copy it into an automaton, and let that explain what the network does.

    It takes about two minutes, 40 seconds of them for the automata. First it reports how often the network is right
    and how often the automaton agrees with it, beside a bag of words; then what the network has learned and what not,
    and how it reads, word by word; then which words decided one text. It writes the network (.rnn), the automaton
    (.wfa) and a page (.html) that shows both, and suggests what to try next.

    Example:
      wfalens demo --out demo
    """
    check_choice("data set", dataset, NAMES)
    check_folder(out)
    began = time.perf_counter()
    step = (lambda _text: None) if settings.as_json else say
    train, test = (text.load_dataset(dataset, split, settings.texts.data) for split in ("train", "test"))
    paths = {ending: out / f"{dataset}.{ending}" for ending in ("rnn", "wfa", "html")}
    step(f"step 1 of 4: training an LSTM on {len(train):,} texts of {dataset}")
    model = _trained(train, text.DATASETS[dataset])
    model.save(paths["rnn"])
    step(f"   wrote {paths['rnn']}\nstep 2 of 4: copying it into automata in {_EXTRACTION:.0f} s (`extract` trains")
    step("   longer), and choosing the most faithful one on held-out texts")
    wfa = wl.extract(model, train, time=_EXTRACTION)
    wfa.save(paths["wfa"])
    step(f"   wrote {paths['wfa']}\nstep 3 of 4: comparing both on {len(test):,} texts that neither has seen")
    fidelity = wfa.fidelity(model, test, reference=train)
    step("step 4 of 4: explaining the network through the automaton, and writing a page")
    opinion = explanation.opinion_lines(model, test)
    example = explanation.explain(wfa, _example(wfa, test), model)
    vectors = text.wordllama_vectors(model.encoder.vocabulary.words[2:])
    files = {"automaton": str(paths["wfa"]), "model": str(paths["rnn"])}
    study = report.Study(paths["wfa"].name, wfa, model, test, vectors, reference=train, files=files)
    report.write_report(study, paths["html"], report.Extent(**_EXTENT))
    found = study.findings
    seconds = time.perf_counter() - began
    if settings.as_json:
        print_json(
            {
                **{"model": paths["rnn"], "automaton": paths["wfa"], "report": paths["html"]},
                "kind": wfa.kind,
                "fidelity": fidelity,
                "findings": found,
                "opinion": opinion,
                "example": example,
                "seconds": seconds,
            }
        )
        return
    _print_rates(fidelity)
    say("\nWhat the network has learned and what not, measured on the network:\n")
    say("\n".join(f"* {each.claim}" for each in found.findings[:_CLAIMS]))
    say("\nHow the network reads:\n")
    print_result(opinion, as_json=False)
    say(f"\nOne of these texts: {' '.join(example.words)}")
    print_rows(example.title, example.rows())
    _print_next(paths, seconds)


def _trained(texts: Any, known: Any) -> Any:
    """An LSTM whose embeddings begin as pretrained word vectors; settings were chosen on held-out training texts."""
    import numpy as np

    reading = {"max_length": known.max_length}
    words = wl.TextEncoder.of_texts(texts.texts, **reading).vocabulary.words[2:]
    vectors = text.wordllama_vectors(words)
    table = np.zeros((len(words), vectors.width), np.float32)  # words without a vector begin at 0
    place = {word: at for at, word in enumerate(words)}
    table[[place[word] for word in vectors.words]] = vectors.matrix
    trainer = models.Trainer(
        config=wl.RNNConfig(embedding=vectors.width, dropout=0.3),
        epochs=18,
        learning_rate=1e-3,
        word_dropout=0.2,
        patience=3,
        min_count=3,
        **reading,
    )
    trained = trainer.train(texts, wl.WordVectors(words, table, vectors.source))
    if trained.interrupted:
        raise KeyboardInterrupt
    return trained.model


def _example(wfa: Any, texts: Any) -> str:
    """A text to look at: not long, and not clear from its first word on."""
    confidence, lengths = wfa.confidence(texts.texts), wfa.encoder.encode(texts.texts).lengths
    fits = (lengths > 1) & (lengths <= _LONGEST_EXAMPLE) & (confidence < _SUREST)
    chosen = fits if fits.any() else lengths > 0
    return str(texts.texts[(confidence * chosen).argmax()])


def _print_rates(found: Any) -> None:
    chosen = found.selective.select(coverage=0.8)
    rates = {
        "accuracy of the network": found.model_accuracy,
        "the automaton agrees with the network": found.cr,
        "a bag of words agrees": found.bag_of_words and found.bag_of_words.cr,
        "the readable automaton agrees": found.readable and found.readable.cr,
        f"on the {chosen.coverage:.0%} with the highest confidence, the automaton agrees": chosen.cr,
    }
    rows = [{"": name, "of the texts": f"{rate.value:.1%}"} for name, rate in rates.items() if rate is not None]
    print_rows(f"{found.overall.texts:,} texts that none of them has seen", rows)


def _print_next(paths: dict[str, Path], seconds: float) -> None:
    this, wfa, rnn = _program(), paths["wfa"], paths["rnn"]
    say(f"\ndone in {seconds:.0f} s; now open {paths['html']} in a browser, or try")
    say(f'  {this} explain text {wfa} "a moving and funny film"   # which words decide a text')
    say(f"  {this} explain findings {wfa} --model {rnn} --corpus {wfa.stem}   # all findings, with intervals")
    say(f"  {this} show {wfa} --model {rnn} -o opinion.svg   # how the network reads, as a picture")
    say(f"  {this} serve {wfa} --model {rnn}   # the page, with the network, for any sentence")
    say(f"  {this} attack {wfa} --model {rnn} --help   # change a word so that the network errs")


def _program() -> str:
    """How this program is called from here: by its name, or by its place if it is not on the path."""
    place = Path(sys.argv[0])
    if place.name != "wfalens" or not place.is_file():
        return "wfalens"
    found = shutil.which("wfalens")
    return "wfalens" if found is not None and Path(found).samefile(place) else os.path.relpath(place)
