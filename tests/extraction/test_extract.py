"""The whole extraction on a small trained model."""

from dataclasses import replace

import numpy as np
import pytest

from tests import oracle
from tests.methods import extracted
from tests.streams import small_model
from wfalens.automaton import WFA, Empirical, Probe
from wfalens.automaton.rows import dense
from wfalens.errors import InputError, WfalensWarning
from wfalens.extraction import Augmentation, Paper, Stochastic, extract
from wfalens.extraction.completion.augmentation import Resampling
from wfalens.extraction.completion.probing import choose_representatives
from wfalens.extraction.states import States, cluster
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged
from wfalens.text import Corpus, TextEncoder, Vocabulary, WordVectors
from wfalens.text.datasets import newsroom
from wfalens.text.vocabulary import UNKNOWN


def agreement(wfa, model, corpus):
    ids = model.encoder.encode(corpus.texts)
    return np.mean(wfa.predict_indices(ids) == model.trace(ids).last().argmax(1))


def test_fidelity_rises_from_null_to_probe(news_model, headlines, test_headlines):
    rates = {
        name: agreement(
            extracted(news_model, headlines, states=20, completion=name, alpha=0.0),
            news_model,
            test_headlines,
        )
        for name in ("null", "uniform", "empirical", "probe", "fit")
    }
    assert rates["null"] < rates["uniform"] < rates["empirical"] < rates["probe"] < rates["fit"]
    assert rates["probe"] > 0.85


def test_extraction_equals_the_plain_transcription(news_model, headlines, test_headlines):
    ids = news_model.encoder.encode(headlines.texts)
    wfa = extract(news_model, ids, Paper(states=10, alpha=0.4, beta=0.3), seed=5)
    sentences = [list(sentence) for sentence in ids]
    rng = np.random.default_rng(np.random.SeedSequence(5).spawn(3)[0])
    matrices, centres = oracle.extract(
        [trace.astype(np.float64) for trace in news_model.trace(ids)],
        sentences,
        len(news_model.encoder.vocabulary),
        10,
        256,
        rng,
        0.4,
        0.3,
        news_model.initial_output,
    )
    tests = news_model.encoder.encode(test_headlines.texts)
    expected = np.array([oracle.evaluate(sentence, matrices, centres) for sentence in tests])
    np.testing.assert_allclose(wfa.weights(tests), expected, atol=2e-3)
    assert np.mean(wfa.predict_indices(tests) == expected.argmax(1)) > 0.995


