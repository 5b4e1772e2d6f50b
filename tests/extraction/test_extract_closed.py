"""A closed alphabet: no kind of extraction shows a model `<pad>` or `<unk>`."""

import numpy as np
import pytest

from tests.errors import raises
from tests.methods import Bounded
from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.evaluation import measure_fidelity
from wfalens.explanation.shapley.network_values import network_shapley
from wfalens.extraction import Augmentation, Linear, Paper, Readable, Stochastic, completion_method, extract
from wfalens.models import wrap
from wfalens.text import TextEncoder, Vocabulary, WordVectors

LETTERS = "abcdefgh"
ENCODER = TextEncoder(Vocabulary.of_words(LETTERS), "characters", closed=True)


def vowels(texts):
    """Shares of vowels and others; a function of a user that knows its letters only."""
    counts = np.array([[sum(letter in "ae" for letter in text), len(text)] for text in texts], float)
    for text in texts:
        for letter in text:
            LETTERS.index(letter)  # ValueError for anything else
    share = (counts[:, 0] + 1) / (counts[:, 1] + 2)
    return np.stack([1 - share, share], 1)


def texts(number=300, seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(LETTERS), rng.integers(2, 9))) for _ in range(number)]


@pytest.fixture
def model():
    return wrap(vowels, vocab=ENCODER, classes=("other", "vowels"), reads="tokens")


READABLE = Readable(states=4, start_epochs=1, epochs=2, final_epochs=1)
EXTRACTORS = {
    "null": Paper(states=6, completion="null"),
    "empirical": Paper(states=6),
    "probe": Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4),
    "fit": Bounded(completion_method("fit", states=6), queries=20_000),
    "few queries": Bounded(completion_method("fit", states=3), queries=3_000),
    "very few queries": Bounded(completion_method("probe", states=3), queries=1_900),
    "chosen": Bounded(Stochastic(), queries=20_000, effort="low"),
    "linear": Bounded(Linear(states=16, epochs=2), queries=20_000),
    "linear, few queries": Bounded(Linear(states=16, epochs=2), queries=2_000),
    "readable": Bounded(READABLE, queries=20_000),
    "readable, few queries": Bounded(READABLE, queries=3_000),
    "augmented": Paper(
        states=6,
        augmentation=Augmentation(
            vectors=WordVectors(tuple(LETTERS), np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32), "x"),
            epochs=2,
        ),
    ),
}


@pytest.mark.usefixtures("quick_teacher")
@pytest.mark.parametrize("name", EXTRACTORS)
def test_no_extraction_shows_a_model_what_is_no_symbol(name, model, tmp_path):
    how = EXTRACTORS[name]
    wfa = (how if isinstance(how, Bounded) else Bounded(how)).extract(model, texts())
    measure_fidelity(wfa, model, texts(100, seed=1))
    wfa.save(tmp_path / "letters.wfa")
    stored = type(wfa).load(tmp_path / "letters.wfa").encoder
    assert (stored.closed, stored.vocabulary, stored.tokenizer_name) == (True, ENCODER.vocabulary, "characters")


def test_the_side_of_cutting_and_the_tokenizer_are_kept_in_the_file(tmp_path):
    encoder = TextEncoder(Vocabulary.of_words(["ab", "bc", "cd"]), "lower+bigrams", 2, "left")
    model = wrap(lambda asked: np.full((len(asked), 2), 0.5), vocab=encoder, classes=("x", "y"), reads="tokens")
    extract(model, ["ABCD", "abc"], Paper(states=1, completion="uniform")).save(tmp_path / "a.wfa")
    assert WFA.load(tmp_path / "a.wfa").encoder == encoder
    assert WFA.load(tmp_path / "a.wfa").encoder.tokens("ABCD") == ["bc", "cd"]


def test_an_alphabet_that_is_not_closed_after_all_is_told(model):
    with pytest.raises(InputError, match=r"the alphabet is closed, but 'z' in the text 'abz' is not one of its 8"):
        extract(model, [*texts(), "abz"], Paper(states=2))


def test_absent_letters_are_deleted_not_hidden(model):
    with raises("absence", InputError, match="alphabet is closed"):
        network_shapley(model, None, "abc", absence="unknown")
    network_shapley(model, None, "abc", absence="delete")
