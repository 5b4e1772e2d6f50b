"""`wfalens extract`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from dataclasses import replace as changed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens.cli import options as opt
from wfalens.cli.files import check_outputs
from wfalens.cli.inputs import USUAL, Reader, open_vectors
from wfalens.cli.output import print_json, print_table, say
from wfalens.cli.progress import TerminalProgress
from wfalens.cli.stopping import resumable
from wfalens.cli.streams import NO_SHARDS, Shards
from wfalens.errors import InputError
from wfalens.models.opening import open_model, reads_texts
from wfalens.progress import SILENT, Progress

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.corpus.corpus import Corpus
    from wfalens.corpus.encoder import TextEncoder
    from wfalens.extraction import Extractor
    from wfalens.models.contract import StepwiseClassifier

STATES, ROWS, AUGMENTATION = "States", "Rows", "Augmentation of the texts"
READABLE, LINEAR, HUGGING_FACE = "Readable automata", "Linear automata", "Hugging Face models"
_LINEAR, _USUAL_VECTORS = "linear", "wordllama"
_TO_TRY = {
    "stochastic": "--kind linear, or more states (--states)",
    "readable": "--classes auto, more states (--states), or --kind linear",
    _LINEAR: "more states (--states), more texts, or another --kind",
}


def extract_cli(
    model: Annotated[str, opt.argument("MODEL", f"The classifier: {opt.MODEL_HELP}")],
    corpus: opt.Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The automaton to write, such as news.wfa.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="stochastic: states are label distributions, to verify (the paper's); linear: real weights trained "
            "against the classifier, the most faithful (takes minutes); readable: few states and few classes of "
            "words, with names, that fit on a page.",
        ),
    ] = "stochastic",
    seed: opt.Seed = 0,
    states: Annotated[
        str | None,
        typer.Option(
            "--states",
            "-k",
            metavar="K",
            help="Their number, or auto.",
            show_default="auto; readable: 12",
            rich_help_panel=STATES,
        ),
    ] = None,
    abstraction: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What makes two prefixes alike: outputs (the paper's), lookahead (also what the classifier would say "
            "after continuations), or auto.",
            show_default="auto",
            rich_help_panel=STATES,
        ),
    ] = None,
    initial: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Output before any word: model or uniform.",
            show_default="model",
            rich_help_panel=STATES,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Outputs per state that k-means sees at most; 0: all.",
            show_default="256",
            rich_help_panel=STATES,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MB",
            help="With --states auto: what the file may have at most (estimated).",
            rich_help_panel=STATES,
        ),
    ] = None,
    completion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Rows that were never observed: null, uniform, empirical (the paper's), probe (asks the classifier), "
            "fit (all rows fitted to the classifier: slower and more faithful), or shared (words share the rows of "
            "their class, as in readable automata).",
            show_default="fit",
            rich_help_panel=ROWS,
        ),
    ] = None,
    alpha: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Static probability α: how much of each step stays put, or auto.",
            show_default="auto",
            rich_help_panel=ROWS,
        ),
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="empirical: reference rate β, a number, corpus (1 − share of self-transitions) or auto.",
            show_default="auto",
            rich_help_panel=ROWS,
        ),
    ] = None,
    distance: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="empirical: between centres, euclidean (the paper's) or squared.",
            show_default="euclidean",
            rich_help_panel=ROWS,
        ),
    ] = None,
    representatives: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="probe, fit: occurrences that stand for each state.",
            show_default="10",
            rich_help_panel=ROWS,
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="probe, fit: observations that a probed row is worth.",
            show_default="2",
            rich_help_panel=ROWS,
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Prefixes beyond those of the corpus that the whole extraction may ask the classifier for.",
            show_default="no limit for networks that can be stepped, else 4,000,000",
            rich_help_panel=ROWS,
        ),
    ] = None,
    augment: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            help="Epochs over changed texts; 0: none (the authors' code: 5).",
            rich_help_panel=AUGMENTATION,
        ),
    ] = 0,
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="VECTORS",
            help="Word vectors: wordllama, model (its embedding), or a GloVe or word2vec file. Augmentation takes "
            "synonyms from them; a linear automaton learns from them too, if they are given.",
            show_default="wordllama, for augmentation",
            rich_help_panel=AUGMENTATION,
        ),
    ] = None,
    replace: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Probability of a synonym.", show_default="0.4", rich_help_panel=AUGMENTATION
        ),
    ] = None,
    drop: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Else probability of <unk>.", show_default="0.2", rich_help_panel=AUGMENTATION
        ),
    ] = None,
    neighbours: Annotated[
        int | None,
        typer.Option(metavar="N", help="Synonyms per word.", show_default="5", rich_help_panel=AUGMENTATION),
    ] = None,
    augment_weight: Annotated[
        float | None,
        typer.Option(
            metavar="WEIGHT",
            help="Of the counts of changed texts (authors' code: 0.5).",
            show_default="1",
            rich_help_panel=AUGMENTATION,
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Passes of training at most.", rich_help_panel=LINEAR)
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Classes of words at most, or auto: the smallest of several sizes that is nearly as faithful as the "
            "best of them.",
            show_default="32",
            rich_help_panel=READABLE,
        ),
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="With --classes auto: of CR, what a smaller size may cost.",
            show_default="0.01",
            rich_help_panel=READABLE,
        ),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How texts become words.",
            show_default="whitespace, which changes a text least",
            rich_help_panel=HUGGING_FACE,
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Cut texts after so many words.",
            show_default="never",
            rich_help_panel=HUGGING_FACE,
        ),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Words seen less often are unknown.",
            show_default="1",
            rich_help_panel=HUGGING_FACE,
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    encoding: opt.Encoding = "utf-8",
    memory: opt.Memory = None,
    engine: opt.Engine = None,
    workers: opt.Workers = None,
    address: opt.Address = None,
    shard: opt.Shard = None,
    on_bad: opt.OnBad = opt.STOP,
    log: opt.Log = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Extract a weighted automaton from a classifier, run over a corpus (labels are not used).

    Number of states, abstraction, α and β are chosen on a tenth of the texts, held out for it, unless given; the curve
    is kept in the file, and `wfalens evaluate` shows it.

    The training of a linear automaton may be stopped at any time: the same command goes on after the last whole epoch,
    which is kept in OUT.training until the end.

    A corpus that is larger than memory is read in shards with --memory, --engine or a pattern of files: settings and
    states are then chosen on a sample of its texts. It may be stopped, too: OUT.parts holds what is done until the end.
    The result does not depend on engine, workers and shards.

    Examples:
      wfalens extract films.rnn --corpus rotten_tomatoes --out films.wfa
      wfalens extract films.rnn -c rotten_tomatoes -o films.wfa --kind linear
      wfalens extract films.rnn -c rotten_tomatoes -o page.wfa --kind readable

    As in the paper:
      wfalens extract films.rnn -c rotten_tomatoes -o films.wfa -k 40 \\
        --abstraction outputs --completion empirical --alpha 0.4 --beta 0.3

    A corpus of any size, and a Hugging Face model (docs/models.md):
      wfalens extract news.rnn -c 'texts/*.parquet' -o news.wfa --memory 2GB
      wfalens extract hf:NAME -c reviews.csv -o reviews.wfa --queries 200000
    """
    check_outputs(out, force=force)
    options = {
        "states": None if states is None else _whole_or_auto("states", states),
        "classes": None if classes is None else _whole_or_auto("classes", classes),
        "loss": loss,
        "abstraction": abstraction,
        "completion": completion,
        "alpha": None if alpha is None else _number_or(("auto",), "alpha", alpha),
        "beta": None if beta is None else _number_or(("auto", "corpus"), "beta", beta),
        "distance": distance,
        "representatives": representatives,
        "strength": strength,
        "queries": queries,
        "initial": initial,
        "sample": "all" if sample == 0 else sample,
        "budget": _bytes(budget),
    }
    augmentation = {
        "replace": replace,
        "drop": drop,
        "neighbours": neighbours,
        "weight": augment_weight,
    }
    began = time.perf_counter()
    wfa = extract(
        model,
        corpus,
        out,
        options=_given(options) | {"kind": kind, "seed": seed},
        augmentation=_given(augmentation) | ({"epochs": augment} if augment else {}),
        distillation=_given({"epochs": epochs}),
        vectors=vectors,
        words=_given({"tokenizer": tokenizer, "max_length": max_length, "min_count": min_count}),
        reader=Reader(data, text_column, None, encoding),
        shards=Shards(
            memory=memory, engine=engine, workers=workers, address=address, shard=shard, on_bad=on_bad, log=log
        ),
        progress=TerminalProgress(),
    )
    seconds = time.perf_counter() - began
    if as_json:
        told = {**_told(wfa, out, seconds), "queries": wfa.provenance.get("queries")}
        choice = {name: wfa.provenance.get(name) for name in ("tuning", "frontier")}
        print_json({"out": str(out), **told, **choice})
        return
    told = _told(wfa, out, seconds)
    rows = [[name.replace("_", " "), _shown(name, value)] for name, value in told.items() if value is not None]
    print_table(f"Automaton {out.name}", ["", "value"], rows)
    say(f"wrote {out}; next: wfalens evaluate {out} --model {model} --corpus …")


