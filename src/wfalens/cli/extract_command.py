"""`wfalens extract`: copy a classifier into an automaton."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

import wfalens as wl
from wfalens import models, progress
from wfalens.cli import options as opt
from wfalens.cli.config import Reading, fields_of, new_group, register
from wfalens.cli.inputs import (
    allow_own,
    beyond_memory,
    block_run,
    check_reading,
    open_corpus,
    open_files,
    open_vectors,
    resumable,
)
from wfalens.cli.library import baselines, extraction, refinement
from wfalens.cli.output import check_outputs, note, print_json, print_rows, say
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real, whole

AUTO, HUGGING_FACE = "auto", "hf:"
METHODS = ("stochastic", "paper", "linear", "readable")  # of options without --method, the first that has them all
GENERATED = ("states", "abstraction", "completion", "alpha", "beta", "clusters", "epochs")
_FIELDS = fields_of(*(getattr(wl, name.capitalize()) for name in METHODS))
command = new_group()


@dataclass(frozen=True)
class WordSettings(Options):
    """[words]: the words of a Hugging Face model, which reads any."""

    tokenizer: str = option("whitespace", "How texts become words (see `wfalens wrap --help`).")
    max_length: int | None = option(None, "Words after which a text is truncated.", Bounds(whole, 1, 1 << 30, (None,)))
    min_count: int = option(1, "Words seen less often are unknown.", Bounds(whole, 1, 1 << 30))


@dataclass(frozen=True)
class AugmentationSettings(Options):
    """[augmentation]: perturbed texts of the paper's method."""

    epochs: int = option(0, "Epochs over perturbed texts; 0: none (the authors' code: 5).", Bounds(whole, 0, 1 << 20))
    replace: float = option(0.4, "Probability of a synonym.", Bounds(real, 0, 1))
    drop: float = option(0.2, "Else probability of <unk>.", Bounds(real, 0, 1))
    neighbours: int = option(5, "Synonyms per word.", Bounds(whole, 1, 1 << 20))
    weight: float = option(1.0, "Weight of the counts of perturbed texts.", Bounds(real, 0, 1e6, excluded=(0,)))


def _sections() -> dict[str, type[Options]]:
    methods = {name: getattr(wl, name.capitalize()) for name in METHODS}
    return {
        **methods,
        "augmentation": AugmentationSettings,
        "refinement": wl.Refinement,
        "words": WordSettings,
        "texts": Reading,
        "run": wl.RunConfig,
    }


