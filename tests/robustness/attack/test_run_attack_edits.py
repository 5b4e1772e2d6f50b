"""Attacks by edits: every example is a text at most k edits away that the model gets wrong."""

import numpy as np
import pytest

from tests.errors import raises
from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.robustness.attack import EDIT_RECIPES, attack
from wfalens.robustness.attack.attack_result import AttackResult, Example, RecipeResult
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.text import Corpus, TextEncoder
from wfalens.text.character_edits import single_edits

NAMES = ["anna", "hanna", "hannah", "ann", "nan", "dan", "daniel", "dana", "diana", "ian", "adrian", "hadrian"] * 6
TEXTS = Corpus.of(NAMES, ["a" if name.endswith("a") else "other" for name in NAMES], ("other", "a"), "names")


def ends_in_a(token_lists):
    yes = np.array([bool(tokens) and tokens[-1].endswith("a") for tokens in token_lists])
    return np.where(yes[:, None], [0.1, 0.9], [0.9, 0.1])


@pytest.fixture(scope="module", params=["characters", "bigrams"])
def pair(request):
    encoder = TextEncoder.of_texts(NAMES, request.param)
    model = wrap(ends_in_a, vocab=encoder, classes=("other", "a"), reads="tokens")
    return extract(model, NAMES, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs")), model


def run_edit_attack(recipe, k, wfa, model, corpus, **options):
    return run_attack(recipe, k, EDIT_RECIPES[recipe](wfa, k), Originals.of(model, corpus), **options)


@pytest.mark.parametrize("recipe", EDIT_RECIPES)
def test_every_success_is_a_text_one_edit_away_that_fools_the_model(pair, recipe):
    wfa, model = pair
    outcome = run_edit_attack(recipe, 1, wfa, model, TEXTS, seed=1)
    assert len(outcome.examples) == len(NAMES)
    letters = sorted({letter for name in NAMES for letter in name})
    for name, example in zip(NAMES, outcome.examples, strict=True):
        after = "".join(example.after)
        assert "".join(example.before) == name
        if example.status == "succeeded":
            assert after in {edit.text for edit in single_edits(name, letters)}
            assert (ends_in_a([model.encoder.tokens(after)]).argmax(1)[0] == 1) != name.endswith("a")
            assert str(example).splitlines()[1].replace("[[", "").replace("]]", "") == name


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        ("moscoso", "moscosjo", ("moscoso", "moscos[[j]]o")),
        ("victores", "victorws", ("victor[[e]]s", "victor[[w]]s")),
        ("quaye", "quye", ("qu[[a]]ye", "quye")),
        ("daniel", "dxnil", ("d[[a]]ni[[e]]l", "d[[x]]nil")),
    ],
)
def test_marks_stand_where_the_texts_differ(before, after, marked):
    example = Example("succeeded", tuple(before), tuple(after), (6,), "x", "x", 0.9, "y", 0.8, 1, blank="")
    assert example.marked == marked
    assert str(example).splitlines()[1:] == list(marked)


def test_the_automaton_knows_where_to_edit(pair):
    wfa, model = pair
    rates = {
        recipe: run_edit_attack(recipe, 1, wfa, model, TEXTS).rates for recipe in ("guided", "random-tries", "greedy")
    }
    assert rates["guided"].asr_correct == rates["greedy"].asr_correct > 0.9  # some names need two edits
    assert rates["random-tries"].asr_correct < 0.9
    assert rates["guided"].queries < rates["random-tries"].queries


def test_more_edits_reach_farther_and_a_budget_is_kept(pair):
    wfa, model = pair
    one, two = (run_edit_attack("random-tries", k, wfa, model, TEXTS, seed=3).rates for k in (1, 2))
    assert two.asr_correct >= one.asr_correct
    assert max(each.queries for each in run_edit_attack("greedy", 2, wfa, model, TEXTS, budget=3).examples) <= 3


def test_texts_that_are_wrong_already_are_skipped(pair):
    wfa, model = pair
    wrong = Corpus.of(["anna", "dan"], ["other", "other"], ("other", "a"))
    statuses = [each.status for each in run_edit_attack("guided", 1, wfa, model, wrong).examples]
    assert statuses == ["skipped", "succeeded"]


def test_bad_input_is_refused(pair):
    wfa, model = pair
    with raises("no-labels"):
        run_edit_attack("guided", 1, wfa, model, Corpus.of(["anna"]))


def test_the_door_attacks_characters_by_edits(pair):
    wfa, model = pair
    result = attack(model, TEXTS, wfa)
    assert [each.recipe for each in result.recipes] == ["guided", "random-tries"]
    assert result.unit == "characters"
    with raises("edit-recipe"):
        attack(model, TEXTS, wfa, "strong")


def test_examples_are_those_of_an_attack_and_not_of_its_control():
    guided, control = (RecipeResult(name, 1, ()) for name in ("guided", "random-tries"))
    assert AttackResult("names", 0, "edits", "characters", (guided, control)).best is guided
    assert AttackResult("names", 0, "edits", "characters", (control,)).best is control
