"""`wfalens extract`: copy a classifier into an automaton."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, make_dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import wfalens as wl
from wfalens import models, progress
from wfalens.automaton.serving import recorded
from wfalens.cli import inputs
from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.library import evaluation, extraction, preprocessing_check, refine
from wfalens.cli.output import check_outputs, note, print_json, print_rows, say
from wfalens.errors import InputError
from wfalens.validation import Options, option

AUTO = "auto"
METHODS = ("stochastic", "paper", "linear", "readable")
command = new_group()


@dataclass(frozen=True)
class ExtractSettings(Options):
    """[extract]: the method, and what bounds the work.

    Args:
        method: auto: the most faithful one on held-out texts, with a readable automaton in the same file;
            paper; stochastic: states are label distributions, to verify; linear: real weights, trained;
            readable: few states and word clusters, fits on a page. Settings of one method choose it
            (-C paper.states=40).
        time: Limit of training by the clock: 30s, 2m or 1h; equal seeds then no longer give equal bytes.
        effort: low, normal or high: how long to train.
        balance: predicted or label: as many texts of every class, by the classifier's prediction or by label.
        queries: Calls of the model at most; of a recurrent network, prefixes beyond the corpus.
        refine: Counterexample refinement: add texts on which both differ until fresh ones agree.
    """

    method: str = option(AUTO)
    time: str | None = option(None)
    effort: str = option("normal")
    balance: str | None = option(None)
    queries: int | None = option(None, allowed=opt.COUNT)
    refine: bool = option(False)


@dataclass(frozen=True)
class WordSettings(Options):
    """[words]: the words of a Hugging Face model, which reads any.

    Args:
        tokenizer: How texts become words (see `wfalens wrap --help`).
        max_length: Words after which a text is truncated.
        min_count: Words seen less often are unknown.
    """

    tokenizer: str = option("basic_english")
    max_length: int | None = option(None, allowed=opt.COUNT)
    min_count: int = option(1, allowed=opt.COUNT)


def _sections() -> dict[str, Any]:
    augmentation = [(each.name, each.type, each) for each in fields(wl.Augmentation) if each.name != "vectors"]
    return {
        "extract": ExtractSettings,
        **{name: getattr(wl, name.capitalize()) for name in METHODS},
        "augmentation": make_dataclass("AugmentationSettings", augmentation, frozen=True),
        "refinement": wl.Refinement,
        "words": WordSettings,
        "run": wl.RunConfig,
    }


@register(
    command,
    "extract",
    [*(f"extract.{name}" for name in ("method", "time", "effort", "queries", "refine")), "texts.cache"],
    **_sections(),
)
def extract(
    settings: Settings,
    model: Annotated[str, opt.argument("MODEL", f"The classifier: {opt.MODEL_HELP}")],
    corpus: opt.Corpus,
    out: Annotated[Path, opt.value("--out -o", "FILE", "The automaton to write, such as news.wfa.")],
    force: opt.Force = False,
) -> None:
    """Extract a weighted automaton from a classifier, run over a corpus (only extract.balance=label needs labels).

    By default the method is chosen on a tenth of the texts, held out for that, and a readable automaton goes along in
    the file (`wfalens show`).

    Ctrl-C ends training early, and the best so far is written. Training is kept in OUT.training: the same command with
    --force continues from there. --time ends it by the clock.

    A corpus larger than memory is read in blocks (a pattern of files, or --config run.memory=2GB). Finished blocks are
    kept in OUT.checkpoints until the end. The result does not depend on engine, workers and blocks.

    Examples:
      wfalens extract films.rnn --corpus rotten_tomatoes --out films.wfa
      wfalens extract films.rnn -c rotten_tomatoes -o page.wfa --method readable
      wfalens extract films.rnn -c rotten_tomatoes -o soon.wfa --time 30s
      wfalens extract news.rnn -c 'texts/*.parquet' -o news.wfa -C run.memory=2GB
      wfalens extract hf:NAME -c reviews.csv -o reviews.wfa --cache answers.sqlite
      wfalens extract mymodule:predict_proba -c reviews.csv -o reviews.wfa --queries 20000

    As in the paper:
      wfalens extract films.rnn -c rotten_tomatoes -o films.wfa --method paper \\
        -C paper.states=40 -C paper.alpha=0.4 -C paper.beta=0.3 -C augmentation.epochs=5
    """
    check_outputs(out, force=force)
    inputs.allow_own(settings.words.tokenizer)
    chosen, how = _method(settings), settings.extract
    in_blocks = inputs.beyond_memory(corpus, settings.given("run"))
    began = perf_counter()
    texts: Any
    if in_blocks:
        if model.startswith(inputs.HUGGING_FACE) or inputs.is_function(model):
            raise InputError(f"{model} takes its words from texts that fit into memory", code="no-vocabulary")
        texts, classifier = inputs.open_files(corpus, settings), models.wrap(model)
    else:
        texts = inputs.open_corpus(
            corpus, settings, "train", labels=how.balance == "label" or inputs.is_function(model)
        )
        classifier = _opened(model, texts, settings)
        progress.say(f"copies {model} by its answers to {len(texts):,} texts")
        if not getattr(classifier, "reads_texts", False):  # such a model cannot be misread, and pays for every call
            preprocessing_check.say_misreading(classifier, texts)
    chosen = _with_vectors(chosen, classifier, settings)
    bounds: dict[str, Any] = {name: getattr(how, name) for name in ("queries", "effort", "balance")}
    bounds["seed"] = settings.seed
    if how.refine:
        if in_blocks:
            raise InputError("refinement needs texts that fit into memory; give a single file", code="option-conflict")
        wfa = wl.refine(chosen, classifier, texts, settings.refinement, **bounds)
    elif in_blocks:
        with inputs.block_run(settings.run, Path(f"{out}.checkpoints"), model) as run:
            wfa = wl.extract(classifier, texts, chosen, time=how.time, run=run, **bounds)
    else:
        trains = chosen is None or isinstance(chosen, wl.Linear)
        folder = Path(f"{out}.training") if trains else None
        with inputs.resumable(folder):
            wfa = wl.extract(classifier, texts, chosen, time=how.time, run=wl.RunConfig(checkpoints=folder), **bounds)
    if columns := {name: value for name, value in settings.given("texts").items() if name in inputs.COLUMNS}:
        wfa.provenance["corpus"]["columns"] = columns
    wfa.save(out)
    pays = in_blocks or hasattr(classifier, "queries")  # for every text that it is asked about
    baseline = None if pays else evaluation.check_baseline(wfa, classifier, texts, settings.seed)
    _print(wfa, baseline, out, model, perf_counter() - began, settings.as_json)


def _method(settings: Settings) -> Any:
    """The method with its settings; None: it is chosen on held-out texts."""
    name = settings.extract.method
    if name == AUTO:
        configured = [each for each in METHODS if settings.given(each)]
        if not configured:
            return None
        if len(configured) > 1:
            raise InputError(
                f"settings of {' and '.join(configured)}: choose one with --method", code="option-conflict"
            )
        name = configured[0]
    return extraction.Method.named(name, **settings.given(name))


def _opened(model: str, texts: Any, settings: Settings) -> Any:
    cache = settings.texts.cache
    if model.startswith(inputs.HUGGING_FACE) or inputs.is_function(model):
        encoder = wl.TextEncoder.of_texts(texts.texts, **settings.words.to_dict())
        classes = {"texts": texts} if inputs.is_function(model) and texts.labels is not None else {}
        found = models.wrap(inputs.function_of(model), vocab=encoder, **classes, cache=cache)
        return found if settings.texts.label is None else found.label(settings.texts.label)
    if settings.given("words").keys() - {"tokenizer"}:
        raise InputError(
            f"{model} has its own words; the section [words] is for hf: models and functions", code="option-conflict"
        )
    return models.wrap(model, cache=cache)


def _with_vectors(chosen: Any, classifier: Any, settings: Settings) -> Any:
    """The method with what needs the words of the classifier: augmentation and word vectors."""
    augmentation, vectors = settings.given("augmentation"), settings.given("common").get("vectors")
    if not augmentation and vectors is None:
        return chosen
    known = inputs.read_vectors(settings.common.vectors, classifier.encoder.vocabulary.words[2:], classifier)
    if augmentation:
        chosen = wl.Stochastic() if chosen is None else chosen
        return replace(chosen, augmentation=wl.Augmentation(vectors=known, **augmentation))
    return wl.Linear(vectors=known) if chosen is None else replace(chosen, vectors=known)


def _print(wfa: Any, baseline: Any, out: Path, model: str, seconds: float, as_json: bool) -> None:
    """What one asks first about an automaton."""
    if baseline is not None and baseline.warning is not None:
        progress.say(baseline.warning)
    made = {name: wfa.provenance.get(name) for name in ("choice", "tuning", "frontier", "time", "stopped", "queries")}
    figures = {
        "chosen_kind": made["choice"] and made["choice"]["chosen"],
        "kind": wfa.kind,
        **wfa.summary(),
        "queries": made["queries"] and made["queries"]["total"],
        "bytes": out.stat().st_size,
        "seconds": seconds,
    }
    if baseline is not None:
        figures |= {"cr_of_a_bag_of_words": baseline.bag_of_words, "cr_on_the_same_texts": baseline.cr}
    if as_json:
        print_json({"out": str(out), **figures, **made})
        return
    held_out = recorded(wfa.provenance)
    if baseline is None and held_out is not None:
        figures["cr_on_texts_set_aside"] = held_out.cr
    rows = [{"": name.replace("_", " "), "value": value} for name, value in figures.items() if value is not None]
    print_rows(f"Automaton {out.name}", rows)
    if made["stopped"] is not None and made["stopped"].get("by") == "interrupt":
        note("stopped: the same command with --force continues from there")
    proof = refine.refinement_summary(wfa.provenance)
    if proof is not None:
        say(proof)
    say(
        "rates above are on extraction texts that were set aside; if the model was trained on them, new texts give less"
    )
    say(f"wrote {out}; next: wfalens evaluate {shlex.quote(str(out))} --model {shlex.quote(model)} --corpus …")