@register(
    command,
    "extract",
    _sections,
    generated={name: _FIELDS[name] for name in GENERATED},
    panel="Method (all its options: --config METHOD.OPTION=VALUE)",
)
def extract(
    model: Annotated[str, opt.argument("MODEL", f"The classifier: {opt.MODEL_HELP}")],
    corpus: opt.Corpus,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The automaton to write, such as news.wfa.")],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help="auto: the most faithful one on held-out texts, with a readable automaton in the same file; paper; "
            "stochastic: states are label distributions, to verify; linear: real weights, trained; readable: few "
            "states and word clusters, fits on a page. Options of one method choose it.",
        ),
    ] = AUTO,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="TIME",
            help="Limit of training by the clock: 30s, 2m or 1h; equal seeds then no longer give equal bytes.",
        ),
    ] = None,
    effort: Annotated[
        str, typer.Option("--effort", metavar="NAME", help="low, normal or high: how long to train.")
    ] = "normal",
    balance: Annotated[
        str | None,
        typer.Option(
            "--balance",
            metavar="NAME",
            help="predicted or label: draw as many texts of every class, by the classifier's prediction or by label.",
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option("--queries", metavar="N", min=1, help="Prefixes beyond the corpus that the classifier is asked."),
    ] = None,
    refine: Annotated[
        bool,
        opt.flag(
            "--refine",
            help="Counterexample refinement: add texts on which both differ until fresh ones agree.",
        ),
    ] = False,
    seed: opt.Seed = None,
    options: Any = None,
    config: opt.Config = None,  # type: ignore[assignment]
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """Extract a weighted automaton from a classifier, run over a corpus (only --balance label needs labels).

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
      wfalens extract hf:NAME -c reviews.csv -o reviews.wfa --queries 200000

    As in the paper:
      wfalens extract films.rnn -c rotten_tomatoes -o films.wfa --method paper \\
        --states 40 --alpha 0.4 --beta 0.3 -C augmentation.epochs=5
    """
    check_outputs(out, force=force)
    allow_own(config.words.tokenizer)
    chosen = _method(method, options, config)
    in_blocks = beyond_memory(corpus, config.given("run"))
    began = perf_counter()
    texts: Any
    if in_blocks:
        if model.startswith(HUGGING_FACE):
            raise InputError(f"{model} takes its words from texts that fit into memory", code="no-vocabulary")
        texts, classifier = open_files(corpus, config.texts), models.wrap(model)
    else:
        texts = open_corpus(corpus, config.texts, "train", labels=balance == "label")
        classifier = _opened(model, texts, config)
        check_reading(classifier, texts)
    chosen = _with_vectors(chosen, method, classifier, config)
    bounds: dict[str, Any] = {
        "seed": config.common.seed if seed is None else seed,
        "queries": queries,
        "effort": effort,
        "balance": balance,
    }
    if refine:
        if in_blocks:
            raise InputError("refinement needs texts that fit into memory; give a single file", code="option-conflict")
        wfa = wl.refine(chosen, classifier, texts, config.refinement, **bounds)
    elif in_blocks:
        with block_run(config.run, Path(f"{out}.checkpoints"), model) as run:
            wfa = wl.extract(classifier, texts, chosen, time=time, run=run, **bounds)
    else:
        trains = chosen is None or isinstance(chosen, wl.Linear)
        checkpoint = Path(f"{out}.training") if trains else None
        with resumable(checkpoint):
            wfa = wl.extract(classifier, texts, chosen, time=time, checkpoint=checkpoint, **bounds)
    wfa.save(out)
    baseline = None if in_blocks else baselines.check_baseline(wfa, classifier, texts, bounds["seed"])
    _print(wfa, baseline, out, model, perf_counter() - began, as_json)


def _method(name: str, options: dict[str, Any], config: Any) -> Any:
    """The method with its options from the command line and the settings; None: it is chosen on held-out texts."""
    if name not in (AUTO, *METHODS):
        raise InputError(f"unknown method {name!r}; choose one of {', '.join((AUTO, *METHODS))}", code="unknown-method")
    if name == AUTO:
        configured = [each for each in METHODS if config.given(each)]
        if len(configured) > 1:
            raise InputError(
                f"settings of {' and '.join(configured)}: choose one with --method", code="option-conflict"
            )
        if not options and not configured:
            return None
        known = {each: {item.name for item in fields(getattr(wl, each.capitalize()))} for each in METHODS}
        suitable = [each for each in configured or METHODS if options.keys() <= known[each]]
        if not suitable:
            raise InputError(f"no method has all of the options {', '.join(options)}", code="unknown-option")
        name = suitable[0]
    return extraction.Method.named(name, **{**config.given(name), **options})


def _opened(model: str, texts: Any, config: Any) -> Any:
    if model.startswith(HUGGING_FACE):
        words = config.words
        return models.wrap(model, vocab=wl.TextEncoder.of_texts(texts.texts, **words.to_dict()))
    if config.given("words").keys() - {"tokenizer"}:
        raise InputError(f"{model} has its own words; the section [words] is for hf: models", code="option-conflict")
    return models.wrap(model)


def _with_vectors(chosen: Any, method: str, classifier: Any, config: Any) -> Any:
    """The method with what needs the words of the classifier: augmentation and word vectors."""
    augmentation, vectors = config.given("augmentation"), config.given("common").get("vectors")
    if not augmentation and vectors is None:
        return chosen
    known = open_vectors(vectors or config.common.vectors, classifier.encoder.vocabulary.words[2:], classifier)
    if augmentation.get("epochs"):
        chosen = wl.Stochastic() if chosen is None and method == AUTO else chosen
        return replace(chosen, augmentation=wl.Augmentation(vectors=known, **augmentation))
    if augmentation:
        raise InputError("give augmentation.epochs too: without any there is no augmentation", code="option-conflict")
    return wl.Linear(vectors=known) if chosen is None else replace(chosen, vectors=known)


def _figures(wfa: Any) -> dict[str, Any]:
    """What one asks first about an automaton."""
    choice, asked = wfa.provenance.get("choice"), wfa.provenance.get("queries")
    return {
        "chosen_kind": choice and choice["chosen"],
        "kind": wfa.kind,
        **wfa.summary(),
        "queries": asked["total"] if asked else None,
    }


def _print(wfa: Any, baseline: Any, out: Path, model: str, seconds: float, as_json: bool) -> None:
    if baseline is not None and baseline.warning is not None:
        progress.say(baseline.warning)
    figures = {**_figures(wfa), "bytes": out.stat().st_size, "seconds": seconds}
    if baseline is not None:
        figures |= {"cr_of_a_bag_of_words": baseline.bag_of_words, "cr_on_the_same_texts": baseline.cr}
    if as_json:
        choice = {
            name: wfa.provenance.get(name) for name in ("choice", "tuning", "frontier", "time", "stopped", "queries")
        }
        print_json({"out": str(out), **figures, **choice})
        return
    rows = [{"": name.replace("_", " "), "value": value} for name, value in figures.items() if value is not None]
    print_rows(f"Automaton {out.name}", rows)
    stopped = wfa.provenance.get("stopped")
    if stopped is not None and stopped.get("by") == "interrupt":
        note("stopped: the same command with --force continues from there")
    proof = refinement.refinement_summary(wfa.provenance)
    if proof is not None:
        say(proof)
    say(f"wrote {out}; next: wfalens evaluate {out} --model {model} --corpus …")
