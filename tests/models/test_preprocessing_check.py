"""A model that is read otherwise than it was trained is found by labels, and what is wrong is named."""

from dataclasses import replace

import numpy as np
import pytest

from tests.errors import raises
from tests.models.keras.test_keras_files import network, saved
from tests.models.toy import CLASSES, ENCODER, WORTH, texts
from wfalens.errors import ModelError
from wfalens.extraction import Paper, extract
from wfalens.models import Preprocessing, check_preprocessing, wrap
from wfalens.models.checks import UnknownWordsWarning, unknown_words
from wfalens.models.padded import PaddedForm, PaddedTextClassifier, PaddedTokenClassifier
from wfalens.models.preprocessing_check import ReadingWarning, require_reading
from wfalens.progress import Progress, shown_on
from wfalens.text import Corpus

WIDTH = 12
SCORES = np.array([WORTH.get(word, 0.0) for word in ENCODER.vocabulary.words])


def end_heavy(table):
    """The sum of the words' worth in the last nine columns: padding on the right pushes words out of them."""
    good = SCORES[table][:, -9:].sum(1)
    return np.stack([-good, good], 1)


def model(**form):
    return PaddedTextClassifier(
        end_heavy, ENCODER, CLASSES, form=PaddedForm(width=WIDTH, outputs="logits", **form), fingerprint="end heavy"
    )


def test_a_model_that_is_read_well_is_left_alone():
    assert check_preprocessing(model(padding="left"), texts(300, seed=0)) is None


def test_the_wrong_side_is_named():
    found = check_preprocessing(model(padding="right"), texts(300, seed=0))
    assert found.accuracy < 0.9 < found.better
    assert 'if texts are padded on the left (padding_side="left")' in str(found)


def of_one_word(padding):
    """A model that takes texts of one word amiss if they are padded on the right, and no others."""

    def judged(table):
        good = SCORES[table].sum(1) * np.where(table[:, 1:].any(1), 1, -1)
        return np.stack([-good, good], 1)

    form = PaddedForm(width=WIDTH, padding=padding, outputs="logits")
    return PaddedTextClassifier(judged, ENCODER, CLASSES, form=form, fingerprint="of one word")


def with_few_words(share):
    """Texts of three to eight words, a share of them with a single one."""
    longer, words = texts(1000, seed=0), [word for word, worth in WORTH.items() if worth]
    single = np.random.default_rng(0).random(len(longer)) < share
    drawn = [words[number % len(words)] if short else longer.texts[number] for number, short in enumerate(single)]
    labels = [
        int(WORTH[text] > 0) if short else longer.labels[number]
        for number, (text, short) in enumerate(zip(drawn, single, strict=True))
    ]
    return Corpus(tuple(drawn), np.array(labels), CLASSES)


def test_a_wrong_side_that_costs_little_is_named_too():
    found = check_preprocessing(of_one_word("right"), with_few_words(0.02))
    assert 0.97 < found.accuracy < found.better == 1
    assert "of 1,000 labels, but with 100.0% if texts are padded on the left" in str(found)
    assert check_preprocessing(of_one_word("left"), with_few_words(0.02)) is None


def test_a_side_that_may_be_better_by_chance_is_not_named():
    assert check_preprocessing(of_one_word("right"), with_few_words(0.004)) is None


@pytest.mark.parametrize(("shift", "told"), [(1, "1 lower"), (-1, "1 higher"), (2, "2 lower")])
def test_wrong_ids_are_named(shift, told):
    ids = np.arange(len(ENCODER.vocabulary)).copy()
    ids[2:] = (ids[2:] + shift).clip(0, len(ids) - 1)
    found = check_preprocessing(model(padding="left", word_ids=ids), texts(400, seed=0))
    assert f"the ids of all words are {told} (vocab)" in str(found)


def test_both_may_be_wrong():
    ids = np.arange(len(ENCODER.vocabulary)).copy()
    ids[2:] -= 1
    found = check_preprocessing(model(padding="right", word_ids=ids), texts(400, seed=0))
    assert "padded on the left" in str(found)
    assert "1 higher" in str(found)


