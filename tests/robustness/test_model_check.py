"""Questions to Storm: equal to backward induction, to texts written out, and refused where they make no sense."""

import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from tests.errors import raises
from wfalens.errors import InputError, MissingDependencyError
from wfalens.robustness.model_check import QUESTIONS, Game, Question, check, check_property, estimated_bytes, make_game

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
    return wfa, Question(name, wfa.class_names[label], count), chosen, text


def loses_mass(wfa, text):
    return wfa.state_vectors(wfa.encoder.encode([text]), every=False).sum() < 1 - 1e-9


@settings(max_examples=30)
@given(asked())
def test_storm_answers_as_backward_induction_does(asking):
    wfa, about, words, text = asking
    if loses_mass(wfa, text):
        return
    found, game = check(wfa, about, words, text), make_game(wfa, words, text)
    played, final = about.goal(game)
    values = reversed(played.rounds(about.count, final)[1])
    assert found.by_words == pytest.approx([about.sign * game.start @ value[0, :, 0] for value in values], abs=1e-9)
    assert found.value == (min if about.name == "lower" else max)(found.by_words)


@settings(max_examples=30)
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
        key=lambda value: -value if about.name == "lower" else value,
    )
    assert found.witness.value == pytest.approx(best, abs=2e-6)
    if about.name == "lower":
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
    of_class = wfa.centres.argmax(1) == column
    vector, visited = wfa.initial, 0.0
    for at in range(len(tokens) + 1):
        if at >= before and about.name == "push":
            visited += vector[of_class].sum()
            vector = np.where(of_class, 0, vector)
        if at < len(tokens):
            vector = vector @ wfa.matrix(tokens[at])
    if about.name in ("raise", "lower"):
        return float(vector @ wfa.centres[:, column])
    return visited


@settings(max_examples=20)
@given(asked(counts=[None], names=["push"]))
def test_any_number_of_words(asking):
    wfa, about, words, text = asking
    if loses_mass(wfa, text):
        return
    found = check(wfa, about, words, text)
    few = check(wfa, Question("push", about.class_name, 60), words, text, effort=0)
    assert few.value - 1e-6 <= found.value <= 1 + 1e-6
    assert found.by_words is None
    assert found.witness.value <= found.value + 1e-6
    assert set(found.witness.words) <= set(words)


def test_an_unbounded_witness_comes_near_the_answer():
    """A word that leads to class c1 half of the time, from everywhere: it is read again and again."""
    wfa = sample("fit", 0).wfa
    found = check(
        wfa,
        Question("push", wfa.class_names[int(wfa.centres[1].argmax())], None),
        list(wfa.encoder.vocabulary.words[2:]),
    )
    assert found.value == pytest.approx(1, abs=1e-6)
    assert found.witness.value > 0.9


def test_words_are_replayed_on_the_model(newsroom_wfa, newsroom_model):
    words = ["the", "senate", "vaccine", "patients", "new"]
    found = check(newsroom_wfa, Question("push", "health", 2), words, "the senate votes", model=newsroom_model)
    assert found.witness.automaton.label_before == found.witness.model.label_before == "us"
    assert found.witness.automaton.label_after == found.witness.model.label_after == "health"
    assert found.witness.model_agrees
    assert set(found.witness.words) <= {"vaccine", "patients"}
    tokens = ["the", "senate", "votes"]
    after = newsroom_model.predict_proba([" ".join([*tokens, *found.witness.words])])[0]
    assert found.witness.model.after == pytest.approx(after[newsroom_wfa.class_names.index("health")], abs=1e-6)
    assert found.to_dict()["model_agrees"] is True
    unable = check(
        newsroom_wfa, Question("push", "health", 2), ["the", "new"], "the senate votes", model=newsroom_model
    )
    assert unable.value < 0.1 < 0.5 < found.value
    assert unable.witness.automaton.label_after == "us"


def test_before_any_text_the_game_starts_in_the_initial_state(newsroom_wfa, newsroom_model):
    found = check(newsroom_wfa, Question("raise", "sport", 1), ["match", "the"], model=newsroom_model)
    assert found.witness.words == ("match",)
    assert found.value == pytest.approx(newsroom_wfa.weights(["match"])[0, 0])
    assert found.witness.model.before == pytest.approx(newsroom_model.initial_output[0], abs=1e-6)


