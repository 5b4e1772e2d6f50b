"""scikit-learn pipelines over raw texts."""

import subprocess
import sys

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from tests.errors import raises
from tests.models.conformance import WholeTextConformance
from tests.models.toy import CLASSES, ENCODER, extracted_fidelity, texts
from wfalens.models import wrap
from wfalens.progress import shown
from wfalens.ragged import Ragged
from wfalens.text import TextEncoder

LETTERS = ["a b", "b c a", "c d", "d d e", "e f a", "g h", "h h b"]


def letter_pipeline(seed):
    labels = np.random.default_rng(seed).permutation(["x", "y", "z", "x", "y", "z", "x"])
    return make_pipeline(TfidfVectorizer(analyzer=str.split), LogisticRegression()).fit(LETTERS, labels)


class TestPipeline(WholeTextConformance):
    @pytest.fixture
    def make(self):
        return lambda seed, encoder: wrap(letter_pipeline(seed), vocab=encoder, batch_size=5)


def test_a_pipeline_is_extracted_faithfully():
    train = texts(300, seed=0)
    names = [CLASSES[label] for label in train.labels]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(train.texts, names)
    model = wrap(pipeline, vocab=ENCODER)
    assert model.class_names == CLASSES
    cr, accuracy = extracted_fidelity(model)
    assert accuracy > 0.95
    assert cr > 0.9


def test_every_prefix_is_the_text_that_the_pipeline_would_be_given(letters):
    pipeline = letter_pipeline(0)
    model = wrap(pipeline, vocab=letters)
    expected = pipeline.predict_proba(["b", "b a", "b a", "b a h"])
    np.testing.assert_allclose(model.trace(letters.encode(["b a yonder h"]))[0], expected, atol=1e-6)
    np.testing.assert_allclose(model.initial_output, pipeline.predict_proba([""])[0], atol=1e-6)


def test_words_are_joined_by_blanks_and_characters_by_nothing(letters):
    from wfalens.text import TextEncoder

    asked = []

    class Spy:
        classes_ = ("x", "y")

        def predict_proba(self, texts):
            asked.extend(texts)
            return np.full((len(texts), 2), 0.5)

    encoder = TextEncoder(letters.vocabulary, "characters")
    model = wrap(Spy(), vocab=encoder, unknown="?", name="spy")
    model.trace(encoder.encode(["ab-"]))
    assert asked == ["a", "ab", "ab?"]
    asked.clear()
    wrap(Spy(), vocab=letters, name="spy").trace(letters.encode(["a zebra b"]))
    assert asked == ["a", "a", "a b"]
    assert model.fingerprint == "spy"


@pytest.mark.slow
def test_the_fingerprint_is_the_same_after_loading_in_another_process(letters, tmp_path):
    pipeline = letter_pipeline(0)
    joblib.dump(pipeline, tmp_path / "p.joblib")
    code = (
        "import joblib, sys; from wfalens import TextEncoder, Vocabulary, wrap;"
        "letters = TextEncoder(Vocabulary.of_words('abcdefgh'), 'whitespace');"
        "print(wrap(joblib.load(sys.argv[1]), vocab=letters).fingerprint)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "p.joblib"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == wrap(pipeline, vocab=letters).fingerprint


def test_pipelines_without_probabilities_or_classes_are_refused(letters):
    with raises("no-probabilities"):
        wrap(make_pipeline(CountVectorizer(), LinearSVC()), vocab=letters)
    with raises("function-failed"):
        wrap(make_pipeline(CountVectorizer(), LogisticRegression()), vocab=letters)


def test_a_given_prior_takes_the_place_of_the_answer_for_an_empty_text(letters):
    pipeline, asked = letter_pipeline(0), []

    class Spy:
        classes_ = pipeline.classes_

        def predict_proba(self, texts):
            asked.extend(texts)
            return pipeline.predict_proba(texts)

    model = wrap(Spy(), vocab=letters, name="spy", initial_output=[0.5, 0.25, 0.25])
    np.testing.assert_allclose(model.initial_output, [0.5, 0.25, 0.25])
    assert asked == []


def seen_by(tokenizer):
    """A model that keeps the texts that it is asked about."""
    asked = []

    def even(texts: list[str]):
        asked.extend(texts)
        return np.full((len(texts), 2), 0.5)

    texts = ["a good film, really!", "bad film ; so bad", "not good at all"]
    return asked, wrap(even, texts=texts, classes=("neg", "pos"), reads="text", tokenizer=tokenizer, name="even")


@pytest.mark.parametrize("tokenizer", ["whitespace", "basic_english", "characters", str.split])
@given(text=st.text(max_size=40) | st.sampled_from(['A "Good" film: Ünseen, really?!', "bad  film\t; so", "<br />İ a"]))
def test_a_text_is_put_together_as_it_was_written(tokenizer, text):
    _, model = seen_by(tokenizer)
    ids = model.encode([text])
    dropped = tokenizer == "basic_english" and '"' in text.replace(' "', "").replace('" ', "")  # within a word
    if tokenizer == "characters" or (len(text.lower()) == len(text) and not dropped):
        written = text if tokenizer == "characters" else text.strip()
        assert model.text_of(ids[0]) == (written if len(ids.values) else "")
    np.testing.assert_array_equal(model.folded(ids).values, model.encoder.encode([text]).values)
    np.testing.assert_array_equal(ids.lengths, model.encoder.encode([text]).lengths)


def test_texts_are_shown_as_they_stand():
    asked, model = seen_by("basic_english")
    raw = ['A "Good" film: unseen, really?!', "", "bad  film"]
    model.predict_proba(raw)
    assert sorted(asked[-3:]) == sorted(raw)
    asked.clear()
    ids = model.encode(raw[:1])
    model.final(ids)
    model.final(Ragged(ids.values[[0, 1, 3]], np.array([0, 3])))  # some of its words
    assert asked == [raw[0], 'A "Good: unseen']


def test_equal_texts_are_asked_once():
    asked, model = seen_by("whitespace")
    model.predict_proba(["a film"] * 5 + ["b"])
    assert sorted(asked) == ["a film", "b"]


def halves(texts):
    return np.full((len(texts), 2), 0.5)


@pytest.mark.parametrize("tokenizer", ["whitespace", "basic_english", "characters", "lower+characters", "bigrams"])
def test_nothing_is_said_of_a_tokenizer_whose_words_can_be_joined_again(tokenizer, capsys):
    with shown(True):
        wrap(halves, texts=["Don't  stop, film!", "a b"], tokenizer=tokenizer, classes=CLASSES, reads="text")
    assert "joined again" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "tokenizer", [lambda text: [word[:3] + "~" for word in text.split()], lambda text: text.split(" and ")]
)
def test_a_tokenizer_whose_words_cannot_be_joined_again_is_said(tokenizer, capsys):
    with shown(True):
        wrap(halves, texts=["actors and music", "one"], tokenizer=tokenizer, classes=CLASSES, reads="text")
    assert "joined again" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("analyzer", "expected"), [("word", {"superb"}), ("char_wb", set())])
def test_words_that_only_the_pipeline_knows_are_words_of_the_automaton(analyzer, expected):
    labelled = {"a good film": 1, "a superb film": 1, "a bad film": 0}
    pipeline = make_pipeline(TfidfVectorizer(analyzer=analyzer), LogisticRegression())
    pipeline.fit(list(labelled), list(labelled.values()))
    texts = ["a good film", "a bad film"]
    words = set(wrap(pipeline, texts=texts).encoder.vocabulary.words)
    assert words - set(TextEncoder.of_texts(texts).vocabulary.words) == expected
