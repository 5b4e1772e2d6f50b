"""`wfalens extract`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace as changed
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs
from wfalens.cli.legacy.inputs import USUAL, Reader, open_vectors
from wfalens.cli.legacy.output import note, print_json, print_table, say
from wfalens.cli.legacy.reading import allow_own, labelled_texts, say_reading
from wfalens.cli.legacy.stopping import resumable
from wfalens.cli.legacy.streams import NO_SHARDS, Shards
from wfalens.errors import InputError
from wfalens.messages import printable
from wfalens.models.adapters.transformer import reads_texts
from wfalens.models.wrapping import wrap
from wfalens.text.tokenizers import is_import_path

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.evaluation.baselines import BaselineCheck
    from wfalens.extraction import Method
    from wfalens.models.contract import PrefixClassifier
    from wfalens.text.corpus import Corpus
    from wfalens.text.encoder import TextEncoder

STATES, ROWS, AUGMENTATION = "States", "Rows", "Augmentation of the texts"
REFINE = "Asking back"
READABLE, LINEAR, HUGGING_FACE = "Readable automata", "Linear automata", "Hugging Face models"
_AUTO, _LINEAR, _USUAL_VECTORS = "auto", "linear", "wordllama"
_LABEL, _BADLY = "label", 0.6  # CR of a class below which balancing is worth a try
_TO_TRY = {
    _AUTO: "more texts, or a larger automaton (--kind linear --states 320); no kind that was tried does better",
    "stochastic": "--kind linear, or more states (--states)",
    "readable": "--classes auto, more states (--states), or --kind linear",
    _LINEAR: "more states (--states), more texts, or another --kind",
}


@dataclass(frozen=True)
class Extracted:
    """An automaton that was written, and what it is worth beside a bag of words, where there were enough texts."""

    wfa: WFA
    worth: BaselineCheck | None = None


def extract_cli(
    model: Annotated[str, opt.argument("MODEL", f"The classifier: {opt.MODEL_HELP}")],
    corpus: opt.Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The automaton to write, such as news.wfa.")],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="auto: the most faithful kind on held-out texts, with a readable automaton in the same file; "
            "stochastic: states are label distributions, to verify (the paper's); linear: real weights trained "
            "against the classifier (takes minutes); readable: few states and few kinds of words, with names, that "
            "fit on a page. Options that belong to one kind choose it.",
        ),
    ] = "auto",
    time: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Wall clock that the extraction may take, such as 30s, 2m or 1h: what is best by then is written. "
            "What comes before training (reading the texts, asking the classifier about them and about every word) is "
            "not cut short, so it takes longer on a busy machine. How far the time goes depends on the machine, so the "
            "same seed no longer gives the same bytes.",
            show_default="as long as it takes",
        ),
    ] = None,
    effort: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="low, normal or high: how long to train, and how large an automaton of the linear kind.",
            show_default="normal",
        ),
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="predicted or label: what the automaton is fitted to has as many texts of every class, by what the "
            "classifier predicts or by the column of labels. For classes so small that their texts are copied badly.",
            show_default="texts as they come",
        ),
    ] = None,
    seed: opt.Seed = 0,
    states: Annotated[
        str | None,
        typer.Option(
            "--states",
            "-k",
            metavar="K",
            help="Their number, or auto; without --kind and other options, of a stochastic automaton.",
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
            help="Kinds of words at most, or auto: the smallest of several sizes that is nearly as faithful as the "
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
            help="How texts become words (see `wfalens wrap --help`); for other models, a tokenizer of your own that "
            "they name, package.module:function: its code is run.",
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
    refine: Annotated[
        bool,
        opt.flag(
            "--refine",
            help="Ask back: add texts of its own on which automaton and classifier differ, until fresh ones agree; "
            "it ends with what a fresh sample proves.",
            panel=REFINE,
        ),
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", help="Rounds at most.", show_default="5", rich_help_panel=REFINE)
    ] = None,
    round_texts: Annotated[
        int | None,
        typer.Option(metavar="N", help="Texts asked in a round.", show_default="2000", rich_help_panel=REFINE),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(metavar="N", help="Fresh texts of the proof.", show_default="2000", rich_help_panel=REFINE),
    ] = None,
    most_states: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Try twice as many states, up to so many, where their number is open.",
            show_default="1000",
            rich_help_panel=REFINE,
        ),
    ] = None,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
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
    """Extract a weighted automaton from a classifier, run over a corpus (labels are used by --balance only).

    Unless told otherwise, the kind is chosen: the automaton that is the most faithful on a tenth of the texts, held out
    for it, answers, and a readable one goes along in the file to tell its story (`wfalens describe`, `wfalens show`).

    Of a stochastic one, number of states, abstraction, α and β are chosen on held-out texts, too, unless given; the
    curve is kept in the file, and `wfalens evaluate` shows it.

    Ctrl-C ends training early, and the best so far is written. What training has learned is kept in OUT.training: the
    same command with --force goes on from there, and ends as if it had not been stopped. --time ends it by the clock.

    A corpus that is larger than memory is read in shards with --memory, --engine or a pattern of files: settings and
    states are then chosen on a sample of its texts. It may be stopped, too: OUT.parts holds what is done until the end.
    The result does not depend on engine, workers and shards.

    Examples:
      wfalens extract films.rnn --corpus rotten_tomatoes --out films.wfa
      wfalens extract films.rnn -c rotten_tomatoes -o states.wfa --kind stochastic
      wfalens extract films.rnn -c rotten_tomatoes -o page.wfa --kind readable
      wfalens extract films.rnn -c rotten_tomatoes -o soon.wfa --time 30s

    As in the paper:
      wfalens extract films.rnn -c rotten_tomatoes -o films.wfa -k 40 \\
        --abstraction outputs --completion empirical \\
        --alpha 0.4 --beta 0.3 --augment 5

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
        "time": time,
        "effort": effort,
        "balance": balance,
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
    refinement = _given({"rounds": rounds, "texts": round_texts, "samples": samples, "most_states": most_states})
    if refinement and not refine:
        raise InputError("--rounds, --round-texts, --samples and --most-states belong to --refine")
    began = perf_counter()
    done = extract(
        model,
        corpus,
        out,
        options=_given(options) | {"kind": kind, "seed": seed},
        augmentation=_given(augmentation) | ({"epochs": augment} if augment else {}),
        distillation=_given({"epochs": epochs}),
        refinement=refinement if refine else None,
        vectors=vectors,
        words=_given({"tokenizer": tokenizer, "max_length": max_length, "min_count": min_count}),
        reader=Reader(data, text_column, label_column, encoding),
        shards=Shards(
            memory=memory, engine=engine, workers=workers, address=address, shard=shard, on_bad=on_bad, log=log
        ),
    )
    seconds, wfa = perf_counter() - began, done.wfa
    if wfa.kind == _LINEAR and _was_interrupted(wfa):
        note("the same command with --force goes on from there")
    if as_json:
        told = {**_told(done, out, seconds), "queries": wfa.provenance.get("queries")}
        choice = {name: wfa.provenance.get(name) for name in ("choice", "tuning", "frontier", "time", "stopped")}
        print_json({"out": str(out), **told, **choice})
        return
    told = _told(done, out, seconds)
    rows = [_row(name, value, wfa) for name, value in told.items() if value is not None]
    print_table(f"Automaton {out.name}", ["", "value"], rows)
    _say_proof(wfa)
    say(f"wrote {out}; next: wfalens evaluate {out} --model {model} --corpus …")


