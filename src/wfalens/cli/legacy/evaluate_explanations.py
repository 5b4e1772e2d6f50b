"""`wfalens evaluate-explanations`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.files import check_outputs, write_html
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_json, print_table

if TYPE_CHECKING:
    from wfalens.evaluation.explanations import ExplanationScores


def evaluate_explanations_cli(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="Texts, drawn at random.")] = 200,
    seed: opt.Seed = 0,
    data: opt.Data = None,
    text_column: opt.TextColumn = "text",
    label_column: opt.LabelColumn = None,
    encoding: opt.Encoding = "utf-8",
    html: opt.Html = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> None:
    """How faithful are explanations of texts to the classifier itself?

    Comprehensiveness: how far the classifier's probability falls without the words that matter most (high is good).
    Sufficiency: how far it falls with nothing but them (low is good). tau_loo: rank correlation with leaving out one
    word at a time. All with 95 % intervals.

    Four explanations are compared: the automaton's Shapley values and its walk, which do not ask the classifier, and
    leave-one-out on the classifier and random scores. The Python function of this name takes any others, too.

    Example:
      wfalens evaluate-explanations films.wfa -m films.rnn -c rotten_tomatoes
    """
    check_outputs(html, force=force)
    found = evaluate_explanations(
        automaton,
        model,
        corpus,
        limit=limit,
        seed=seed,
        reader=Reader(data, text_column, label_column, encoding),
    )
    write_html(html, f"{automaton.name}: explanations", found.to_html())
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)


def evaluate_explanations(
    automaton: Path,
    model: str,
    corpus: str,
    *,
    limit: int = 200,
    seed: int = 0,
    reader: Reader = USUAL,
) -> ExplanationScores:
    """Measure explanations of `limit` texts, drawn at random: the automaton's, leave-one-out and random ones."""
    from wfalens.automaton import WFA
    from wfalens.explanation.faithfulness import compare_explanations
    from wfalens.models.wrapping import wrap

    wfa = WFA.load(automaton)
    classifier = wrap(model, vocab=wfa.encoder)
    texts = reader.corpus(corpus, "test", labels=False).texts
    return compare_explanations(wfa, classifier, texts, limit=limit, seed=seed)


def _print(found: ExplanationScores) -> None:
    rows = []
    for method, ms in zip(found.methods, found.ms, strict=True):
        estimates = [found.estimate(method, measure) for measure in found.measures]
        rows.append([method, *("–" if each is None else f"{each:.3f}" for each in estimates), f"{ms:.2f}"])
    print_table(f"Explanations of {found.values.shape[2]:,} texts", ["method", *found.measures, "ms"], rows)
