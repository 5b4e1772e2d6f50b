"""The readable automaton in the page's details, and what the overview suggests next."""

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.readable import negation
from wfalens.ragged import Ragged
from wfalens.report import Study
from wfalens.report.page import to_json
from wfalens.report.views import overview, states
from wfalens.text import Corpus


def test_a_readable_automaton_is_drawn_with_its_moves_and_clusters():
    made = negation()
    found = states(Study("a.wfa", made.wfa))
    to_json(found)
    assert len(found["states"]) == made.wfa.states
    assert len(found["clusters"]) == len(made.matrices)
    assert found["drawing"].startswith("<svg")


def test_states_are_placed_and_named_by_the_network_while_the_automaton_is_there():
    """The network here is another than the copy believes: the figures are the network's."""
    made = negation()
    corpus = Corpus(tuple(" ".join(text) for text in made.texts))

    class Network:
        class_names, encoder, fingerprint = made.wfa.class_names, made.wfa.encoder, "blurred"

        def trace(self, ids):
            blurred = made.wfa.trace(ids)
            return type(blurred)((0.5 * blurred.values + 0.25).astype(np.float32), blurred.offsets)

    study = Study("a.wfa", made.wfa, Network(), corpus)
    ids = study.encoded.take(study.sample)
    places, outputs = made.wfa.state_vectors(ids, every=True), Network().trace(ids).values
    found = {tuple(np.round(each["output"], 6)) for each in states(study)["states"]}
    for state in range(1, made.wfa.states):
        weights = places[:, state]
        if weights.sum() > 0.5:
            mean = weights @ outputs / weights.sum()
            assert any(np.allclose(mean, each, atol=1e-4) for each in found)
    shares = [each["output"][1] for each in states(study)["states"]]
    assert shares == sorted(shares)


def test_points_of_a_cluster_are_the_networks_mean_change_by_its_words_while_it_is_not_sure():
    made = negation()
    corpus = Corpus(tuple(" ".join(text) for text in made.texts))

    class Network:
        class_names, encoder, fingerprint = made.wfa.class_names, made.wfa.encoder, "blurred"
        initial_output = made.wfa.initial_output

        def trace(self, ids):
            blurred = made.wfa.trace(ids)
            return type(blurred)((0.5 * blurred.values + 0.25).astype(np.float32), blurred.offsets)

    study = Study("a.wfa", made.wfa, Network(), corpus)
    changes = {}
    for ids in study.encoded.take(study.sample):
        before = np.asarray(Network.initial_output)
        for word, after in zip(ids, Network().trace(Ragged(ids, np.array([0, len(ids)]))).values, strict=True):
            if before.max() <= 0.8:
                changes.setdefault(int(made.wfa.anatomy.word_class[word]), []).append(after - before)
            before = after
    expected = {int(cluster): np.mean(values, axis=0).max() for cluster, values in changes.items()}
    counts = made.wfa.anatomy.word_counts
    for row in states(study)["clusters"]:
        ids = [made.wfa.encoder.vocabulary.id_of(word) for word in row["words"]]
        cluster = int(made.wfa.anatomy.word_class[ids[0]])
        if cluster in expected:
            assert row["change"] == pytest.approx(expected[cluster], abs=1e-5)
        others = counts[(made.wfa.anatomy.word_class == cluster) & ~np.isin(np.arange(len(counts)), ids)]
        assert counts[ids].min() >= others.max(initial=0)  # the words that are named are those that are read most


@pytest.mark.parametrize("wfa", [sample("fit", 0).wfa, linear_sample(0).wfa], ids=["stochastic", "linear"])
def test_an_automaton_without_a_readable_one_says_so(wfa):
    with raises("not-readable"):
        states(Study("a.wfa", wfa))


def test_commands_to_copy_quote_names_of_files():
    commands = [command for _, command in overview(Study("my films'.wfa", negation().wfa))["next"]]
    assert all("'my films'\"'\"'.wfa'" in command for command in commands)