def extract(
    model: str,
    corpus: str,
    out: Path,
    *,
    options: Mapping[str, Any] | None = None,
    augmentation: Mapping[str, Any] | None = None,
    distillation: Mapping[str, Any] | None = None,
    refinement: Mapping[str, Any] | None = None,
    vectors: str | None = None,
    words: Mapping[str, Any] | None = None,
    reader: Reader = USUAL,
    shards: Shards = NO_SHARDS,
) -> Extracted:
    """Extract an automaton from a model run over a corpus, and write it to `out`.

    `options`, `augmentation`, `distillation` and `refinement` (None: it does not ask back) are those of `Extractor`,
    `Augmentation`, `Distillation` and `Refinement`, `words` those of `TextEncoder.of_texts` for a model that reads any
    words.
    """
    from wfalens.extraction import extract as extract_automaton
    from wfalens.text.files import TextFiles, with_labels

    kind, method, bounds = _method(dict(options or {}) | dict(distillation or {}))
    balance = bounds.get("balance")
    _check_augmentation(kind, augmentation or {}, vectors)
    allow_own((words or {}).get("tokenizer"))
    kept = out.with_name(f"{out.name}.training") if kind in (_AUTO, _LINEAR) else None
    check_outputs(out, kept, force=True)
    if shards.wanted_for(corpus):
        if refinement is not None:
            raise InputError("asking back needs texts that fit into memory; give a single file, without --memory")
        if reads_texts(model):
            raise InputError(f"{model} takes its words from the corpus, which must fit into memory; give a single file")
        source, classifier = reader.source(corpus, "train"), wrap(model, vocab=_words(model, None, words or {}))
        if balance == _LABEL and isinstance(source, TextFiles):
            source, _ = with_labels(source, reader.label_column)
        method = _with_vectors(method, classifier, augmentation or {}, vectors)
        parts = out.with_name(f"{out.name}.parts")
        with shards.opened(parts, model) as run:
            wfa = extract_automaton(classifier, source, method, run=run, **bounds)
            wfa.save(out)
            if not _was_interrupted(wfa):
                shutil.rmtree(parts)
        return Extracted(wfa)
    texts = reader.corpus(corpus, "train", labels=balance == _LABEL)
    classifier = wrap(model, vocab=_words(model, texts, words or {}))
    say_reading(classifier, texts, lambda: labelled_texts(corpus, reader, "train"))
    method = _with_vectors(method, classifier, augmentation or {}, vectors)
    if refinement is not None:
        from wfalens.extraction import Refinement
        from wfalens.extraction.refinement.refine import refine

        bounds.pop("time", None)
        wfa = refine(method, classifier, texts, Refinement(**refinement), **bounds)
        wfa.save(out)
        return Extracted(wfa, _said_worth(wfa, classifier, texts, kind, bounds["seed"]))
    with resumable(kept):
        wfa = extract_automaton(classifier, texts, method, checkpoint=kept, **bounds)
        wfa.save(out)
    _say_small_classes(wfa, balance)
    return Extracted(wfa, _said_worth(wfa, classifier, texts, kind, bounds["seed"]))


