"""An automaton of any function that scores texts: here a bag of words of scikit-learn."""

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from wfalens import Readable, TextEncoder, extract, load_dataset, wrap

train, test = (load_dataset("newsroom", split) for split in ("train", "test"))
train = train.subset(range(800))
pipeline = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(train.texts, train.labels)


def predict_proba(token_lists):
    """Probabilities of the classes for lists of words: (texts, classes)."""
    return pipeline.predict_proba([" ".join(words) for words in token_lists])


encoder = TextEncoder.of_texts(train.texts, "whitespace")
model = wrap(predict_proba, vocab=encoder, classes=train.class_names, reads="tokens")

# a function cannot go on from a saved state, so every prefix is asked: set a limit that you can wait for
wfa = extract(model, train, Readable(states=10, clusters=16), queries=60_000)
print(wfa.fidelity(model, test.subset(range(300)), reference=train).overall)
wfa.save("newsroom.wfa")