def extract(
    model: str,
    corpus: str,
    out: Path,
    *,
    options: Mapping[str, Any] | None = None,
    augmentation: Mapping[str, Any] | None = None,
    distillation: Mapping[str, Any] | None = None,
    vectors: str | None = None,
    words: Mapping[str, Any] | None = None,
    reader: Reader = USUAL,
    shards: Shards = NO_SHARDS,
    progress: Progress = SILENT,
) -> WFA:
    """Extract an automaton from a model run over a corpus, and write it to `out`.

    `options`, `augmentation` and `distillation` are those of `Extractor`, `Augmentation` and `Distillation`, `words`
    those of `TextEncoder.of_texts` for a model that reads texts of any words.
    """
    from wfalens.extraction import Distillation, Extractor

    extractor = Extractor(**(options or {}), distillation=Distillation(**distillation) if distillation else None)
    _check_augmentation(extractor, augmentation or {}, vectors)
    kept = out.with_name(f"{out.name}.training") if extractor.kind == _LINEAR else None
    check_outputs(out, kept, force=True)
    if shards.wanted_for(corpus):
        if reads_texts(model):
            raise InputError(f"{model} takes its words from the corpus, which must fit into memory; give a single file")
        source, classifier = reader.source(corpus, "train"), open_model(model, _words(model, None, words or {}))
        extractor = _with_vectors(extractor, classifier, augmentation or {}, vectors)
        parts = out.with_name(f"{out.name}.parts")
        with shards.opened(parts, model) as run:
            wfa = extractor.extract(classifier, source, progress, run=run)
            wfa.save(out)
            shutil.rmtree(parts)
        return wfa
    texts = reader.corpus(corpus, "train", labels=False, progress=progress)
    classifier = open_model(model, _words(model, texts, words or {}))
    extractor = _with_vectors(extractor, classifier, augmentation or {}, vectors)
    with resumable(kept):
        wfa = extractor.extract(classifier, texts, progress, kept)
        wfa.save(out)
    _say_worth(wfa, classifier, texts, extractor, progress)
    return wfa