@pytest.mark.parametrize("completion", ["empirical", "probe"])
def test_same_seed_same_bytes(tmp_path, news_model, headlines, completion):
    options = {
        "states": 8,
        "completion": completion,
        "augmentation": Augmentation(vectors=newsroom.vectors(), epochs=2),
    }
    if completion == "probe":
        options["representatives"] = 3
    for name in ("a", "b"):
        extracted(news_model, headlines, **options, seed=7).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    extracted(news_model, headlines, **options, seed=8).save(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() != (tmp_path / "a").read_bytes()


def test_centres_are_mean_outputs_and_visits_count_everything(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts)
    wfa = extract(news_model, ids, Paper(states=6))
    np.testing.assert_allclose(wfa.centres[0], news_model.initial_output, atol=1e-6)
    np.testing.assert_allclose(wfa.centres.sum(1), 1)
    weighted = wfa.state_visits[1:] @ wfa.centres[1:] / len(ids.values)
    np.testing.assert_allclose(weighted, news_model.trace(ids).values.mean(0), atol=1e-5)
    assert wfa.state_visits[0] == len(ids)
    assert wfa.state_visits.sum() == len(ids) + len(ids.values)
    assert wfa.word_counts.sum() == len(ids.values)
    uniform = extract(news_model, ids, Paper(states=6, initial="uniform"))
    np.testing.assert_allclose(uniform.centres[0], 1 / 7)


def test_auto_beta_follows_the_self_transitions(news_model, headlines):
    wfa = extract(news_model, headlines, Paper(states=6, beta="corpus"))
    assert isinstance(wfa.completion, Empirical)
    words = range(len(wfa.encoder.vocabulary))
    staying = sum(np.trace(dense(wfa.rows, word, 7)) for word in words)
    assert wfa.completion.beta == pytest.approx(1 - staying / wfa.word_counts.sum())


def test_augmentation_adds_weighted_transitions_and_shows_the_unknown_word(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts)
    before = ids.values.copy()
    plain = extract(news_model, ids, Paper(states=6))
    rule = Augmentation(vectors=newsroom.vectors(), epochs=3, weight=0.5)
    richer = extract(news_model, ids, Paper(states=6, augmentation=rule))
    np.testing.assert_array_equal(ids.values, before)
    np.testing.assert_array_equal(plain.centres, richer.centres)
    assert richer.rows.weight.sum() == pytest.approx(plain.rows.weight.sum() * (1 + 3 * 0.5))
    assert not dense(plain.rows, UNKNOWN, 7).any()
    assert dense(richer.rows, UNKNOWN, 7).any()
    assert richer.provenance["parameters"]["augmentation"]["epochs"] == 3


def test_augmented_words_are_synonyms_unknown_or_themselves():
    vocabulary = Vocabulary.of_words("abcdef")
    matrix = np.array([[0.0], [0.1], [0.2], [9.0], [9.1]], np.float32)
    rule = Augmentation(vectors=WordVectors(list("abcde"), matrix), neighbours=2, replace=0.5, drop=0.3)
    synonyms = rule.synonyms(vocabulary)
    at = {word: vocabulary.id_of(word) for word in "abcdef"}
    assert set(synonyms[at["a"]]) == {at["b"], at["c"]}
    assert set(synonyms[at["f"]]) == {at["f"]}
    ids = Ragged.from_lists([[at["a"], at["f"]]] * 4000, np.int32)
    fresh = Resampling(synonyms, 0.5, 0.3, 1, 0).augmented(ids, np.random.default_rng(0)).values.reshape(-1, 2)
    of_a, of_f = (np.bincount(fresh[:, column], minlength=8) / 4000 for column in (0, 1))
    np.testing.assert_allclose(of_a[[at["b"], at["c"]]], 0.25, atol=0.03)
    assert of_a[UNKNOWN] == pytest.approx(0.15, abs=0.03)
    assert of_f[UNKNOWN] == pytest.approx(0.3, abs=0.03)
    assert of_f[UNKNOWN] + of_f[at["f"]] == pytest.approx(1)


def test_probed_rows_say_what_the_model_does(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts)
    wfa = extract(
        news_model, ids, Stochastic(states=5, completion="probe", representatives=4, abstraction="outputs", alpha=0.4)
    )
    assert isinstance(wfa.completion, Probe)
    # state 0 has one representative, the beginning: the row is where the word alone leads
    for name in ("senate", "the", "<unk>"):
        word = news_model.encoder.vocabulary.id_of(name)
        counts = dense(wfa.completion.rows, word, 6)
        assert counts[0].sum() == 1
        assert set(counts[1:].sum(1)) == {4}
        output = news_model.trace(Ragged.from_lists([[word]], np.int32)).values[0]
        assert (
            np.linalg.norm(wfa.centres[counts[0].argmax()] - output)
            <= np.sort(np.linalg.norm(wfa.centres[1:] - output, axis=1))[0] + 0.05
        )


def test_black_box_probing_equals_stepping(news_model, headlines):
    ids = news_model.encoder.encode(headlines.texts[:60])

    class BlackBox:
        class_names, encoder, fingerprint = news_model.class_names, news_model.encoder, "box"
        initial_output = news_model.initial_output
        trace = staticmethod(news_model.trace)

    options = Stochastic(states=4, completion="probe", representatives=2, abstraction="outputs", alpha=0.4)
    white, black = extract(news_model, ids, options), extract(BlackBox(), ids, options)
    np.testing.assert_allclose(white.weights(ids), black.weights(ids), atol=1e-6)


def test_representatives_are_occurrences_of_their_state():
    ids = Ragged.from_lists([[2, 3, 4], [5, 6]], np.int32)
    path = np.array([1, 2, 1, 2, 2], np.int32)
    chosen = choose_representatives(ids, path, 2, np.random.default_rng(0))
    allowed = {0: [()], 1: [(2,), (2, 3, 4)], 2: [(2, 3), (5,), (5, 6)]}
    found = list(zip(chosen.state.tolist(), (tuple(p) for p in chosen.prefixes), strict=True))
    assert len(set(found)) == len(found) == 5
    assert all(prefix in allowed[state] for state, prefix in found)


def test_states_that_hold_no_output_are_dropped():
    seeds = np.array([[1, 0], [0.5, 0.5], [0, 1]], np.float32)
    outputs = np.array([[0.9, 0.1], [0.1, 0.9], [0.0, 1.0]], np.float32)
    states, path = States(seeds).visited(outputs)
    np.testing.assert_array_equal(states.seeds, seeds[[0, 2]])
    assert path.tolist() == [1, 2, 2]


def test_too_many_states_for_the_outputs_are_refused():
    outputs = np.repeat(np.eye(3, dtype=np.float32), 10, axis=0)
    with pytest.raises(InputError, match=r"only 3 different outputs; ask for at most 3 states"):
        cluster(outputs, 4, None, np.random.default_rng(0))


def test_constant_black_box_is_refused_clearly(letters):
    model = wrap(lambda texts: np.full((len(texts), 2), 0.5), vocab=letters, classes=("x", "y"), reads="tokens")
    with pytest.raises(InputError, match="only 1 different outputs"):
        extract(model, ["a b", "b c"], Paper(states=3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "cosine"}, "choose one of euclidean, squared"),
        ({"initial": "x"}, "choose one of model, uniform"),
        ({"states": 0}, "states must lie between 1 and"),
        ({"alpha": 1.2}, "alpha must lie between 0 and 1"),
        ({"beta": -0.1}, "beta must lie between 0 and 1 or be 'auto'"),
        ({"beta": "high"}, "beta must lie between"),
        ({"representatives": 0}, "representatives must lie"),
        ({"strength": 0}, "strength must lie"),
        ({"strength": float("inf")}, "strength must lie"),
        ({"states": 2.5}, "states must lie"),
        ({"states": "5"}, "states must lie"),
        ({"alpha": "some"}, "alpha must lie"),
        ({"alpha": float("nan")}, "alpha must lie"),
        ({"seed": -1}, "seed must lie"),
        ({"sample": 0}, "sample must lie"),
    ],
)
def test_bad_options_are_refused_at_once(options, message):
    completion = "probe" if {"representatives", "strength"} & set(options) else "empirical"
    with pytest.raises(InputError, match=message):
        extracted(small_model(), ["w1 w2"], **{"completion": completion, **options})


