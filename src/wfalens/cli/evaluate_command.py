"""`wfalens evaluate`: how faithful is an automaton, or an explanation, to the classifier?"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import wfalens as wl
from wfalens import progress
from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import (
    beyond_memory,
    block_run,
    check_reading,
    open_corpus,
    open_files,
    open_groups,
    open_model,
    open_wfa,
)
from wfalens.cli.library import evaluation, language
from wfalens.cli.output import print_json, print_result, print_rows, say
from wfalens.errors import InputError
from wfalens.validation import Options, option

_EXPLAINED = 200  # texts whose explanations are measured, unless --limit names another number
command = new_group()


@dataclass(frozen=True)
class EvaluationSettings(Options):
    """[evaluate]: what is compared."""

    positive: str | None = option(None, "With --by: the class whose rates are compared (of two the second, else all).")


@register(command, "evaluate", lambda: {"texts": Reading, "evaluate": EvaluationSettings, "run": wl.RunConfig})
def evaluate(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="TEXTS",
            help="Texts to fit the baselines on.",
            show_default="the extraction texts, if they are found",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="Compare the groups that a column of the texts names.")
    ] = None,
    min_cr: Annotated[
        float | None,
        typer.Option(
            "--min-cr",
            metavar="RATE",
            min=0,
            max=1,
            help="Exit with 1 if the consistency rate is lower; reports the --min-confidence that reaches it.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option(
            "--coverage",
            metavar="SHARE",
            min=0,
            max=1,
            help="Report the --min-confidence at which that share of the texts is answered.",
        ),
    ] = None,
    min_confidence: Annotated[
        float | None,
        typer.Option(
            "--min-confidence", metavar="SHARE", min=0, max=1, help="Report coverage and CR at that confidence."
        ),
    ] = None,
    explanations: Annotated[
        bool, opt.flag("--explanations", help="Measure explanations of texts instead: how faithful are they?")
    ] = False,
    limit: opt.Limit = None,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Measure how faithful an automaton is: consistency rate (CR) and divergence (JSD), each with its interval.

    CR is the share of texts on which automaton and classifier choose the same class; JSD is the mean Jensen-Shannon
    divergence of their outputs (0: equal, 0.69: opposite). Baselines are a bag of words and the majority class; a
    readable automaton in the file has a line of its own.

    Confidence is the probability of the predicted class. Confirm a --min-confidence that was chosen on some texts on
    others; `wfalens predict` takes it.

    An automaton of a language model is compared on all prefixes: divergence of the next symbols, perplexity, ranking
    and probabilities of whole texts, beside n-grams and the spectral method if --reference is given.

    --explanations compares four explanations of --limit texts (200): the automaton's Shapley values and additive
    contributions, leave-one-out on the classifier, and random scores. Comprehensiveness: how far the probability falls
    without the highest words (high is good); sufficiency: with nothing but them (low is good); tau_loo: rank
    correlation with leave-one-out.

    Examples:
      wfalens evaluate films.wfa -m films.rnn -c rotten_tomatoes --coverage 0.8
      wfalens evaluate news.wfa -m news.rnn -c 'new/*.parquet' -C run.memory=2GB
      wfalens evaluate mail.wfa -m mail.onnx -c mail.csv --by country
      wfalens evaluate films.wfa -m films.rnn -c rotten_tomatoes --explanations
    """
    if coverage == 0:
        raise InputError("a coverage of 0 answers nothing; give a larger share", code="option-value")
    wfa = open_wfa(automaton, config.texts)
    classifier = open_model(model, wfa)
    about = {"automaton": str(automaton)}
    if explanations:
        texts = open_corpus(corpus, config.texts, labels=False)
        seed = config.common.seed
        measured = evaluation.compare_explanations(wfa, classifier, texts, limit=limit or _EXPLAINED, seed=seed)
        print_result(measured, as_json, about=about)
        return
    if language.is_language_model(wfa):
        if any(value is not None for value in (min_cr, coverage, min_confidence, by)) or config.given("run"):
            raise InputError(
                "an automaton of a language model is measured on all prefixes: leave out options about classes, "
                "confidence and blocks",
                code="language-model",
            )
        known = None if reference is None else open_corpus(reference, config.texts, "train", labels=False)
        texts = open_corpus(corpus, config.texts, labels=False).sample(limit, config.common.seed)
        print_result(evaluation.measure_language_model(wfa, classifier, texts, reference=known), as_json)
        return
    made_from = wfa.provenance.get("model")
    if not isinstance(made_from, dict) or made_from.get("fingerprint") != classifier.fingerprint:
        progress.say(f"{automaton} was extracted from another model than {model}")
    fidelity, missing = _measured(wfa, classifier, (automaton, model, corpus), reference, by, limit, config)
    selected = _selected(fidelity.selective, min_cr, coverage, min_confidence)
    failed = min_cr is not None and fidelity.cr < min_cr
    if as_json:
        chosen = {name: None if found is None else asdict(found) for name, found in selected.items()}
        made = {name: wfa.provenance.get(name) for name in ("choice", "tuning", "queries")}
        print_json(
            {**about, "corpus": corpus, **fidelity.to_dict(), "selected": chosen, "reference_missing": missing, **made}
        )
    else:
        say(fidelity.verdict)
        print_rows(f"{automaton.name} on {corpus}", map(_row, fidelity.rows()))
        print_rows("By confidence", fidelity.selective.rows())
        if fidelity.by_group is not None:
            print_result(fidelity.by_group, as_json)
        if missing:
            say(f"the bag of words is a weak baseline here: {missing}; name texts with --reference")
        for name, found in selected.items():
            say(_sentence(name, found))
        if failed:
            say(f"CR {fidelity.cr:.3f} is below {min_cr:.3f}")
    if failed:
        raise typer.Exit(1)


