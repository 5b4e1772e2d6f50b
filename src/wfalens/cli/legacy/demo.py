"""`wfalens demo`."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_folder
from wfalens.cli.legacy.output import UNITS, print_json, print_table, remark, say
from wfalens.errors import InputError

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation import Fidelity
    from wfalens.explanation import Attribution, Description
    from wfalens.models.rnn.classifier import RNNClassifier
    from wfalens.text.corpus import Corpus
    from wfalens.text.datasets.catalogue import Dataset
    from wfalens.text.word_vectors import WordVectors

_BAG = "bag of words"
_LONGEST_EXAMPLE, _SUREST = 16, 0.9  # words of the text that is explained, and how sure the automaton is of it at most
_TOLD_SENTENCES = 6  # of the story
_EXTRACTION = 40.0  # seconds at most: a demo should not make anyone wait for the last half percent
_SENTENCES, _ATTACKED = 15, 200  # on the page: of each sort, and texts; `wfalens report` carries more


@dataclass(frozen=True)
class Demo:
    """What the demo wrote and found."""

    model: Path
    automaton: Path
    report: Path
    wfa: WFA
    fidelity: Fidelity
    story: Description | None
    example: Attribution
    seconds: float

    def to_json(self) -> dict[str, Any]:
        accuracy = self.fidelity.model_accuracy
        return {
            "model": str(self.model),
            "automaton": str(self.automaton),
            "report": str(self.report),
            "kind": self.wfa.kind,
            "test_accuracy": None if accuracy is None else accuracy.value,
            "fidelity": self.fidelity.to_dict(),
            "story": None if self.story is None else self.story.to_dict(),
            "example": self.example.to_dict(),
            "seconds": self.seconds,
        }


def demo_cli(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="For what the demo writes.")] = Path(
        "demo"
    ),
    dataset: Annotated[
        str, typer.Option(metavar="NAME", help="Data set by name (see `wfalens data list`).")
    ] = "rotten_tomatoes",
    data: opt.Data = None,
    as_json: opt.Json = False,
) -> None:
    """Train a network on real texts, copy it into an automaton, and let that tell what the network does.

    It takes about two minutes, 40 seconds of them for the automata. First it says how often the network is right
    and how often the automaton agrees with it, beside a bag of words; then what the network does, in sentences; then
    which words decided one text. It writes the network (.rnn), the automaton (.wfa) and a page (.html) that shows both,
    and says what to try next.

    Example:
      wfalens demo --out demo
    """
    done = demo(out, dataset, data, tell=_silent if as_json else say)
    if as_json:
        print_json(done.to_json())
    else:
        _print(done)


def demo(
    out: Path,
    dataset: str = "rotten_tomatoes",
    data: Path | None = None,
    *,
    tell: Callable[[str], None] = lambda _: None,
) -> Demo:
    """The whole way on a data set; `tell` hears of every step."""
    from wfalens.text.datasets.catalogue import DATASETS, load_dataset

    if dataset not in DATASETS:
        raise InputError(f"unknown data set {dataset!r}; choose one of {', '.join(DATASETS)}")
    check_folder(out)
    began = time.perf_counter()
    train_texts, test_texts = (load_dataset(dataset, split, data) for split in ("train", "test"))
    from wfalens.evaluation import measure_fidelity
    from wfalens.explanation import describe
    from wfalens.extraction import extract
    from wfalens.report import Extent, Study, collect, write_page
    from wfalens.text.word_vectors import wordllama_vectors

    tell(f"step 1 of 4: training an LSTM on {len(train_texts):,} texts of {dataset}")
    model = _trained(train_texts, DATASETS[dataset])
    paths = {ending: out / f"{dataset}.{ending}" for ending in ("rnn", "wfa", "html")}
    model.save(paths["rnn"])
    tell(f"   wrote {paths['rnn']}")

    tell(
        f"step 2 of 4: copying it into automata in {_EXTRACTION:.0f} s (`wfalens extract` takes its time), and "
        "choosing the most faithful one on texts held out for that"
    )
    wfa = extract(model, train_texts, time=_EXTRACTION)
    wfa.save(paths["wfa"])
    tell(f"   wrote {paths['wfa']}")

    tell(f"step 3 of 4: comparing automaton and network on {len(test_texts):,} texts that neither has seen")
    fidelity = measure_fidelity(wfa, model, test_texts, reference=train_texts)

    tell("step 4 of 4: explaining the network through the automaton, and writing a page that shows it all")
    story = None if wfa.readable is None else describe(wfa)
    example = wfa.explain(_example(wfa, test_texts))
    vectors = wordllama_vectors(model.encoder.vocabulary.words[2:])
    study = Study(paths["wfa"].name, wfa, model, test_texts, vectors, reference=train_texts)
    write_page(collect(study, Extent(sentences=_SENTENCES, attacked=_ATTACKED)), paths["html"])
    seconds = time.perf_counter() - began
    return Demo(paths["rnn"], paths["wfa"], paths["html"], wfa, fidelity, story, example, seconds)


def _trained(
    texts: Corpus,
    known: Dataset,
) -> RNNClassifier:
    """An LSTM whose embeddings begin as pretrained word vectors; settings were chosen on held-out training texts."""
    from wfalens.models.rnn.classifier import RNNConfig
    from wfalens.models.rnn.training import Trainer
    from wfalens.text.encoder import TextEncoder

    encoder = TextEncoder.of_texts(texts.texts, tokenizer=known.tokenizer, max_length=known.max_length)
    vectors = _beginnings(encoder.vocabulary.words[2:])
    trainer = Trainer(
        config=RNNConfig(embedding=vectors.width, dropout=0.3),
        epochs=18,
        learning_rate=1e-3,
        word_dropout=0.2,
        patience=3,
        min_count=3,
        max_length=known.max_length,
        tokenizer=known.tokenizer,
    )
    training = trainer.train(texts, vectors)
    if training.interrupted:
        raise KeyboardInterrupt
    return training.model


def _beginnings(words: Sequence[str]) -> WordVectors:
    """Where the embeddings of words begin: at their WordLlama vectors, or at 0, which says nothing, without one."""
    import numpy as np

    from wfalens.text.word_vectors import WordVectors, wordllama_vectors

    known = wordllama_vectors(words)
    place = {word: at for at, word in enumerate(words)}
    table = np.zeros((len(words), known.width), np.float32)
    table[[place[word] for word in known.words]] = known.matrix
    return WordVectors(words, table, known.source)


def _example(wfa: WFA, texts: Corpus) -> str:
    """A text that is worth a look: not long, and not clear from its first word on."""
    import numpy as np

    sure = wfa.margin(texts.texts)
    lengths = wfa.encoder.encode(texts.texts).lengths
    fits = (lengths > 1) & (lengths <= _LONGEST_EXAMPLE) & (sure < _SUREST)
    chosen = np.flatnonzero(fits) if fits.any() else np.flatnonzero(lengths > 0)
    return texts.texts[int(chosen[np.argmax(sure[chosen])])]


def _silent(_message: str) -> None:
    """Machines read the result only."""


def _print(done: Demo) -> None:
    _print_rates(done)
    if done.story is not None:
        say("\nWhat the network does, as its readable copy tells it:\n")
        say("\n\n".join(each.text for each in done.story.sentences[:_TOLD_SENTENCES]))
    _print_example(done.example)
    say(f"\ndone in {done.seconds:.0f} s; now open {done.report} in a browser, or try")
    this = _program()
    say(f'  {this} explain {done.automaton} --text "a moving and funny film"   # which words decide a text')
    if done.story is not None:
        say(f"  {this} describe {done.automaton}   # the whole story, with the words that matter")
    say(f"  {this} explore {done.automaton} --model {done.model}   # the page, with the network, for any sentence")
    say(f"  {this} attack {done.automaton} --model {done.model} --help   # change a word so that the network errs")


def _program() -> str:
    """How this program is called from here: by its name, or by its place if it is not on the path."""
    place = Path(sys.argv[0])
    if place.name != "wfalens" or not place.is_file():
        return "wfalens"
    found = shutil.which("wfalens")
    return "wfalens" if found is not None and Path(found).samefile(place) else os.path.relpath(place)


def _print_rates(done: Demo) -> None:
    """What one wants to know first."""
    found, rows = done.fidelity, list[list[str]]()
    if found.model_accuracy is not None:
        rows.append(["the network is right on", f"{found.model_accuracy.value:.1%}"])
    rows.append(["the automaton agrees with the network on", f"{found.overall.cr.value:.1%}"])
    rows += [
        [f"a {_BAG} agrees with the network on", f"{item.cr.value:.1%}"]
        for name, item in found.baselines.items()
        if name.startswith(_BAG)
    ]
    if found.readable is not None:
        rows.append(["the readable copy, which fits on a page, agrees on", f"{found.readable.cr.value:.1%}"])
    chosen = found.selective.at_coverage(0.8)
    rows.append(
        [f"on the {chosen.coverage:.0%} of which it is surest, the automaton agrees on", f"{chosen.cr.value:.1%}"]
    )
    print_table(f"{found.overall.texts:,} texts that none of them has seen", ["", "of the texts"], rows)


def _print_example(found: Attribution) -> None:
    """Which words decided one text."""
    label = found.label or "undecided"
    values = found.values[:, int(found.output.argmax())]
    rows = [[word, f"{value:+.3f}"] for word, value in zip(found.words, values, strict=True)]
    at = int(found.output.argmax())
    rows.append(["sum = output − base", f"{found.output[at] - found.base[at]:+.3f}"])
    say(f"\nOne of these texts: {' '.join(found.words)}")
    say(f"Why the automaton says {label} ({found.name}, in {found.unit}):")
    print_table(None, ["word", label], rows)
    remark(UNITS.get(found.unit))