def test_no_words_and_vectors_that_cover_nothing(news_model):
    with pytest.raises(InputError, match="no text with a word"):
        extract(news_model, ["", "  "], Paper(states=2))
    vectors = WordVectors(["zz", "yy"], np.zeros((2, 2), np.float32))
    with pytest.raises(InputError, match=r"vectors for 0 of the \d+ words"):
        extract(news_model, ["senate votes to veto"], Paper(states=2, augmentation=Augmentation(vectors=vectors)))


def test_cut_texts_are_told(news_model, headlines):
    told = []

    class Listener(Progress):
        def say(self, message):
            told.append(message)

    short = TextEncoder(news_model.encoder.vocabulary, "basic_english", 4)
    model = replace_encoder(news_model, short)
    with shown_on(Listener()):
        extract(model, [*headlines.texts[:50], "a " * 10**5], Paper(states=4))
    assert told == ["51 of 51 texts were truncated after 4 tokens"]


def replace_encoder(model, encoder):
    from wfalens.models import RNNClassifier

    return RNNClassifier(model.network, encoder, model.class_names)


def test_numpy_numbers_and_class_names_survive_the_file(tmp_path, letters):
    def black_box(texts):
        shares = np.array([[text.count("a") + 1, len(text) + 1] for text in texts], float)
        shares /= shares.sum(1, keepdims=True)
        shares[0] = [-0.0005, 1.0005]  # tolerated rounding
        return shares

    model = wrap(black_box, vocab=letters, classes=np.array([0, 1]), reads="tokens")
    wfa = extract(model, ["a b c", "a a", "c a b"], Paper(states=np.int64(2), alpha=np.float32(0.5)))
    wfa.save(tmp_path / "a.wfa")
    assert WFA.load(tmp_path / "a.wfa").class_names == ("0", "1")
    with pytest.raises(InputError, match="at least two classes with different names"):
        wrap(black_box, vocab=letters, classes=("x", "x"), reads="tokens")


def test_a_tokenizer_of_ones_own_is_given_again(tmp_path):
    def split(text):
        return text.split("|")

    encoder = TextEncoder(Vocabulary.of_words("abc"), split)
    model = wrap(
        lambda texts: [[(1 + t.count("a")) / (2 + len(t)), 1 - (1 + t.count("a")) / (2 + len(t))] for t in texts],
        vocab=encoder,
        classes=["x", "y"],
        reads="tokens",
    )
    wfa = extract(model, ["a|b|c", "a|a", "c|b|a|a"], Paper(states=2))
    wfa.save(tmp_path / "a.wfa")
    with pytest.raises(InputError):
        WFA.load(tmp_path / "a.wfa").predict(["a|b"])
    again = WFA.load(tmp_path / "a.wfa", tokenizer=split)
    np.testing.assert_array_equal(again.weights(["a|b"]), wfa.weights(["a|b"]))
    assert len(again.walk("a|b").words) == 2


def test_ids_that_are_no_words_are_refused(news_model):
    for bad in (-1, 10**6):
        with pytest.raises(InputError, match="word ids must lie between"):
            extract(news_model, Ragged.from_lists([[2, bad]], np.int32), Paper(states=2))


def test_extractor_is_a_value():
    assert replace(Paper(), states=5) == Paper(states=5)


def test_a_corpus_with_the_labels_of_another_model_gets_a_warning(news_model, headlines):
    with pytest.warns(WfalensWarning, match="is a class of the model"):
        extract(news_model, Corpus.of(headlines.texts[:50], ["x", "y"] * 25), Paper(states=2))