def test_the_side_of_cutting_is_named():
    def judged(table):
        good = SCORES[table].sum(1)
        return np.stack([-good, good], 1)

    def read(truncation_side):
        encoder = type(ENCODER)(ENCODER.vocabulary, "whitespace", 4, truncation_side)
        return PaddedTextClassifier(
            judged, encoder, CLASSES, form=PaddedForm(width=4, outputs="logits"), fingerprint="short"
        )

    rng = np.random.default_rng(0)
    words = list(WORTH)
    drawn = [list(rng.choice(words, 9)) for _ in range(600)]
    worth = np.array([sum(WORTH[word] for word in text[-4:]) for text in drawn])
    kept = np.flatnonzero(worth)
    corpus = Corpus(tuple(" ".join(drawn[item]) for item in kept), (worth[kept] > 0).astype(int), CLASSES)
    assert check_preprocessing(read("left"), corpus) is None
    assert 'truncation_side="left"' in str(check_preprocessing(read("right"), corpus))


def test_a_model_without_padding_is_tried_with_other_ids_only():
    ids = np.arange(len(ENCODER.vocabulary)).copy()
    ids[2:] -= 1

    def rows(table):
        good = np.cumsum(SCORES[table], 1)
        return np.stack([-good, good], 2)

    tokens = PaddedTokenClassifier(
        rows, ENCODER, CLASSES, form=PaddedForm(word_ids=ids, outputs="logits"), fingerprint="tokens"
    )
    assert "1 higher" in str(check_preprocessing(tokens, texts(400, seed=0)))


def test_nothing_is_said_without_enough_labels():
    wrong, labelled = model(padding="right"), texts(300, seed=0)
    assert check_preprocessing(wrong, texts(20, seed=0)) is None
    assert check_preprocessing(wrong, Corpus(labelled.texts)) is None
    assert check_preprocessing(wrong, Corpus(labelled.texts, labelled.labels, ("unheard", "of"))) is None
    assert check_preprocessing(wrong, Corpus(labelled.texts, 1 - labelled.labels, CLASSES[::-1])) is not None


def named(classes):
    """A model that says of a text of one word which of three classes it is of, and labelled texts."""
    words = ENCODER.vocabulary.words[2:]
    kinds = np.array([0, 0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 2, 0, 2, 1])  # of the words: no shift of ids maps them

    def judged(table):
        return np.eye(3)[kinds[(table[:, -1] - 2) % len(kinds)]]

    form = PaddedForm(width=1, outputs="logits")
    drawn = np.random.default_rng(0).integers(0, len(words), 300)
    corpus = Corpus(tuple(words[number] for number in drawn), kinds[drawn], ("a", "b", "c"))
    return PaddedTextClassifier(judged, ENCODER, classes, form=form, fingerprint="named"), corpus


def test_class_names_in_another_order_are_named():
    found = check_preprocessing(*named(("c", "a", "b")))
    assert (found.accuracy, found.better) == (0, 1)
    assert "if its class names stand in the order a, b, c (classes)" in str(found)
    swapped = texts(300, seed=0)
    found = check_preprocessing(model(padding="left"), Corpus(swapped.texts, 1 - swapped.labels, CLASSES))
    assert "but with 100% if its class names stand in the order good, bad (classes)" in str(found)


def test_right_class_names_are_left_alone():
    assert check_preprocessing(*named(("a", "b", "c"))) is None


def test_an_order_of_class_names_that_fits_by_chance_is_not_named():
    rng, classes = np.random.default_rng(0), tuple(f"class {number}" for number in range(30))
    weights = rng.normal(size=(WIDTH, len(classes)))
    guessing = PaddedTextClassifier(
        lambda table: np.sin(table @ weights),
        ENCODER,
        classes,
        form=PaddedForm(width=WIDTH, outputs="logits"),
        fingerprint="guessing",
    )
    labelled = Corpus(texts(300, seed=0).texts, rng.integers(0, len(classes), 300), classes)
    assert check_preprocessing(guessing, labelled) is None


@pytest.mark.parametrize("seed", range(5))
def test_words_in_another_order_are_doubted_and_not_taken_for_a_shift(seed):
    ids = np.arange(len(ENCODER.vocabulary))
    ids[2:] = ids[:1:-1] if seed == 0 else np.random.default_rng(seed).permutation(ids[2:])
    wrong = model(padding="left", word_ids=ids)
    labelled = texts(400, seed=0)
    found = check_preprocessing(wrong, labelled)
    assert found is None or found.better > 0.7  # then another reading does agree with the labels