def _method(options: dict[str, Any]) -> tuple[str, Method | None, dict[str, Any]]:
    """The kind, the method with its options (None: it is chosen), and the bounds of the extraction."""
    from dataclasses import fields

    from wfalens.extraction import METHODS, Method

    kind = options.pop("kind", _AUTO)
    bounds: dict[str, Any] = {
        name: options.pop(name) for name in ("seed", "queries", "time", "effort", "balance") if name in options
    }
    bounds.setdefault("seed", 0)
    if kind not in (_AUTO, *METHODS):
        raise InputError(f"unknown kind {kind!r}; choose one of {', '.join((_AUTO, *METHODS))}")
    for old, new in {"classes": "clusters", "loss": "cr_loss", "budget": "max_bytes"}.items():
        if old in options:
            options[new] = options.pop(old)
    if options.get("sample") == "all":
        options["sample"] = None
    if kind == _AUTO and options:
        order = ["stochastic", "paper", "linear", "readable"]
        kind = next(
            (name for name in order if options.keys() <= {each.name for each in fields(METHODS[name])}), "stochastic"
        )
    if kind == "stochastic" and options.get("completion") in ("null", "uniform", "empirical"):
        kind = "paper"
    return kind, None if kind == _AUTO else Method.named(kind, **options), bounds


def _was_interrupted(wfa: WFA) -> bool:
    from wfalens.extraction.deadline import INTERRUPT, Stop

    stop = Stop.of(wfa.provenance)
    return stop is not None and stop.by == INTERRUPT


def _say_small_classes(
    wfa: WFA,
    balance: str | None,
) -> None:
    """Say which class is copied worst, where balance may help."""
    choice = wfa.provenance.get("choice")
    if choice is None or balance is not None:
        return
    found = next(each for each in choice["tried"] if each["kind"] == choice["chosen"])["by_class"]
    worst = min(found, key=lambda name: found[name]["cr"])
    if found[worst]["cr"] < _BADLY:
        progress.say(
            f"of the class {printable(worst)} CR is only {found[worst]['cr']:.3f} ({found[worst]['texts']:,} held-out "
            "texts); --balance predicted may help"
        )


