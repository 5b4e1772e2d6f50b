"""Questions to Storm: equal to backward induction, to texts written out, and refused where they make no sense."""

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from wfalens.errors import InputError, MissingDependencyError
from wfalens.robustness.model_checking.answers import check, check_property
from wfalens.robustness.model_checking.questions import QUESTIONS, question
from wfalens.robustness.model_checking.word_game import Game, estimated_bytes

pytest.importorskip("stormpy", reason="needs the extra verify")


@st.composite
def asked(draw, counts=(1, 2, 3), names=tuple(QUESTIONS)):
    """An automaton, a question about a class that some state speaks for, words, and a text."""
    wfa = draw(samples()).wfa
    words = wfa.encoder.vocabulary.words[1:]
    spoken = sorted(set(wfa.centres.argmax(1)))
    name, label = draw(st.sampled_from(names)), draw(st.sampled_from(spoken))
    count = draw(st.sampled_from(counts))
    chosen = draw(st.lists(st.sampled_from(words), min_size=1, max_size=4, unique=True))
    text = " ".join(draw(st.lists(st.sampled_from(words), max_size=3)))
    return wfa, question(name, wfa.class_names[label], count), chosen, text


def loses_mass(wfa, text):
    return wfa.state_vectors(wfa.encoder.encode([text]), every=False).sum() < 1 - 1e-9


@settings(max_examples=60)
@given(asked())
def test_storm_answers_as_backward_induction_does(asking):
    wfa, about, words, text = asking
    if loses_mass(wfa, text):
        return
    found = check(wfa, about, words, text)
    assert found.value == pytest.approx(found.own_value, abs=1e-9)
    assert len(found.by_words) == about.count + 1


@settings(max_examples=60)
@given(asked())
def test_the_witness_is_the_best_of_all_fixed_words_and_never_beyond_the_answer(asking):
    wfa, about, words, text = asking
    if loses_mass(wfa, text):
        return
    found = check(wfa, about, words, text, effort=10_000)
    assert found.witness.optimal
    best = max(
        (
            plain_value(wfa, about, [*text.split(), *chosen], len(text.split()))
            for chosen in sequences(words, about.count)
        ),
        key=lambda value: -value if about.name in ("lower", "keep") else value,
    )
    assert found.witness.value == pytest.approx(best, abs=2e-6)
    if about.name in ("lower", "keep"):
        assert found.witness.value >= found.value - 1e-9
    else:
        assert found.witness.value <= found.value + 1e-9
    again = plain_value(wfa, about, [*text.split(), *found.witness.words], len(text.split()))
    assert found.witness.value == pytest.approx(again, abs=1e-9)


def sequences(words, count):
    return [chosen for number in range(count + 1) for chosen in product(words, repeat=number)]


def plain_value(wfa, about, tokens, before):
    """What fixed words do, by the matrices of the whole automaton, state by state."""
    column = wfa.class_names.index(about.class_name)
    speaks = wfa.centres.argmax(1) == column
    vector, visited = wfa.initial, 0.0
    for at in range(len(tokens) + 1):
        if at >= before and about.name in ("push", "keep"):
            goal = speaks if about.name == "push" else ~speaks
            visited += vector[goal].sum()
            vector = np.where(goal, 0, vector)
        if at < len(tokens):
            vector = vector @ wfa.matrix(tokens[at])
    if about.name in ("raise", "lower"):
        return float(vector @ wfa.centres[:, column])
    if about.name == "push":
        return visited
    return float(vector.sum())  # what never left


@settings(max_examples=40)
@given(asked(counts=[None], names=["push", "keep"]))
def test_any_number_of_words(asking):
    wfa, about, words, text = asking
    if loses_mass(wfa, text):
        return
    found = check(wfa, about, words, text)
    assert found.value == pytest.approx(found.own_value, abs=1e-5)
    assert found.by_words is None
    sign = -1 if about.name == "keep" else 1
    assert sign * found.witness.value <= sign * found.value + 1e-6
    assert set(found.witness.words) <= set(words)


def test_an_unbounded_witness_comes_near_the_answer():
    """A word that leads to class c1 half of the time, from everywhere: it is read again and again."""
    wfa = sample("fit", 0).wfa
    found = check(
        wfa,
        question("push", wfa.class_names[int(wfa.centres[1].argmax())], None),
        list(wfa.encoder.vocabulary.words[2:]),
    )
    assert found.value == pytest.approx(1, abs=1e-6)
    assert found.witness.value > 0.9


def test_words_are_replayed_on_the_model(newsroom_wfa, newsroom_model):
    words = ["the", "senate", "vaccine", "patients", "new"]
    found = check(newsroom_wfa, question("push", "health", 2), words, "the senate votes", model=newsroom_model)
    assert found.witness.automaton.label_before == found.witness.model.label_before == "us"
    assert found.witness.automaton.label_after == found.witness.model.label_after == "health"
    assert found.witness.model_agrees
    assert set(found.witness.words) <= {"vaccine", "patients"}
    tokens = ["the", "senate", "votes"]
    after = newsroom_model.predict_proba([" ".join([*tokens, *found.witness.words])])[0]
    assert found.witness.model.after == pytest.approx(after[newsroom_wfa.class_names.index("health")], abs=1e-6)
    assert found.to_json()["model_agrees"] is True
    unable = check(
        newsroom_wfa, question("push", "health", 2), ["the", "new"], "the senate votes", model=newsroom_model
    )
    assert unable.value < 0.1 < 0.5 < found.value
    assert unable.witness.automaton.label_after == "us"