def test_a_way_that_is_better_but_not_good_is_not_named():
    """Names in another order win 30 points, and still agree with hardly more labels than the largest class has."""
    labelled = texts(400, seed=0)
    rng, flipped = np.random.default_rng(0), 1 - labelled.labels
    noisy = np.where(rng.random(len(flipped)) < 0.65, flipped, labelled.labels)
    assert check_preprocessing(model(padding="left"), Corpus(labelled.texts, noisy, CLASSES)) is None


def test_class_names_of_a_function_of_texts_in_another_order_are_named():
    function = wrap(
        lambda shown: scored([text.split() for text in shown]), vocab=ENCODER, classes=CLASSES[::-1], reads="text"
    )
    assert "its class names stand in the order bad, good" in str(check_preprocessing(function, texts(300, seed=0)))
    with raises("misread"):
        wrap(function, labelled=texts(300, seed=0))


def test_a_model_that_reads_words_has_no_other_reading():
    plain = wrap(lambda texts: np.full((len(texts), 2), 0.5), vocab=ENCODER, classes=CLASSES, reads="tokens")
    assert check_preprocessing(plain, texts(300, seed=0)) is None


def test_many_unknown_words_make_a_tokenizer_doubtful():
    drawn = texts(100, seed=0)
    other = replace(ENCODER, tokenizer="characters")
    assert unknown_words(ENCODER, drawn.texts) is None
    assert unknown_words(ENCODER, [f"{text} unheard" for text in drawn.texts]) is None  # some are usual
    said = "100% of the words of these texts are unknown to the model: is the tokenizer (characters) the one"
    assert unknown_words(other, drawn.texts).startswith(said)
    with pytest.warns(UnknownWordsWarning, match="100% of the words"):
        require_reading(wrap(scored, vocab=other, classes=CLASSES, reads="tokens"), drawn)


def test_labels_that_a_model_hardly_meets_make_its_reading_doubtful(recwarn):
    drawn = texts(300, seed=0)
    require_reading(wrap(scored, vocab=ENCODER, classes=CLASSES, reads="tokens"), drawn)
    assert not recwarn.list
    blind = wrap(lambda tokens: np.tile([0.6, 0.4], (len(tokens), 1)), vocab=ENCODER, classes=CLASSES, reads="tokens")
    with pytest.warns(ReadingWarning, match="hardly more than always naming the largest class"):
        require_reading(blind, drawn)
    with pytest.warns(ReadingWarning, match="no label is a class of the model"):
        require_reading(wrap(scored, vocab=ENCODER, classes=("a", "b"), reads="tokens"), drawn)


def test_extraction_says_that_many_words_are_unknown():
    told = Said()
    drawn = texts(60, seed=0)
    with shown_on(told):
        extract(wrap(scored, vocab=ENCODER, classes=CLASSES, reads="tokens"), drawn, Paper(states=2))
    assert not [message for message in told.said if "unknown" in message]
    unheard = [f"not one word of {text}" for text in drawn.texts]
    with shown_on(told):
        extract(wrap(scored, vocab=ENCODER, classes=CLASSES, reads="tokens"), unheard, Paper(states=2))
    assert len([message for message in told.said if "of these texts are unknown to the model" in message]) == 1


class Said(Progress):
    """Remembers what a person should know."""

    def __init__(self):
        self.said = []

    def say(self, message):
        self.said.append(message)


def scored(tokens):
    """Whether a text is good, by its tokens."""
    good = np.array([sum(WORTH.get(token, 0.0) for token in text) for text in tokens])
    return np.stack([1 / (1 + np.exp(good)), 1 / (1 + np.exp(-good))], 1)


def test_wrapping_refuses_a_wrong_reading_where_labels_are_given(tmp_path):
    path = saved(tmp_path / "m.h5", network("lstm", len(ENCODER.vocabulary), width=WIDTH, units=2))
    exact = wrap(path, preprocessing=Preprocessing.of(ENCODER, CLASSES, padding_side="left", reading="exact"))
    drawn = texts(300, seed=0)
    said = exact.trace(exact.encoder.encode(drawn.texts)).last().argmax(1)
    labelled = Corpus(drawn.texts, said, CLASSES)
    card = Preprocessing.of(ENCODER, CLASSES, padding_side="left")
    wrap(path, preprocessing=card, labelled=labelled)
    with pytest.raises(ModelError, match=r"of 200 labels, but with 100% if texts are padded on the left"):
        wrap(path, preprocessing=card, padding_side="right", labelled=labelled)
