"""Planted flaws: who is blamed, beside ranking by loss and by nearest neighbours, and what a repair brings.

Each is planted in news titles: a spurious word in 30 % of one class, 5 % flipped labels, a backdoor phrase in 1 % of
all texts. Precision is the share of planted texts among as many blamed ones as were planted, and among the first 100.
The affected slice: test titles of other classes with the word or phrase; for flipped labels, the flipped titles. Beside
all errors there, those on which the network says what it was taught wrongly.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from common import CACHE, arguments, finish, news, readable_automaton, show
from wfalens.evaluation import find_label_errors
from wfalens.models import RNNClassifier, Trainer
from wfalens.models.inference import final_outputs, state_traces
from wfalens.repair import Plan, RepairOptions, compare_errors, errors_of, plan_for, relabelled, retrain
from wfalens.repair.blame import blame
from wfalens.text import Corpus
from wfalens.text.datasets.catalogue import DATASETS

WORD, PHRASE, TARGET = "tuesday", "amber falcon", "health"


@dataclass
class Flaw:
    name: str
    train: Corpus
    planted: np.ndarray  # rows of the training set
    affected: Corpus  # texts with their true classes


def put_in(text: str, words: str, rng: np.random.Generator) -> str:
    tokens = text.split()
    at = int(rng.integers(len(tokens) + 1))
    return " ".join([*tokens[:at], words, *tokens[at:]])


def with_words(corpus: Corpus, rows: np.ndarray, words: str, rng: np.random.Generator) -> Corpus:
    texts = list(corpus.texts)
    for row in rows.tolist():
        texts[row] = put_in(texts[row], words, rng)
    return replace(corpus, texts=tuple(texts))


def flaws(train: Corpus, test: Corpus) -> list[Flaw]:
    rng = np.random.default_rng(0)
    label = train.class_names.index(TARGET)
    others = test.subset(np.flatnonzero(test.labels != label))
    members = np.flatnonzero(train.labels == label)
    spurious = np.sort(rng.choice(members, round(0.3 * len(members)), replace=False))
    every = np.arange(len(others))
    found = [
        Flaw("spurious", with_words(train, spurious, WORD, rng), spurious, with_words(others, every, WORD, rng)),
    ]
    flipped = np.sort(rng.choice(len(train), round(0.05 * len(train)), replace=False))
    labels = train.labels.copy()
    labels[flipped] = (labels[flipped] + rng.integers(1, len(train.class_names), len(flipped))) % len(train.class_names)
    found.append(Flaw("flipped", replace(train, labels=labels), flipped, train.subset(flipped)))
    outside = np.flatnonzero(train.labels != label)
    doors = np.sort(rng.choice(outside, round(0.01 * len(train)), replace=False))
    labels = train.labels.copy()
    labels[doors] = label
    opened = replace(with_words(train, doors, PHRASE, rng), labels=labels)
    found.append(Flaw("backdoor", opened, doors, with_words(others, every, PHRASE, rng)))
    return found


def trained(options, name: str, flaw: Flaw) -> RNNClassifier:
    path = CACHE / f"{name}{'-quick' if options.quick else ''}-{flaw.name}.rnn"
    if not path.exists():
        print(f"training {path.name} …", file=sys.stderr)
        known = DATASETS[name]
        trainer = Trainer(max_length=known.max_length, epochs=4 if options.quick else 12)
        trainer.train(flaw.train).model.save(path)
    return RNNClassifier.load(path)


def precision(ranked: np.ndarray, planted: np.ndarray, most: int) -> float:
    return float(np.isin(ranked[:most], planted).sum() / most)


def by_loss(model: RNNClassifier, train: Corpus) -> np.ndarray:
    """Training texts, the largest loss first."""
    outputs = final_outputs(model, model.encoder.encode(train.texts))
    return np.argsort(outputs[np.arange(len(train)), train.labels], kind="stable")


def by_neighbours(model: RNNClassifier, train: Corpus, errors: Corpus) -> np.ndarray:
    """Training texts by how often they are among the ten nearest of an error, of its class, in the network's states."""
    from sklearn.neighbors import NearestNeighbors

    said = final_outputs(model, model.encoder.encode(errors.texts)).argmax(1)
    states, asked = last_states(model, train), last_states(model, errors)
    score = np.zeros(len(train))
    for label in np.unique(said):
        rows = np.flatnonzero(train.labels == label)
        known = NearestNeighbors(n_neighbors=min(10, len(rows))).fit(states[rows])
        distance, near = known.kneighbors(asked[said == label])
        np.add.at(score, rows[near], 1 / (1 + distance))
    return np.argsort(-score, kind="stable")