def test_before_any_text_the_game_starts_in_the_initial_state(newsroom_wfa, newsroom_model):
    found = check(newsroom_wfa, question("raise", "sport", 1), ["match", "the"], model=newsroom_model)
    assert found.witness.words == ("match",)
    assert found.value == pytest.approx(newsroom_wfa.weights(["match"])[0, 0])
    assert found.witness.model.before == pytest.approx(newsroom_model.initial_output[0], abs=1e-6)


def test_properties_of_ones_own(newsroom_wfa):
    words, text = ["vaccine", "the"], "the senate votes"
    expected = check(newsroom_wfa, question("push", "health", 2), words, text).value
    assert check_property(newsroom_wfa, 'Pmax=? [F<=3 "says_class_health"]', words, text) == pytest.approx(expected)
    for bound, said in ((expected + 0.01, True), (expected - 0.01, False)):
        assert check_property(newsroom_wfa, f'P<={bound} [F<=3 "says_class_health"]', words, text) is said


@pytest.mark.parametrize(
    ("pctl", "reason"),
    [
        ("nonsense", "Could not parse formula"),
        ('Pmax=? [F "says', "Parsing error"),
        ('Pmax=? [F "nothing"]', "unknown label 'nothing'; the model has .*says_class_health.*no state speaks most"),
        ('R{"class_x"}max=? [I=3]', "does not exist"),
        ("", "give one property, not 0"),
        ('multi(Pmax=? [F "says_class_us"], Pmax=? [F "says_class_health"])', "neither a number nor yes or no"),
    ],
)
def test_a_malformed_property_is_one_sentence(newsroom_wfa, pctl, reason, capfd):
    with pytest.raises(InputError, match=reason) as refused:
        check_property(newsroom_wfa, pctl, ["the"])
    assert "\n" not in str(refused.value)
    assert "Exception" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_a_game_too_large_for_memory_is_refused_before_it_is_built(newsroom_wfa, monkeypatch):
    words = list(newsroom_wfa.encoder.vocabulary.words[2:])
    needed = estimated_bytes(newsroom_wfa, words)
    monkeypatch.setattr("wfalens.robustness.model_checking.word_game.subset", None)  # it must not come so far
    with pytest.raises(InputError, match=r"words and 31 states would take about .* GB, more than the .* GB allowed"):
        check(newsroom_wfa, question("raise", "health", 1), words, memory=needed - 1)


def test_the_estimate_is_that_of_the_transitions(newsroom_wfa):
    words = list(newsroom_wfa.encoder.vocabulary.words[2:])
    game = Game.of(newsroom_wfa, words, np.zeros(0, np.int32))
    dense = game.matrices.nbytes
    assert estimated_bytes(newsroom_wfa, words) - dense == pytest.approx(300 * len(game.subset.weight), rel=0.1)


def test_what_makes_no_sense_is_refused(newsroom_wfa, news_model):
    def refused(match, *arguments, **options):
        with pytest.raises(InputError, match=match):
            check(newsroom_wfa, *arguments, **options)

    refused("unknown class 'weather'", question("raise", "weather", 1), ["the"])
    refused("the word 'nonsense' is not in the automaton's alphabet", question("raise", "us", 1), ["nonsense"])
    refused("at least one word to choose from", question("raise", "us", 1), [])
    refused("a model with another vocabulary", question("raise", "us", 1), ["the"], model=news_model)
    with pytest.raises(InputError, match="unknown question 'guess'; choose one of push, raise, lower, keep"):
        question("guess", "us", 1)
    with pytest.raises(InputError, match="say how many words may be read to raise a class"):
        question("raise", "us", None)
    with pytest.raises(InputError, match="at least one word, not 0"):
        question("push", "us", 0)
    with pytest.raises(InputError, match="a linear automaton cannot be checked"):
        check(linear_sample(0).wfa, question("raise", "c0", 1), ["w0"])


def test_a_text_that_lost_its_mass_is_refused():
    wfa = sample("null", 0, alpha=0.0).wfa
    whole = [word for word in wfa.encoder.vocabulary.words[1:] if np.allclose(wfa.matrix(word).sum(1), 1)]
    lossy = next(word for word in wfa.encoder.vocabulary.words[1:] if wfa.matrix(word)[0].sum() == 0)
    with pytest.raises(InputError, match="null completion loses 100% of the text's mass"):
        Game.of(wfa, whole[:1], wfa.encoder.encode([lossy]).values)
    game = Game.of(wfa, [lossy], wfa.encoder.encode([lossy]).values)  # the game has a state for what is lost
    assert game.start[game.subset.lost] == 1


def test_a_missing_extra_names_itself(newsroom_wfa, monkeypatch):
    monkeypatch.setitem(sys.modules, "stormpy", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'wfalens\[verify\]'"):
        check(newsroom_wfa, question("raise", "us", 1), ["the"])
