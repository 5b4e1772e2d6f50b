"""`wfalens attack`: change a few words so that the classifier errs."""

from __future__ import annotations

from typing import Annotated

import typer

from wfalens.cli import options as opt
from wfalens.cli.config import Reading, new_group, register
from wfalens.cli.inputs import dataset_of, open_corpus, open_files, open_model, open_vectors, open_wfa
from wfalens.cli.library import attacks
from wfalens.cli.output import check_out, print_result, say, write_out

_EXAMPLES = 3
command = new_group()


@register(
    command,
    "attack",
    lambda: {"texts": Reading, "attack": attacks.AttackOptions},
)
def attack(
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    recipe: Annotated[
        list[str] | None,
        typer.Option(
            "--recipe",
            metavar="NAME",
            help="nearest, weak, strong (the paper's), with the controls random-order and random-word; guided (ours), "
            "with the control random-tries; guided-once, greedy. May be repeated.",
            show_default="strong, guided, and their controls",
        ),
    ] = None,
    changes: Annotated[
        int | None,
        typer.Option(
            "--changes", "-k", metavar="N", min=1, help="Words changed at most (edits, of texts of characters)."
        ),
    ] = None,
    limit: opt.Limit = None,
    out: opt.Out = None,
    force: opt.Force = False,
    seed: opt.Seed = None,
    config: opt.Config = None,  # type: ignore[assignment]
    as_json: opt.Json = False,
) -> None:
    """Change a few words by similar ones so that the classifier errs; the automaton guides the search.

    Success is given of all texts and of those that were classified correctly, beside random controls under the same
    constraints and with as many tries. A word may be replaced by one that is near in meaning (see `wfalens explain
    neighbours`). d_S is the cosine distance of two words, d_T their distance in what they do (see `wfalens explain
    pairs`); bounds such as q0.5 are quantiles over all pairs of near words.

    Where tokens are characters, characters are substituted, inserted, deleted or transposed instead, and -k counts
    edits. With --limit, files of any size are read once, and only the texts that are drawn are held.

    Examples:
      wfalens attack films.wfa -m films.rnn -c rotten_tomatoes --limit 500
      wfalens attack news.wfa -m news.rnn -c 'new/*.parquet' --limit 2000
    """
    check_out(out, force)
    wfa = open_wfa(automaton, config.texts)
    texts = (
        open_corpus(corpus, config.texts) if limit is None or dataset_of(corpus) else open_files(corpus, config.texts)
    )
    given = config.given("attack") | ({} if changes is None else {"changes": changes})
    found = attacks.attack(
        open_model(model, wfa),
        texts,
        wfa,
        recipe or attacks.DEFAULT_RECIPES,
        attacks.AttackOptions(**given),
        vectors=open_vectors(config.common.vectors, wfa.encoder.vocabulary.words[2:]),
        limit=limit,
        seed=config.common.seed if seed is None else seed,
    )
    write_out(out, found, f"{automaton.name}: attacks on {found.corpus}")
    print_result(found, as_json)
    if not as_json:
        for example in found.examples[:_EXAMPLES]:
            say(f"{example}\n")
