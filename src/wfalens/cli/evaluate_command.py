"""`wfalens evaluate`: how faithful is an automaton, or an explanation, to the classifier?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wfalens as wl
from wfalens import progress
from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import (
    beyond_memory,
    block_run,
    extraction_texts,
    open_corpus,
    open_files,
    open_groups,
    open_model,
    open_wfa,
)
from wfalens.cli.library import contract, evaluation, preprocessing_check
from wfalens.cli.output import exit_below, print_json, print_result, print_rows, say
from wfalens.errors import InputError
from wfalens.validation import Bounds, Options, option, real

_EXPLAINED = 200  # texts whose explanations are measured, unless --limit names another number
_SELECTED = ("coverage", "min_cr", "min_confidence")
command = new_group()


@dataclass(frozen=True)
class EvaluateSettings(Options):
    """[evaluate]: what is compared, and what counts as a failure.

    Args:
        reference: Texts to fit the baselines on (default: the extraction texts, if they are found).
        by: Compare the groups that a column of the texts names.
        positive: With --by: the class whose rates are compared (of two the second, else all).
        min_cr: Exit with 1 if the consistency rate is lower; reports the confidence that reaches it.
        coverage: Report the confidence at which that share of the texts is answered.
        min_confidence: Report coverage and CR at that confidence.
        explanations: Measure explanations of texts instead: how faithful are they?
    """

    reference: str | None = option(None)
    by: str | None = option(None)
    positive: str | None = option(None)
    min_cr: float | None = option(None, allowed=opt.SHARE)
    coverage: float | None = option(None, allowed=Bounds(real, 0, 1, (None,), excluded=(0,)))
    min_confidence: float | None = option(None, allowed=opt.SHARE)
    explanations: bool = option(False)


@register(
    command,
    "evaluate",
    [*(f"evaluate.{name}" for name in ("reference", "by", "min_cr", "explanations")), "texts.cache"],
    evaluate=EvaluateSettings,
    run=wl.RunConfig,
)
def evaluate(
    settings: Settings, automaton: opt.Automaton, model: opt.Model, corpus: opt.Corpus, limit: opt.Limit = None
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
      wfalens evaluate films.wfa -m films.rnn -c rotten_tomatoes -C coverage=0.8
      wfalens evaluate news.wfa -m news.rnn -c 'new/*.parquet' -C run.memory=2GB
      wfalens evaluate mail.wfa -m mail.onnx -c mail.csv --by country
      wfalens evaluate films.wfa -m films.rnn -c rotten_tomatoes --explanations
    """
    wfa, how, seed = open_wfa(automaton, settings, several=True), settings.evaluate, settings.seed
    classifier = open_model(model, wfa, settings.texts)
    about = {"automaton": str(automaton)}
    if how.explanations:
        texts = open_corpus(corpus, settings, labels=False)
        measured = evaluation.compare_explanations(wfa, classifier, texts, limit=limit or _EXPLAINED, seed=seed)
        print_result(measured, settings.as_json, about=about)
        return
    if contract.is_language_model(wfa):
        if any(getattr(how, name) is not None for name in (*_SELECTED, "by")) or settings.given("run"):
            raise InputError(
                "an automaton of a language model is measured on all prefixes: leave out options about classes, "
                "confidence and blocks",
                code="language-model",
            )
        known = None if how.reference is None else open_corpus(how.reference, settings, "train", labels=False)
        texts = open_corpus(corpus, settings, labels=False).sample(limit, seed)
        print_result(wfa.fidelity(classifier, texts, reference=known), settings.as_json)
        return
    made_from = wfa.provenance.get("model")
    if not isinstance(made_from, dict) or made_from.get("fingerprint") != classifier.fingerprint:
        progress.say(f"{automaton} was extracted from another model than {model}")
    fidelity, missing = _measured(wfa, classifier, (automaton, model, corpus), limit, settings)
    if wfa.labels:
        print_result(fidelity, settings.as_json, about={**about, "corpus": corpus})
        lowest = min(each.cr.value for each in fidelity.results.values())
        exit_below("CR of a label", lowest, how.min_cr, settings.as_json)
        return
    asked = {name: getattr(how, name) for name in _SELECTED if getattr(how, name) is not None}
    selected = {name: fidelity.selective.select(**{name: value}) for name, value in asked.items()}
    if settings.as_json:
        made = {name: wfa.provenance.get(name) for name in ("choice", "tuning", "queries")}
        found = {**about, "corpus": corpus, **fidelity.to_dict(), "selected": selected}
        print_json({**found, "reference_missing": missing, **made})
    else:
        for title, rows in fidelity.tables().items():
            print_rows(title, rows)
        if fidelity.by_group is not None:
            say(fidelity.by_group.summary())
        if missing:
            say(f"the bag of words is a weak baseline here: {missing}; name texts with --reference")
        for name, selection in selected.items():
            say(f"--{name.replace('_', '-')} {asked[name]}: {selection or 'no confidence reaches it'}")
    exit_below("CR", fidelity.cr.value, how.min_cr, settings.as_json)


def _measured(
    wfa: Any, classifier: Any, names: tuple[Path, str, str], limit: int | None, settings: Settings
) -> tuple[Any, str | None]:
    """The fidelity, and why there are no extraction texts to fit the baselines on."""
    automaton, model, corpus = names
    how = settings.evaluate
    if how.positive is not None and how.by is None:
        raise InputError("the positive class is compared by group; name the groups with --by", code="option-conflict")
    fit_on: Any
    if how.reference is not None:
        fit_on, missing = open_corpus(how.reference, settings, "train"), ""
    else:
        fit_on, missing = extraction_texts(wfa, settings, (automaton.parent, Path(corpus).parent))
    if beyond_memory(corpus, settings.given("run")):
        if how.by is not None:
            raise InputError("groups are compared for texts in memory; give one file", code="option-conflict")
        digest = hashlib.sha256("\0".join((model, corpus)).encode("utf-8", "surrogateescape")).hexdigest()[:8]
        kept = automaton.with_name(f"{automaton.name}.evaluation-{digest}")
        with block_run(settings.run, kept, model) as run:
            return wfa.fidelity(classifier, open_files(corpus, settings), reference=fit_on, run=run), missing or None
    texts = open_corpus(corpus, settings)
    by_group: dict[str, Any] = {}
    if how.by is None:
        texts = texts.sample(limit, settings.seed)
    else:
        groups = open_groups(corpus, how.by, texts, settings)
        by_group = {"groups": groups, "group_column": how.by, "positive": how.positive}
    preprocessing_check.say_misreading(classifier, texts)
    return wfa.fidelity(classifier, texts, reference=fit_on, **by_group), missing or None
