"""`wfalens extract`."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Annotated

import typer

from wfalens.cli.app import app
from wfalens.cli.common import (
    MODEL_HELP,
    CorpusOption,
    DataOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    SeedOption,
    TerminalProgress,
    TextColumnOption,
    check_output,
    open_corpus,
    open_model,
    open_vectors,
    print_json,
    print_table,
)
from wfalens.cli.streams import (
    STOP,
    AddressOption,
    BadOption,
    EngineOption,
    LogOption,
    MemoryOption,
    ShardOption,
    WorkersOption,
    opened_engine,
    opened_stream,
    stream_files,
    wants_stream,
)
from wfalens.corpus.corpus import Corpus
from wfalens.corpus.encoder import TextEncoder
from wfalens.errors import InputError
from wfalens.models.opening import reads_texts


def _number_or(words: tuple[str, ...], option: str, value: str | None) -> float | str | None:
    if value is None or value in words:
        return value
    try:
        return float(value)
    except ValueError:
        raise InputError(f"--{option} must be a number or {' or '.join(map(repr, words))}, not {value!r}") from None


def _states(value: str | None) -> int | str | None:
    number = _number_or(("auto",), "states", value)
    return int(number) if isinstance(number, float) and number.is_integer() else number  # type: ignore[return-value]


@app.command()
def extract(
    model: Annotated[str, typer.Argument(help=f"The classifier: {MODEL_HELP}")],
    corpus: CorpusOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="The automaton to write, for example news.wfa.")],
    kind: Annotated[
        str,
        typer.Option(
            help="stochastic: states are label distributions, to read and verify (the paper's); linear: real weights "
            "trained against the classifier, the most faithful (minutes, and torch)."
        ),
    ] = "stochastic",
    states: Annotated[str | None, typer.Option("--states", "-k", help="Number of abstract states K, or auto.")] = None,
    abstraction: Annotated[
        str | None,
        typer.Option(
            help="What makes two prefixes alike: outputs (the paper's), lookahead (also what the classifier would say "
            "after continuations), or auto."
        ),
    ] = None,
    completion: Annotated[
        str | None,
        typer.Option(
            help="Rule for rows that were never observed: null, uniform, empirical (the paper's), probe (asks the "
            "classifier), or fit (all rows fitted to the classifier: slower and more faithful)."
        ),
    ] = None,
    alpha: Annotated[
        str | None, typer.Option(help="Static probability α: how much of each step stays put, or auto.")
    ] = None,
    beta: Annotated[
        str | None,
        typer.Option(
            help="Reference rate β of empirical completion: a number, corpus (1 − share of self-transitions) or auto."
        ),
    ] = None,
    distance: Annotated[str | None, typer.Option(help="Between centres: euclidean (paper) or squared.")] = None,
    representatives: Annotated[int | None, typer.Option(help="Probe: occurrences that stand for each state.")] = None,
    strength: Annotated[float | None, typer.Option(help="Probe: observations that a probed row is worth.")] = None,
    queries: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Stochastic: prefixes beyond those of the corpus that the whole extraction may ask the classifier for "
            "(default: no limit).",
        ),
    ] = None,
    augment: Annotated[int, typer.Option(help="Epochs of augmentation (0: none; the authors' code: 5).")] = 0,
    vectors: Annotated[
        str, typer.Option(help="Word vectors for synonyms: wordllama, model, or a GloVe or word2vec file.")
    ] = "wordllama",
    replace: Annotated[float, typer.Option(help="Augmentation: probability of a synonym.")] = 0.4,
    drop: Annotated[float, typer.Option(help="Augmentation: probability of <unk> otherwise.")] = 0.2,
    neighbours: Annotated[int, typer.Option(help="Augmentation: number of synonyms per word.")] = 5,
    augment_weight: Annotated[float, typer.Option(help="Augmentation: weight of its counts (authors: 0.5).")] = 1.0,
    initial: Annotated[str | None, typer.Option(help="Output before any word: model or uniform.")] = None,
    sample: Annotated[int | None, typer.Option(help="Outputs that k-means sees at most, per state; 0: all.")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="Linear: passes of training at most.")] = None,
    budget: Annotated[
        float | None, typer.Option(help="With --states auto: MB that the file may have at most (estimated).")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="hf: models: how texts become words (default: whitespace, which changes a text least)."),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(min=1, help="hf: models: cut texts after so many words (default: never).")
    ] = None,
    min_count: Annotated[
        int | None, typer.Option(min=1, help="hf: models: words seen less often are unknown (default: 1).")
    ] = None,
    seed: SeedOption = 0,
    data: DataOption = None,
    text_column: TextColumnOption = "text",
    encoding: EncodingOption = "utf-8",
    memory: MemoryOption = None,
    engine: EngineOption = None,
    workers: WorkersOption = None,
    address: AddressOption = None,
    shard: ShardOption = None,
    on_bad: BadOption = STOP,
    log: LogOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Extract a weighted automaton from a classifier, run over a corpus (labels are not used).

    --states, --abstraction, --alpha and --beta are chosen on a tenth of the texts, held out for it, unless given; the
    curve is kept in the file, and `wfalens evaluate` shows it. The training of a linear automaton may be stopped at any
    time: the same command goes on after the last whole epoch (OUT.training holds it until the end).

    A corpus that is larger than memory is read in shards with --memory, --engine or a pattern of files: settings and
    states are then chosen on a sample of its texts, and the same command goes on after a stop (OUT.parts holds what is
    done until the end). The result does not depend on engine, workers and shards.

    An ONNX graph brings its words and classes (docs/models.md tells how). A Hugging Face classifier reads sub-words;
    its automaton reads the corpus' words.

    Examples: wfalens extract films.rnn --corpus rotten_tomatoes --out films.wfa

    Any size: wfalens extract news.rnn -c 'texts/*.parquet' -o news.wfa --memory 2GB

    The paper's: wfalens extract films.rnn -c rotten_tomatoes -o films.wfa -k 40 --abstraction outputs --completion
    empirical --alpha 0.4 --beta 0.3

    A model of the hub: wfalens extract hf:NAME -c reviews.csv -o reviews.wfa --max-length 40 --queries 200000
    """
    from wfalens.extraction import Augmentation, Distillation, Extractor

    check_output(out, force)
    extractor = Extractor(
        kind=kind,
        states=_states(states),
        abstraction=abstraction,
        completion=completion,
        alpha=_number_or(("auto",), "alpha", alpha),
        beta=_number_or(("auto", "corpus"), "beta", beta),
        distance=distance,
        representatives=representatives,
        strength=strength,
        queries=queries,
        initial=initial,
        sample="all" if sample == 0 else sample,
        distillation=None if epochs is None else Distillation(epochs=epochs),
        budget=_bytes(budget),
        seed=seed,
    )
    files = stream_files(model, corpus, text_column, encoding) if wants_stream(corpus, memory, engine) else None
    texts = None if files else open_corpus(corpus, "train", data, text_column, None, encoding, labels=False)
    classifier = open_model(model, _words(model, texts, tokenizer, max_length, min_count))
    if augment:
        from dataclasses import replace as changed

        extractor = changed(
            extractor,
            augmentation=Augmentation(
                vectors=open_vectors(vectors, classifier.encoder.vocabulary.words[2:], classifier),
                epochs=augment,
                replace=replace,
                drop=drop,
                neighbours=neighbours,
                weight=augment_weight,
            ),
        )
    began = time.perf_counter()
    if texts is not None:
        unfinished = out.with_name(f"{out.name}.training") if kind == "linear" else None
        wfa = extractor.extract(classifier, texts, TerminalProgress(), unfinished)
        wfa.save(out)
    elif files is not None:
        parts = out.with_name(f"{out.name}.parts")
        with (
            opened_engine(engine, workers, memory, address) as chosen,
            opened_stream(parts, chosen, memory, shard, on_bad, log, model) as run,
        ):
            wfa = extractor.extract(classifier, files, TerminalProgress(), run=run)
            wfa.save(out)
            shutil.rmtree(parts)
    seconds = time.perf_counter() - began
    asked = wfa.provenance.get("queries")
    told = {
        **wfa.summary(),
        "queries": asked["total"] if asked else None,
        "bytes": out.stat().st_size,
        "seconds": seconds,
    }
    if as_json:
        print_json({"out": str(out), **told, "queries": asked, "tuning": wfa.provenance.get("tuning")})
        return
    rows = [[name.replace("_", " "), _shown(name, value)] for name, value in told.items() if value is not None]
    print_table(f"Automaton {out.name}", ["", "value"], rows)
    typer.echo(f"wrote {out}; next: wfalens evaluate {out} --model {model} --corpus …")


def _words(
    model: str, texts: Corpus | None, tokenizer: str | None, max_length: int | None, min_count: int | None
) -> TextEncoder | None:
    """The words for a model that reads any; those of other models are their own."""
    if texts is not None and reads_texts(model):
        return TextEncoder.of_texts(texts.texts, tokenizer or "whitespace", max_length, min_count or 1)
    if (tokenizer, max_length, min_count) != (None, None, None):
        raise InputError(f"{model} has its own words; --tokenizer, --max-length and --min-count are for hf: models")
    return None


def _bytes(megabytes: float | None) -> int | None:
    if megabytes is not None and not 0 < megabytes < 1e9:
        raise InputError(f"--budget must be a positive number of megabytes, not {megabytes}")
    return None if megabytes is None else round(megabytes * 1e6)


def _shown(name: str, value: object) -> str:
    if name == "bytes" and isinstance(value, int):
        return f"{value / 1e6:.2f} MB"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