def test_properties_of_ones_own(newsroom_wfa):
    words, text = ["vaccine", "the"], "the senate votes"
    expected = check(newsroom_wfa, Question("push", "health", 2), words, text).value
    asked = 'Pmax=? [F<=3 "says_class_health"]'
    assert check_property(newsroom_wfa, asked, words, text).value == pytest.approx(expected)
    for bound, holds in ((expected + 0.01, True), (expected - 0.01, False)):
        asked = f'P<={bound} [F<=3 "says_class_health"]'
        assert check_property(newsroom_wfa, asked, words, text).value is holds


@pytest.mark.parametrize(
    "pctl",
    [
        "nonsense",
        'Pmax=? [F "says',
        'Pmax=? [F "nothing"]',
        'R{"class_x"}max=? [I=3]',
        "",
        'multi(Pmax=? [F "says_class_us"], Pmax=? [F "says_class_health"])',
    ],
)
def test_a_malformed_property_is_one_sentence(newsroom_wfa, pctl, capfd):
    with raises("property") as refused:
        check_property(newsroom_wfa, pctl, ["the"])
    assert "\n" not in str(refused.value)
    assert "Exception" not in str(refused.value)
    assert capfd.readouterr() == ("", "")


def test_an_unknown_label_is_answered_by_those_that_there_are(newsroom_wfa):
    with raises("property") as refused:
        check_property(newsroom_wfa, 'Pmax=? [F "nothing"]', ["the"])
    assert "says_class_health" in str(refused.value)


def test_a_game_too_large_for_memory_is_refused_before_it_is_built(newsroom_wfa, monkeypatch):
    words = list(newsroom_wfa.encoder.vocabulary.words[2:])
    needed = estimated_bytes(newsroom_wfa, words)
    monkeypatch.setattr("wfalens.robustness.model_check.subset", None)  # it must not come so far
    with raises("memory"):
        check(newsroom_wfa, Question("raise", "health", 1), words, memory=needed - 1)


def test_the_estimate_is_that_of_the_transitions(newsroom_wfa):
    words = list(newsroom_wfa.encoder.vocabulary.words[2:])
    game = Game.of(newsroom_wfa, words, np.zeros(0, np.int32))
    dense = game.matrices.nbytes
    assert estimated_bytes(newsroom_wfa, words) - dense == pytest.approx(300 * len(game.subset.weight), rel=0.1)


def test_what_makes_no_sense_is_refused(newsroom_wfa, news_model):
    about = Question("raise", "us", 1)
    with raises("option-value"):
        check(newsroom_wfa, Question("raise", "weather", 1), ["the"])
    for words, options in ((["nonsense"], {}), ([], {}), (["the"], {"model": news_model})):
        with pytest.raises(InputError):
            check(newsroom_wfa, about, words, **options)
    with raises("other-class"):
        check(newsroom_wfa, about, ["the"], "the senate votes", from_class="health")
    with raises("option-value"):
        Question("guess", "us", 1)
    for name, count in (("raise", None), ("push", 0)):
        with raises("question-count"):
            Question(name, "us", count)
    with raises("not-stochastic"):
        check(linear_sample(0).wfa, Question("raise", "c0", 1), ["w0"])


def test_a_text_that_lost_its_mass_is_refused():
    wfa = sample("null", 0, alpha=0.0).wfa
    whole = [word for word in wfa.encoder.vocabulary.words[1:] if np.allclose(wfa.matrix(word).sum(1), 1)]
    lossy = next(word for word in wfa.encoder.vocabulary.words[1:] if wfa.matrix(word)[0].sum() == 0)
    with raises("lost-mass"):
        Game.of(wfa, whole[:1], wfa.encoder.encode([lossy]).values)
    game = Game.of(wfa, [lossy], wfa.encoder.encode([lossy]).values)  # the game has a state for what is lost
    assert game.start[game.subset.lost] == 1


def test_a_missing_extra_names_itself(newsroom_wfa, monkeypatch):
    monkeypatch.setitem(sys.modules, "stormpy", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'wfalens\[verify\]'"):
        check(newsroom_wfa, Question("raise", "us", 1), ["the"])