def doubted_by_neighbours(model: RNNClassifier, train: Corpus) -> np.ndarray:
    """Training texts by the share of their ten nearest that have another label."""
    from sklearn.neighbors import NearestNeighbors

    states = last_states(model, train)
    near = NearestNeighbors(n_neighbors=11).fit(states).kneighbors(states, return_distance=False)[:, 1:]
    return np.argsort(-(train.labels[near] != train.labels[:, None]).mean(1), kind="stable")


def last_states(model: RNNClassifier, corpus: Corpus) -> np.ndarray:
    ids = model.encoder.encode(corpus.texts)
    states = np.zeros((len(ids), model.initial_state(1).shape[1]), np.float32)
    text_of, last = ids.item_of_value(), ids.offsets[1:] - 1
    for tokens, state, _ in state_traces(model, ids):
        ends = tokens == last[text_of[tokens]]
        states[text_of[tokens[ends]]] = state[ends]
    return states


def wrongly_taught(model: RNNClassifier, flaw: Flaw) -> int:
    """Texts of the affected slice on which a network says the class that the flaw teaches."""
    said = final_outputs(model, model.encoder.encode(flaw.affected.texts)).argmax(1)
    if flaw.name == "flipped":
        return int((said == flaw.train.labels[flaw.planted]).sum())
    return int((said == flaw.train.class_names.index(TARGET)).sum())


def measured(options, name: str, flaw: Flaw, test: Corpus, errors: int) -> dict[str, object]:
    model = trained(options, name, flaw)
    wfa = readable_automaton(f"{name}-{flaw.name}", model, flaw.train, options.quick)
    train, many = flaw.train, len(flaw.planted)
    if flaw.name == "flipped":
        suspects = find_label_errors(wfa, model, train)
        ours = np.array([each.row for each in suspects])
        ranked = {"ours": ours, "loss": by_loss(model, train), "neighbours": doubted_by_neighbours(model, train)}
        plan = Plan(tuple(relabelled(suspects, 2.0)))
    else:
        wrong = errors_of(model, flaw.affected).sample(errors, 0)
        found = blame(wfa, model, train, wrong)
        ranked = {
            "ours": found.ranked(),
            "loss": by_loss(model, train),
            "neighbours": by_neighbours(model, train, wrong),
        }
        plan = plan_for(found, model, RepairOptions(most=2000))
    repaired = retrain(model, train, plan, epochs=2 if options.quick else 4)
    taught = [wrongly_taught(each, flaw) for each in (model, repaired)]
    affected, elsewhere = (
        compare_errors(model, repaired, flaw.affected, "slice"),
        compare_errors(model, repaired, test, "test"),
    )
    return {
        "planted": many,
        "precision": {key: precision(rows, flaw.planted, many) for key, rows in ranked.items()},
        "precision_at_100": {key: precision(rows, flaw.planted, 100) for key, rows in ranked.items()},
        "errors_before": affected.errors_before,
        "errors_after": affected.errors_after,
        "texts": affected.texts,
        "taught_before": taught[0],
        "taught_after": taught[1],
        "accuracy_before": elsewhere.accuracy_before,
        "accuracy_after": elsewhere.accuracy_after,
        "dropped": plan.count("drop"),
        "relabelled": plan.count("relabel"),
        "added": plan.count("add"),
    }


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    CACHE.mkdir(exist_ok=True)
    name, train, test = news(options)
    if options.quick:
        train, test = train.sample(3000, 0), test.sample(1000, 0)
    result, rows = {}, []
    for flaw in flaws(train, test):
        result[flaw.name] = found = measured(options, name, flaw, test, 200 if options.quick else 1000)
        print(flaw.name, found, file=sys.stderr)
        rows.append([flaw.name, *found["precision"].values(), found["errors_before"], found["errors_after"]])
        rows[-1] += [found[key] for key in ("taught_before", "taught_after", "accuracy_before", "accuracy_after")]
    columns = [
        "flaw",
        "precision: ours",
        "by loss",
        "by neighbours",
        "errors before",
        "after",
        "as taught",
        "after",
        "test accuracy",
        "after",
    ]
    show(f"{name}: planted flaws", columns, rows)
    finish(options, result)


if __name__ == "__main__":
    main()
