"""Certificates: never contradicted by enumeration, on any automaton, and informative about a network."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.automata import linear_sample, sample, samples
from tests.errors import raises
from wfalens.automaton import Fitted, StochasticWFA
from wfalens.automaton.rows import rows_from_keys
from wfalens.explanation import nearness_of
from wfalens.robustness import CertifyOptions, Edits, Substitutes, certify_model, certify_texts
from wfalens.robustness.certify.certificate import BROKEN, CERTIFIED, OPEN, certify, certify_choices
from wfalens.robustness.certify.edits import (
    Option,
    count_variants,
    every_pick,
    in_words,
    random_picks,
    spelled,
)
from wfalens.robustness.certify.induction import ChangeEffects
from wfalens.text import TextEncoder, Vocabulary, load_dataset
from wfalens.text.datasets import newsroom

stochastic_automata = samples().map(lambda made: made.wfa)
linear_automata = st.integers(0, 10**6).map(lambda seed: linear_sample(seed).wfa)


@st.composite
def questions(draw, automata=stochastic_automata):
    """An automaton, what may stand at each position of a short text, and a limit on changes."""
    wfa = draw(automata)
    words = st.integers(1, len(wfa.encoder.vocabulary) - 1)
    others = st.dictionaries(words, st.lists(words, max_size=3, unique=True), max_size=6)
    edits = Edits(
        Substitutes({word: np.array(each, np.int32) for word, each in draw(others).items()}),
        delete=draw(st.booleans()),
        duplicate=draw(st.booleans()),
        swap=draw(st.booleans()),
        insert=tuple(draw(st.lists(words, max_size=1))),
    )
    ids = np.array(draw(st.lists(words, min_size=1, max_size=4)), np.int32)
    return wfa, edits.choices(ids), draw(st.sampled_from([None, 0, 1, 2]))


def certificate_of(wfa, choices, changes, effort):
    own = [wfa.encoder.vocabulary.words[part[0].words[0]] for part in choices]
    return certify_choices(wfa, own, choices, changes=changes, effort=effort)


def every_text(choices, changes):
    return spelled(choices, every_pick(choices, changes))


def enumerated(wfa, choices, changes):
    """Weights of all variants, and whether each is of another class than the first."""
    weights = wfa.weights(every_text(choices, changes))
    decisions = wfa.decide(weights)
    return weights, decisions


@given(st.one_of(questions(), questions(linear_automata)), st.sampled_from([0, 3, 10_000]))
def test_no_enumerated_variant_contradicts_a_certificate(question, effort):
    wfa, choices, changes = question
    weights, decisions = enumerated(wfa, choices, changes)
    if decisions[0] < 0:
        with raises("automaton-undecided"):
            certificate_of(wfa, choices, changes, effort)
        return
    found = certificate_of(wfa, choices, changes, effort)
    label = decisions[0]
    advantage = np.delete(weights, label, axis=1).max(1) - weights[:, label]
    assert found.bound >= advantage.max() - 1e-12
    assert found.reached <= advantage.max() + 1e-12
    assert found.lowest <= wfa.probabilities(weights)[:, label].min() + 1e-12  # null completion may lose mass
    assert found.status != CERTIFIED or found.lowest >= 1 / len(wfa.class_names)  # its share: never "at least 0.00"
    assert found.variants == len(weights)
    changed = (decisions != label).any()
    assert not (found.status == CERTIFIED and changed)
    assert not (found.status == BROKEN and not changed)
    if effort == 10_000 and abs(advantage.max()) > 1e-8:
        assert found.status == (BROKEN if changed else CERTIFIED)


@given(st.one_of(questions(), questions(linear_automata)))
def test_the_witness_is_a_variant_and_reaches_what_is_said(question):
    wfa, choices, changes = question
    if enumerated(wfa, choices, changes)[1][0] < 0:
        return
    found = certificate_of(wfa, choices, changes, 100)
    vocabulary = wfa.encoder.vocabulary
    ids = vocabulary.encode([list(found.witness)])
    assert ids.values.tolist() in [text.tolist() for text in every_text(choices, changes)]
    weights = wfa.weights(ids)
    others = np.delete(weights[0], wfa.class_names.index(found.label))
    assert found.reached <= others.max() - weights[0, wfa.class_names.index(found.label)] + 1e-9
    said = wfa.decide(weights)[0]
    assert found.witness_label == (None if said < 0 else wfa.class_names[said])


@given(questions())
def test_on_a_single_word_the_bound_is_exact(question):
    wfa, choices, _ = question
    choices = [tuple(option for option in choices[0] if option.span == 1)]
    weights, decisions = enumerated(wfa, choices, None)
    if decisions[0] < 0:
        return
    label = decisions[0]
    advantage = np.delete(weights, label, axis=1).max(1) - weights[:, label]
    assert certificate_of(wfa, choices, None, 0).bound == pytest.approx(advantage.max(), abs=1e-12)


@given(questions(linear_automata))
def test_for_a_single_change_the_bound_of_a_linear_automaton_is_exact(question):
    wfa, choices, _ = question
    weights, decisions = enumerated(wfa, choices, 1)
    advantage = np.delete(weights, decisions[0], axis=1).max(1) - weights[:, decisions[0]]
    assert certificate_of(wfa, choices, 1, 0).bound == pytest.approx(advantage.max(), abs=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([None, 0, 1, 2]))
def test_where_the_automaton_is_deterministic_the_bound_is_exact(seed, changes):
    """There is nothing to see in the state that the text does not tell."""
    rng = np.random.default_rng(seed)
    states, words = 5, 7
    keys = (np.arange(words * states) * states + rng.integers(states, size=words * states))[states:]  # none of padding
    rows = rows_from_keys(keys, np.ones(len(keys)), words, states)
    wfa = StochasticWFA(
        encoder=TextEncoder(Vocabulary.of_words("abcde"), "whitespace"),
        class_names=("no", "yes", "perhaps"),
        centres=rng.dirichlet(np.ones(3), states),
        rows=rows_from_keys(keys[:0], np.ones(0), words, states),
        completion=Fitted(rows, 0.0),
        alpha=0.0,
        state_visits=np.ones(states, int),
        word_counts=np.ones(words, int),
    )
    drawn = [rng.permutation(np.arange(2, words))[: rng.integers(1, 4)].tolist() for _ in range(4)]
    choices = [tuple(Option((word,)) for word in part) for part in drawn]
    weights, decisions = enumerated(wfa, choices, changes)
    advantage = np.delete(weights, decisions[0], axis=1).max(1) - weights[:, decisions[0]]
    found = certificate_of(wfa, choices, changes, 0)
    assert found.bound == pytest.approx(advantage.max(), abs=1e-12)
    assert found.reached == pytest.approx(advantage.max(), abs=1e-12)
    assert found.status != OPEN or abs(advantage.max()) < 1e-8


@given(questions())
def test_variants_are_all_of_the_allowed_texts(question):
    _, choices, changes = question
    table = every_pick(choices, changes)
    assert len(table) == len(np.unique(table, axis=0)) == count_variants(choices, changes)
    drawn = random_picks(choices, 50, np.random.default_rng(0), changes)
    assert {tuple(row) for row in drawn} <= {tuple(row) for row in table}
    if changes == 0:
        assert len(table) == 1


def edited(words, edits):
    """All texts that one change makes of words, written down by hand."""
    found = {tuple(words)}
    for at, word in enumerate(words):
        before, after = words[:at], words[at + 1 :]
        found |= {(*before, other, *after) for other in edits["substitutes"].get(word, ())}
        found |= {(*before, *after)} if edits["delete"] else set()
        found |= {(*before, word, word, *after)} if edits["duplicate"] else set()
        found |= {(*before, word, new, *after) for new in edits["insert"]}
        found |= {(*before, new, word, *after) for new in edits["insert"]}
        if edits["swap"] and after:
            found.add((*before, after[0], word, *after[1:]))
    return found


@given(st.lists(st.integers(2, 6), min_size=1, max_size=5), st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_one_change_makes_the_texts_that_its_name_promises(ids, delete, duplicate, swap, insert):
    others = {2: (3, 4), 5: (2,)}
    new = (6, 7) if insert else ()
    substitutes = Substitutes({word: np.array(each, np.int32) for word, each in others.items()})
    choices = Edits(substitutes, delete=delete, duplicate=duplicate, swap=swap, insert=new).choices(np.array(ids))
    rules = {"substitutes": others, "delete": delete, "duplicate": duplicate, "swap": swap, "insert": new}
    texts = {tuple(text.tolist()) for text in every_text(choices, 1)}
    assert texts == edited(tuple(ids), rules)
    twice = {text for once in texts for text in edited(once, rules)} if not (swap or insert) else None
    assert twice is None or {tuple(text.tolist()) for text in every_text(choices, 2)} <= twice | texts
    words = [f"W{word}" for word in ids]
    said = in_words(words, choices, every_pick(choices, 0)[0].tolist(), [f"w{at}" for at in range(8)])
    assert list(said) == words


def test_effort_settles_what_the_bound_leaves_open():
    """An adversary who sees the state is stronger than any text: the search tells them apart."""
    open_before = settled = 0
    for seed in range(60):
        wfa = sample("uniform", seed, n=6, words=8, alpha=0.0).wfa
        order = np.arange(2, 8)[np.argsort(np.random.default_rng(seed).random(6))].tolist()
        choices = [tuple(Option((word,)) for word in order)] * 4
        statuses = [certificate_of(wfa, choices, None, effort).status for effort in (0, 5000)]
        open_before += statuses[0] == OPEN
        settled += statuses[0] == OPEN and statuses[1] != OPEN
    assert open_before >= 2
    assert settled == open_before


@pytest.fixture(scope="module")
def report(newsroom_wfa, newsroom_model):
    substitutes = Substitutes.near(newsroom_wfa, nearness_of(newsroom_wfa, newsroom.vectors()), 4, within=2)
    texts = load_dataset("newsroom", "test").texts[:60]
    return certify_texts(newsroom_wfa, [*texts, ""], Edits(substitutes), model=newsroom_model, changes=2, samples=100)


def test_certificates_tell_much_of_the_network(report):
    assert sum(len(report.with_status(status)) for status in report.statuses) == 60
    assert 10 <= len(report.with_status(CERTIFIED)) <= 50
    assert report.network_kept["certified"].value > 0.7
    assert report.network_kept["broken"].value < 0.4


def test_a_network_reads_as_many_variants_as_it_is_allowed(newsroom_wfa, newsroom_model, report):
    substitutes = Substitutes.near(newsroom_wfa, nearness_of(newsroom_wfa, newsroom.vectors()), 4, within=2)
    assert all(each.tried <= 100 for each in report.network)
    text = load_dataset("newsroom", "test").texts[0]
    choices = Edits(substitutes).choices(newsroom_wfa.encoder.encode([text]).values)
    every, options = count_variants(choices, 1), {"model": newsroom_model, "changes": 1}
    for number, statuses in ((every - 1, ("proven", "broken")), (1, ("broken", "open", "proven on the automaton"))):
        (found,) = certify_texts(newsroom_wfa, [text], Edits(substitutes), samples=number, **options).network
        assert found.status in statuses
        assert found.variants == every
    greedy = ChangeEffects.of(newsroom_wfa, choices, 0).greedy(2)
    assert {tuple(row) for row in greedy} <= {tuple(row) for row in every_pick(choices, 2)}


def test_reports_are_data_first(report):
    data = report.to_dict()
    assert len(data["texts"]) == len(report.to_dataframe()) == 60
    assert data["shares"]["certified"]["low"] <= len(report.with_status(CERTIFIED)) / 60
    assert data["network_kept"]["certified"]["value"] == report.network_kept["certified"].value
    assert not any(" ".join(each.words) in repr(report) for each in report.certificates)
    assert "<table" in report._repr_html_()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("wfa", [sample("null", 1).wfa, sample("uniform", 2).wfa, linear_sample(3).wfa])
def test_certifying_raises_no_warning_and_speaks_of_variants(wfa):
    """A warning of numpy would show users a path of ours; "texts under change" said nothing to anybody."""
    words = wfa.encoder.vocabulary.words[2:]
    edits = Edits(Substitutes.of(wfa, {words[0]: [words[1]], words[1]: [words[0]]}), delete=True)
    texts = ["", words[0], " ".join(words[:4]), "never seen", " ".join(words[:2] * 20)]
    for chosen in (texts, texts[1:2]):
        found = certify_texts(wfa, chosen, edits, samples=20)
        said = "\n".join([found.title, found.summary(), *found.examples(3)])
        assert "under change" not in said
        assert "variants" in said or not found.with_status(CERTIFIED)
        assert "nan" not in said


def test_substitutes_are_the_nearest_of_the_near_words(newsroom_wfa):
    vocabulary, near = newsroom_wfa.encoder.vocabulary, nearness_of(newsroom_wfa, newsroom.vectors())
    found = Substitutes.near(newsroom_wfa, near, 3, of=["match", "nonsense"], within=2)
    assert list(found.of_word) == [vocabulary.id_of("match")]
    words = vocabulary.decode(found.of_word[vocabulary.id_of("match")])
    pairs = near.pairs(["match"], within=2)
    assert words == [near.words[row] for row in pairs.second[:3]]
    assert words[0] == "contest"
    near = Substitutes.near(newsroom_wfa, near, 3, of=["match"], within=0.01)
    assert vocabulary.decode(near.of_word[vocabulary.id_of("match")]) == ["contest"]
    choices = Edits(near).choices(vocabulary.encode([["the", "match"]]).values)
    words = [[vocabulary.words[option.words[0]] for option in part] for part in choices]
    assert words == [["the"], ["match", "contest"]]


def test_what_cannot_be_certified_is_refused(newsroom_wfa):
    given_words = Edits(Substitutes.of(newsroom_wfa, {"match": ["contest", "contest"]}))
    assert certify(newsroom_wfa, "match", given_words).variants == 2
    with raises("unknown-word"):
        Substitutes.of(newsroom_wfa, {"match": ["nonsense"]})
    with raises("no-words"):
        certify(newsroom_wfa, "", given_words)
    with raises("option-value"):
        certify(newsroom_wfa, "match", given_words, changes=-1)
    with raises("no-words"):
        certify_texts(newsroom_wfa, [""], given_words)


def test_without_substitutes_words_are_only_inserted(newsroom_wfa):
    text = "court hears the case"
    options = CertifyOptions(substitutes=0, insert=("the",), changes=1)
    (found,) = certify_model(newsroom_wfa, [text], options).certificates
    words = newsroom_wfa.encoder.tokens(text)
    variants = [words, *([*words[:at], "the", *words[at:]] for at in range(len(words) + 1))]
    label = newsroom_wfa.class_names.index(found.label)
    lowest = newsroom_wfa.predict_proba([" ".join(each) for each in variants])[:, label].min()
    assert found.variants == len(variants)
    assert lowest - 0.01 < found.lowest <= lowest + 1e-9
    assert {*found.witness} <= {*words, "the"}
