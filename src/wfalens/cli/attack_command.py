"""`wfalens attack`: change a few words so that the classifier errs."""

from __future__ import annotations

from typing import Annotated

from wfalens.cli import options as opt
from wfalens.cli.config import Settings, new_group, register
from wfalens.cli.inputs import dataset_of, open_corpus, open_files, open_model, open_vectors, open_wfa
from wfalens.cli.library import attack as attacks
from wfalens.cli.output import print_result, say, write_out

_EXAMPLES = 3
_DEFAULT = "strong, guided, and their controls"
command = new_group()


@register(
    command, "attack", ("attack.changes -k", "texts.cache"), result=opt.RESULT_FILES, attack=attacks.AttackOptions
)
def attack(
    settings: Settings,
    automaton: opt.Automaton,
    model: opt.Model,
    corpus: opt.Corpus,
    recipe: Annotated[list[str] | None, opt.value("--recipe", "NAME", show_default=_DEFAULT)] = None,
    limit: opt.Limit = None,
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

    Args:
        recipe: nearest, weak, strong (the paper's), with the controls random-order and random-word; guided (ours), with
            the control random-tries; guided-once, greedy. May be repeated.
    """
    wfa = open_wfa(automaton, settings)
    in_memory = limit is None or dataset_of(corpus) is not None
    found = attacks.attack(
        open_model(model, wfa, settings.texts),
        open_corpus(corpus, settings) if in_memory else open_files(corpus, settings),
        wfa,
        recipe or attacks.DEFAULT_RECIPES,
        settings.attack,
        vectors=open_vectors(settings, wfa),
        limit=limit,
        seed=settings.seed,
    )
    write_out(settings.out, found, f"{automaton.name}: attacks on {found.corpus}")
    print_result(found, settings.as_json)
    if not settings.as_json:
        for example in found.examples[:_EXAMPLES]:
            say(f"{example}\n")