def _say_proof(wfa: WFA) -> None:
    """The statement that a refinement ends with, if there was one."""
    from wfalens.extraction.refinement.refine import refinement_summary

    proof = refinement_summary(wfa.provenance)
    if proof is not None:
        say(proof)


def _said_worth(
    wfa: WFA,
    classifier: PrefixClassifier,
    texts: Corpus,
    kind: str,
    seed: int,
) -> BaselineCheck | None:
    """What the automaton is worth beside a bag of words; said if that would do as well, with what to try."""
    from wfalens.evaluation.baselines import check_baseline

    worth = check_baseline(wfa, classifier, texts, seed)
    if worth is not None and not worth.beats_bag_of_words:
        progress.say(
            f"on {worth.texts:,} extraction texts its CR of {worth.cr:.3f} does not beat that of a bag of words fitted "
            f"on the others, {worth.bag_of_words:.3f}; try {_TO_TRY[kind]}"
        )
    return worth


def _check_augmentation(kind: str, augmentation: Mapping[str, Any], vectors: str | None) -> None:
    """Refuse options that nothing would use."""
    if augmentation and "epochs" not in augmentation:
        raise InputError(f"{', '.join(augmentation)} of augmentation without any epoch of it; give --augment too")
    if vectors is not None and not augmentation and kind not in (_AUTO, _LINEAR):
        raise InputError("--vectors are for augmentation and for linear automata; give --augment or --kind linear")


def _with_vectors(
    method: Method | None, classifier: PrefixClassifier, augmentation: Mapping[str, Any], vectors: str | None
) -> Method | None:
    """The method with what needs the words of the classifier."""
    from wfalens.extraction import Augmentation, Linear, Stochastic

    if not augmentation and vectors is None:
        return method
    known = open_vectors(vectors or _USUAL_VECTORS, classifier.encoder.vocabulary.words[2:], classifier)
    changes: dict[str, Any] = {"vectors": known}
    if augmentation:
        changes = {"augmentation": Augmentation(vectors=known, **augmentation)}
        method = method or Stochastic()
    return changed(method or Linear(), **changes)


def _words(model: str, texts: Corpus | None, options: Mapping[str, Any]) -> TextEncoder | None:
    """The words for a model that reads any; those of other models are their own."""
    from wfalens.text.encoder import TextEncoder

    if texts is not None and reads_texts(model):
        return TextEncoder.of_texts(texts.texts, **{"tokenizer": "whitespace", **options})
    if options and not (set(options) == {"tokenizer"} and is_import_path(options["tokenizer"])):
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


def _told(done: Extracted, out: Path, seconds: float) -> dict[str, Any]:
    """What one wants to know first, and then the rest."""
    from wfalens.automaton.serving import readable_summary, recorded

    wfa, asked, choice = done.wfa, done.wfa.provenance.get("queries"), done.wfa.provenance.get("choice")
    found = recorded(wfa.provenance)
    return {
        "chosen_kind": choice and choice["chosen"],
        "kind": wfa.kind,
        "cr_on_held_out_texts": None if found is None else found.cr,
        "jsd_on_held_out_texts": None if found is None else found.jsd,
        "readable": readable_summary(wfa),
        "cr_of_a_bag_of_words": None if done.worth is None else done.worth.bag_of_words,
        "cr_on_the_same_texts": None if done.worth is None else done.worth.cr,
        **wfa.summary(),
        "queries": asked["total"] if asked else None,
        "bytes": out.stat().st_size,
        "seconds": seconds,
    }


def _row(name: str, value: object, wfa: WFA) -> list[str]:
    """A figure for people: which time it is, and whose CR stands beside that of the bag of words."""
    label, shown = name.replace("_", " "), _shown(name, value)
    if name == "seconds":
        label = "seconds by the clock"
    if name == "cr_on_the_same_texts":
        seen = wfa.kind != _LINEAR and wfa.readable is not wfa
        shown += f" (the automaton{', which has seen them' if seen else ''})"
    return [label, shown]


def _shown(name: str, value: object) -> str:
    if name == "bytes" and isinstance(value, int):
        return f"{value / 1e6:.2f} MB"
    if isinstance(value, dict):  # the readable automaton
        rate = "" if value["cr"] is None else f"CR {value['cr']:.3f} with "
        return f"{rate}{value['states']} states, {value['word_classes']} kinds of words"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
