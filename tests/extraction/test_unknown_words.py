"""Words that an automaton never saw: read as rare ones, or by their form where that is more faithful."""

import numpy as np
import pytest

from wfalens import WFA
from wfalens.automaton.wfa_file import FORMAT, VERSION
from wfalens.errors import WfalensError
from wfalens.extraction import Linear, Request, extract
from wfalens.extraction.extract import texts_in_memory
from wfalens.extraction.perturbed_batches import PerturbedBatches
from wfalens.extraction.query_budget import QueryBudget
from wfalens.models import wrap
from wfalens.storage import read_file, write_file
from wfalens.text.vocabulary import UNKNOWN
from wfalens.text.word_forms import BUCKETS, WordForms

SMALL = Linear(layers=2, width=4, factors=8, hidden=16, epochs=12)
SYLLABLES = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]
STEMS = [first + second for first in SYLLABLES for second in SYLLABLES][::11]


def by_ending(texts):
    """Words that end in -ous speak for the second class, words in -ing against it; others say nothing."""
    worth = [sum(word.endswith("ous") - word.endswith("ing") for word in text.split()) for text in texts]
    second = 1 / (1 + np.exp(-2.0 * np.array(worth)))
    return np.stack([1 - second, second], 1)


def sentences(stems, number, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(stems) + rng.choice(["ous", "ing", "et"]) for _ in range(4)) for _ in range(number)]


@pytest.fixture(scope="module")
def known():
    texts = sentences(STEMS[:1500], 900, 0)
    model = wrap(by_ending, texts=texts, classes=("no", "yes"), name="by_ending")
    return extract(model, texts, SMALL, queries=9000), model


def test_words_never_seen_are_read_by_their_ending(known):
    wfa, model = known
    fresh = sentences(STEMS[1500:], 300, 1)
    assert model.encoder.has_unknown(fresh).all()
    assert np.mean(wfa.predict(fresh) == model.predict(fresh)) > 0.8
    plain = wfa.encoder.vocabulary.encode([text.split() for text in fresh])
    assert np.mean(wfa.predict_indices(plain) == model.predict_proba(fresh).argmax(1)) < 0.7


def test_a_file_reads_unknown_words_as_the_automaton_that_wrote_it(known, tmp_path):
    wfa, _ = known
    fresh = sentences(STEMS[1500:], 50, 2)
    wfa.save(tmp_path / "it.wfa")
    np.testing.assert_allclose(WFA.load(tmp_path / "it.wfa").predict_proba(fresh), wfa.predict_proba(fresh), atol=1e-6)


@pytest.mark.parametrize("damage", ["words", "weights", "effects", "grams"])
def test_a_file_with_other_forms_than_words_is_refused(known, tmp_path, damage):
    wfa, _ = known
    wfa.save(tmp_path / "it.wfa")
    stored = read_file(tmp_path / "it.wfa", FORMAT, VERSION)
    tensor = stored.tensors[f"form_{damage}"]
    stored.tensors[f"form_{damage}"] = tensor + np.int32(1 << 20) if damage == "words" else tensor[:-1]
    write_file(tmp_path / "bad.wfa", FORMAT, VERSION, stored.header, stored.tensors)
    with pytest.raises(WfalensError):
        WFA.load(tmp_path / "bad.wfa")


def test_characters_that_no_word_has_stay_unknown():
    forms = WordForms(np.zeros((BUCKETS, 2)), np.zeros(2), np.array([5]), np.ones((1, 2)))
    assert forms.nearest("щщщ") == UNKNOWN


def test_the_model_is_shown_the_rare_words_that_the_automaton_reads_as_unknown():
    texts = [f"good word{number} film" for number in range(200)]
    asked = []

    def length(given):
        asked.extend(given)
        return np.tile([0.5, 0.5], (len(given), 1))

    model = wrap(length, texts=texts, classes=("short", "long"), name="length", reads="text")
    asked.clear()
    request = Request(model=model, texts=texts_in_memory(model, texts))
    shape = Linear(replaced=0.0).resolved(request)
    batches = PerturbedBatches(model, request.ids, shape, 0, QueryBudget(5000, model), request.texts.shown)
    batch = batches.numbered(0)
    assert 0.3 < np.mean([UNKNOWN in text for text in batch.texts]) < 0.7
    assert all("word" in text for text in asked if len(text.split()) == 3)