def _say_worth(
    wfa: WFA, classifier: StepwiseClassifier, texts: Corpus, extractor: Extractor, progress: Progress
) -> None:
    """Say it if a bag of words would do as well, and what to try."""
    from wfalens.evaluation.worth import measure_worth

    worth = measure_worth(wfa, classifier, texts, extractor.seed, progress)
    if worth is not None and not worth.is_shown:
        progress.say(
            f"on {worth.texts:,} extraction texts its CR of {worth.cr:.3f} does not beat that of a bag of words fitted "
            f"on the others, {worth.bag_of_words:.3f}; try {_TO_TRY[extractor.kind]}"
        )


def _check_augmentation(extractor: Extractor, augmentation: Mapping[str, Any], vectors: str | None) -> None:
    """Refuse options that nothing would use."""
    if augmentation and "epochs" not in augmentation:
        raise InputError(f"{', '.join(augmentation)} of augmentation without any epoch of it; give --augment too")
    if vectors is not None and not augmentation and extractor.kind != _LINEAR:
        raise InputError("--vectors are for augmentation and for linear automata; give --augment or --kind linear")


def _with_vectors(
    extractor: Extractor, classifier: StepwiseClassifier, augmentation: Mapping[str, Any], vectors: str | None
) -> Extractor:
    """The extractor with what needs the words of the classifier."""
    from wfalens.extraction import Augmentation

    if not augmentation and vectors is None:
        return extractor
    known = open_vectors(vectors or _USUAL_VECTORS, classifier.encoder.vocabulary.words[2:], classifier)
    if augmentation:
        extractor = changed(extractor, augmentation=Augmentation(vectors=known, **augmentation))
    return changed(extractor, vectors=known) if extractor.kind == _LINEAR and vectors is not None else extractor


def _words(model: str, texts: Corpus | None, options: Mapping[str, Any]) -> TextEncoder | None:
    """The words for a model that reads any; those of other models are their own."""
    from wfalens.corpus.encoder import TextEncoder

    if texts is not None and reads_texts(model):
        return TextEncoder.of_texts(texts.texts, **{"tokenizer": "whitespace", **options})
    if options:
        raise InputError(f"{model} has its own words; --tokenizer, --max-length and --min-count are for hf: models")
    return None


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _number_or(words: tuple[str, ...], option: str, value: str) -> float | str:
    if value in words:
        return value
    try:
        return float(value)
    except ValueError:
        raise InputError(f"--{option} must be a number or {' or '.join(map(repr, words))}, not {value!r}") from None


def _whole_or_auto(option: str, value: str) -> float | str:
    number = _number_or(("auto",), option, value)
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _bytes(megabytes: float | None) -> int | None:
    if megabytes is not None and not 0 < megabytes < 1e9:
        raise InputError(f"--budget must be a positive number of megabytes, not {megabytes}")
    return None if megabytes is None else round(megabytes * 1e6)


def _told(wfa: WFA, out: Path, seconds: float) -> dict[str, Any]:
    asked, frontier = wfa.provenance.get("queries"), wfa.provenance.get("frontier")
    measured = frontier["tried"][frontier["chosen"]] if frontier else {}
    return {
        **wfa.summary(),
        "cr_on_held_out_texts": measured.get("cr"),
        "jsd_on_held_out_texts": measured.get("jsd"),
        "queries": asked["total"] if asked else None,
        "bytes": out.stat().st_size,
        "seconds": seconds,
    }


def _shown(name: str, value: object) -> str:
    if name == "bytes" and isinstance(value, int):
        return f"{value / 1e6:.2f} MB"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
