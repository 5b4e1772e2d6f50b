"""A toy language whose texts are good or bad by their words, and the whole way from a model of it to its automaton."""

import numpy as np

from wfalens.evaluation import measure_fidelity
from wfalens.extraction import completion_method, extract
from wfalens.text import Corpus, TextEncoder, Vocabulary

CLASSES = ("bad", "good")
GOOD, BAD, NEUTRAL = (tuple(f"{kind}{number}" for number in range(5)) for kind in ("fine", "poor", "thing"))
WORTH = {**dict.fromkeys(GOOD, 1.0), **dict.fromkeys(BAD, -1.0), **dict.fromkeys(NEUTRAL, 0.0)}
ENCODER = TextEncoder(Vocabulary.of_words(list(WORTH)), "whitespace", max_length=12)


def texts(count: int, seed: int) -> Corpus:
    """Texts of three to eight words without ties; the label is the sign of their worth."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(list(WORTH), rng.integers(3, 9)) for _ in range(3 * count)]
    worth = [sum(WORTH[word] for word in words) for words in drawn]
    kept = [number for number, value in enumerate(worth) if value][:count]
    labels = np.array([int(worth[number] > 0) for number in kept])
    return Corpus(tuple(" ".join(drawn[number]) for number in kept), labels, CLASSES, "toy")


def word_scores(vocabulary: Vocabulary) -> np.ndarray:
    """Logits of one word; (words, 2): the model that knows the truth."""
    good = np.array([WORTH.get(word, 0.0) for word in vocabulary.words], np.float32)
    return np.stack([-good, good], 1)


def extracted_fidelity(model, **options):
    """CR on fresh texts of an automaton extracted from a model, and the model's accuracy there."""
    settings = {"states": 12, "completion": "probe", "alpha": 0.0, "representatives": 4, **options}
    wfa = extract(model, texts(300, seed=1), completion_method(**settings))
    fidelity = measure_fidelity(wfa, model, texts(200, seed=2), reference=texts(300, seed=1))
    return fidelity.overall.cr.value, fidelity.model_accuracy.value