def _measured(
    wfa: Any,
    classifier: Any,
    names: tuple[Path, str, str],
    reference: str | None,
    by: str | None,
    limit: int | None,
    config: Any,
) -> tuple[Any, str | None]:
    """The fidelity, and why there are no extraction texts to fit the baselines on."""
    automaton, model, corpus = names
    reading, settings = config.texts, config.evaluate
    if settings.positive is not None and by is None:
        raise InputError("the positive class is compared by group; name the groups with --by", code="option-conflict")
    folders = (automaton.parent, Path(corpus).parent)
    missing = ""
    if reference is not None:
        fit_on: Any = open_corpus(reference, reading, "train")
    else:
        fit_on, missing = evaluation.find_extraction_texts(wfa, folders, data=reading.data, **_columns(reading))
    if beyond_memory(corpus, config.given("run")):
        if by is not None:
            raise InputError("groups are compared for texts in memory; give one file", code="option-conflict")
        digest = hashlib.sha256("\0".join((model, corpus)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        kept = automaton.with_name(f"{automaton.name}.evaluation-{digest}")
        with block_run(config.run, kept, model) as run:
            return wfa.fidelity(classifier, open_files(corpus, reading), reference=fit_on, run=run), missing or None
    texts = open_corpus(corpus, reading)
    groups = None if by is None else open_groups(corpus, by, texts, reading)
    if groups is None:
        texts = texts.sample(limit, config.common.seed)
    check_reading(classifier, texts)
    fidelity = wfa.fidelity(
        classifier, texts, reference=fit_on, groups=groups, group_column=by or "", positive=settings.positive
    )
    return fidelity, missing or None


def _columns(reading: Reading) -> dict[str, Any]:
    return {"text_column": reading.text_column, "encoding": reading.encoding}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the fidelity with its intervals, narrow enough for a terminal."""
    names = {"": f"{row['by']}: {row['group']}", "texts": row["texts"]}
    intervals = {
        f"{name.upper()} [95 %]": f"{row[name]:.3f} [{row[f'{name}_low']:.3f}, {row[f'{name}_high']:.3f}]"
        for name in ("cr", "jsd")
    }
    return {**names, **intervals}


def _selected(selective: Any, min_cr: float | None, coverage: float | None, confidence: float | None) -> dict[str, Any]:
    """What was asked about answering only some texts."""
    found: dict[str, Any] = {}
    if coverage is not None:
        found["coverage"] = selective.at_coverage(coverage)
    if min_cr is not None:
        found["min_cr"] = selective.at_rate(min_cr)
    if confidence is not None:
        found["min_confidence"] = selective.at_confidence(confidence)
    return found


def _sentence(name: str, found: Any) -> str:
    if found is None:
        return "no confidence makes the lower bound of CR reach it" if name == "min_cr" else "it answers no text there"
    answers = f"answers {found.coverage:.1%} of the texts at CR {found.cr:.3f}"
    return f"with --min-confidence {found.min_confidence:.9f} it {answers}"
