"""Detectors of attacked texts, trained on one kind of attack and tested on all; alarms for foreign texts.

The first half of the test texts is attacked to learn from, the second half to test. For foreign texts nothing is
trained: usual texts that the network has not seen are the reference, others are fresh usual ones. Beside our score
stand the network's largest probability, its energy, and the distance of bags of words. The weights of our signals were
chosen on film reviews and on clickbait (foreign: news, toxic comments, film reviews, shuffled words, German).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from io import BytesIO, StringIO

import numpy as np
import torch
from sklearn.feature_extraction.text import TfidfVectorizer

from common import (
    CACHE,
    arguments,
    data_sets,
    finish,
    intents,
    news,
    readable_automaton,
    show,
    trained_model,
    word_vectors,
)
from wfalens.automaton import WFA
from wfalens.explanation import nearness_of
from wfalens.extraction import Linear, Readable, extract
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.models.inference import last_outputs
from wfalens.monitoring import (
    Alarms,
    Detector,
    ReferenceStats,
    SynonymDefense,
    UsualTexts,
    Watcher,
    auroc,
    text_features,
    watch,
)
from wfalens.monitoring.novelty import Answers, text_signals
from wfalens.monitoring.watcher import StreamTest
from wfalens.robustness.attack import AttackContext
from wfalens.robustness.attack.run_attack import Originals, run_attack
from wfalens.text import Corpus, load_dataset, read_corpus
from wfalens.text.datasets.catalogue import data_folder, is_available

KINDS = ("guided", "greedy", "random-word")
CHANGES = 3
MOST = 4000  # usual texts of each half
SHARES = {"5 % foreign": 0.05, "10 % foreign": 0.1, "20 % foreign": 0.2}
LEAD, LONGEST = 500, 3000  # usual texts of a stream, and mixed ones after them
GERMAN = (
    "die Regierung|der Minister|ein Gericht|die Polizei|der Konzern|die Forscher|der Verein|das Parlament|die Bank",
    "warnt vor|fordert|kritisiert|plant|verschiebt|verhandelt über|gewinnt|verliert|untersucht|stoppt|beschließt",
    "neue Regeln|den Streik|höhere Steuern|das Spiel|die Reform|den Verkauf|die Wahl|ein neues Gesetz|den Haushalt",
    "in Berlin|nach dem Treffen|wegen der Kosten|am Montag|trotz Kritik|im Finale|vor der Wahl|und schweigt|in den USA",
)


class Attacked:
    """Features of clean texts and of those that attacks have felled."""

    def __init__(self, options, name: str, train: Corpus, test: Corpus, texts: int) -> None:
        self.model = trained_model(name, train, options.quick)
        self.wfa = readable_automaton(name, self.model, train, options.quick)
        self.stats = ReferenceStats(self.wfa)
        near = nearness_of(self.wfa, word_vectors(options, self.model))
        self.defense = SynonymDefense.of(self.wfa, near)
        some = test.sample(texts, 1)
        self.halves = some.split(0.5, np.random.default_rng(0))
        only = np.unique(self.model.encoder.encode(some.texts).values)
        self.context = AttackContext.prepare(self.wfa, near, only=only)

    def features(self, half: int, kind: str | None) -> np.ndarray:
        corpus = self.halves[half]
        ids = self.model.encoder.encode(corpus.texts)
        if kind is not None:
            outcome = run_attack(kind, CHANGES, self.context.recipe(kind, CHANGES), Originals.of(self.model, corpus))
            felled = [list(each.after) for each in outcome.examples if each.status == "succeeded"]
            ids = self.model.encoder.vocabulary.encode(felled)
        _, ids = ids.nonempty()
        return text_features(self.stats, self.model, ids, self.defense)


def detection(made: Attacked, name: str) -> dict[str, object]:
    clean = [made.features(half, None) for half in (0, 1)]
    attacked = {kind: [made.features(half, kind) for half in (0, 1)] for kind in KINDS}
    found: dict[str, dict[str, float]] = {}
    for trained_on in KINDS:
        detector = Detector.trained(clean[0], attacked[trained_on][0], made.defense)
        scores = detector.scores(clean[1])
        found[trained_on] = {kind: auroc(scores, detector.scores(attacked[kind][1])) for kind in KINDS}
        print(f"{name}: trained on {trained_on}: {found[trained_on]}", file=sys.stderr)
    rows = [[kind, *(found[kind][other] for other in KINDS)] for kind in KINDS]
    show(f"{name}: AUROC", ["trained on", *(f"tested on {kind}" for kind in KINDS)], rows)
    numbers = {kind: len(attacked[kind][1]) for kind in KINDS}
    return {"auroc": found, "worst": min(min(row.values()) for row in found.values()), "attacked": numbers}


class Case:
    """A small network, its automaton, usual texts (one half to compare with, the other fresh), and foreign texts."""

    def __init__(self, name: str, train: Corpus, usual: Sequence[str], foreign: dict[str, Sequence[str]]) -> None:
        self.name, self.train, self.foreign = name, train, foreign
        self.model = small_network(name, train)
        self.wfa = small_automaton(name, self.model, train)
        order = np.random.default_rng(0).permutation(len(usual))
        texts = [usual[at] for at in order]
        self.reference, self.fresh = texts[: len(texts) // 2][:MOST], texts[len(texts) // 2 :][:MOST]
        self.usual = UsualTexts.of(self.wfa, self.model, self.reference)
        self.encoder = TfidfVectorizer(tokenizer=str.split, token_pattern=None).fit(self.reference)
        self.documents = self.encoder.transform(self.reference)

    def ours(self, texts: Sequence[str], usual: UsualTexts | None = None) -> np.ndarray:
        usual = usual or self.usual
        _, ids = self.wfa.ids(texts).nonempty()
        answers = Answers.of(self.wfa, ids, last_outputs(self.model, ids))
        return usual.scores(text_signals(usual.bigrams, answers, ids))

    def alarms(self, texts: Sequence[str], asked: float, usual: UsualTexts | None = None) -> float:
        """The share of texts that raise an alarm."""
        usual = usual or self.usual
        p_values = (1 + usual.at_least(self.ours(texts, usual))) / (1 + len(usual.signals))
        return float((p_values <= asked).mean())

    def max_probability(self, texts: Sequence[str]) -> np.ndarray:
        return -last_outputs(self.model, self.model.encoder.encode(texts).nonempty()[1]).max(1)

    def energy(self, texts: Sequence[str]) -> np.ndarray:
        """−log Σ exp of the network's outputs before the softmax (Liu et al., 2020)."""
        _, ids = self.model.encoder.encode(texts).nonempty()
        found = []
        with torch.inference_mode():
            for part in ids.chunks(500):
                padded, lengths = (torch.from_numpy(each.astype(np.int64)) for each in (part.padded(), part.lengths))
                found.append(-self.model.network.last_logits(padded, lengths).logsumexp(1).numpy())
        return np.concatenate(found)

    def bag_of_words(self, texts: Sequence[str]) -> np.ndarray:
        """Cosine distance of tf-idf to the nearest usual text; words that these lack have the largest idf."""
        nearest = np.asarray((self.encoder.transform(texts) @ self.documents.T).max(1).todense()).ravel()
        idf, places, split = self.encoder.idf_, self.encoder.vocabulary_, self.encoder.build_analyzer()
        shares = []
        for text in texts:
            weights = [idf[places[word]] if word in places else -idf.max() for word in set(split(text))]
            known = sum(weight**2 for weight in weights if weight > 0)
            shares.append(np.sqrt(known / max(1e-9, sum(weight**2 for weight in weights))))
        return 1 - nearest * np.array(shares)


def small_network(name: str, train: Corpus) -> RNNClassifier:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"novelty-{name}.rnn"
    if not path.exists():
        Trainer(config=RNNConfig(embedding=64, hidden=64), epochs=5, seed=0).train(train).model.save(path)
    return RNNClassifier.load(path)


def small_automaton(name: str, model: RNNClassifier, train: Corpus) -> WFA:
    path = CACHE / f"novelty-{name}.wfa"
    if not path.exists() or WFA.load(path).provenance["model"]["fingerprint"] != model.fingerprint:
        extract(model, train.sample(4000, 0), Readable()).save(path)
    return WFA.load(path)


def shuffled(texts: Sequence[str]) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.permutation(text.split())) for text in texts]


def german(number: int) -> list[str]:
    """Generated headlines."""
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(part.split("|")) for part in GERMAN) for _ in range(number)]


def cases(options) -> Iterator[Case]:
    """Intents; news titles of all classes; news titles of four classes, the other three foreign."""
    evidence, texts, fresh = intents.intents(20, 6000)
    labels = intents.last_classes(evidence, texts)
    others = intents.intents(150, 3000)[1]
    own = [next(int(word[3:]) for word in text.split() if word.startswith("own")) for text in others]
    foreign = [text for text, number in zip(others, own, strict=True) if number >= 40][:600]  # two words a class
    half = len(texts) // 2
    train = Corpus.of(texts[:half], [evidence.class_names[label] for label in labels[:half]], name="intents")
    yield Case("intents", train, [*texts[half:], *fresh], {"other intents": foreign})
    name, train, test = news(options)
    films = load_dataset("rotten_tomatoes", "test").texts
    case = Case(name, train, test.texts, {"film reviews": films, "German": german(1000), **other_data(options)})
    case.foreign["shuffled words"] = shuffled(case.fresh)
    yield case
    first = [corpus.subset(np.flatnonzero(np.asarray(corpus.labels) < 4)) for corpus in (train, test)]
    part = Corpus(first[0].texts, first[0].labels, train.class_names[:4], f"{name}, 4 classes")
    rest = test.subset(np.flatnonzero(np.asarray(test.labels) >= 4))
    yield Case(f"{name}-4", part, first[1].texts, {"other classes": rest.sample(1000, 0).texts})


def other_data(options) -> dict[str, Sequence[str]]:
    """Clickbait titles and toxic comments, where the data folder has them; of long texts the first 200 characters."""
    found, folder = {}, data_folder(options.data)
    if folder and (folder / "clickbait" / "data.csv").exists():
        titles = read_corpus(folder / "clickbait" / "data.csv")
        clickbait = np.flatnonzero(titles.labels == titles.class_names.index("clickbait"))
        found["clickbait"] = titles.subset(clickbait).sample(2000, 0).texts
    if is_available("jigsaw_toxic", options.data):
        comments = load_dataset("jigsaw_toxic", "test", options.data).sample(2000, 0).texts
        found["toxic comments"] = [text[:200] for text in comments]
    return found


def novelty(options) -> dict[str, object]:
    """AUROC of foreign against fresh usual texts, and how often usual texts and windows raise an alarm."""
    result: dict[str, object] = {}
    scores = ("ours", "max_probability", "energy", "bag_of_words")
    for case in cases(options):
        usual = {name: getattr(case, name)(case.fresh) for name in scores}
        for pair, texts in case.foreign.items():
            found = {name: auroc(usual[name], getattr(case, name)(texts)) for name in scores}
            result[f"{case.name}: {pair}"] = {**found, "alarms at 1 %": case.alarms(texts, 0.01)}
            result[f"{case.name}: {pair}"] |= {"delays": delays(case, texts, 5 if options.quick else 50)}
        rates = {f"{asked:.0%}": case.alarms(case.fresh, asked) for asked in (0.01, 0.05)}
        trained = UsualTexts.of(case.wfa, case.model, case.train.sample(MOST, 0).texts, is_training_set=True)
        rates["1%, against training texts"] = case.alarms(case.fresh, 0.01, trained)
        result[case.name] = {"usual": len(case.fresh), "reference": len(case.reference), "false_alarms": rates}
        result[case.name] |= {"stream": stream_alarms(case, 1 if options.quick else 20)}
        if case.name != "intents":
            texts = 2000 if options.quick else 20_000
            automata = {"readable": case.wfa, "linear": linear_automaton(case, options.quick)}
            result[case.name] |= {
                "texts_a_minute": {kind: throughput(case, wfa, texts) for kind, wfa in automata.items()}
            }
    pairs = {name: each for name, each in result.items() if "ours" in each}
    show(
        "AUROC of foreign texts",
        ["pair", *scores, "alarms at 1 %"],
        [[name, *(each[score] for score in scores), each["alarms at 1 %"]] for name, each in pairs.items()],
    )
    rows = [[name, *("" if each is None else each for each in pair["delays"].values())] for name, pair in pairs.items()]
    show(f"Texts until the stream raises an alarm, after {LEAD} usual ones", ["pair", *SHARES], rows)
    rates = {name: each for name, each in result.items() if "ours" not in each}
    rows = [[name, *each["false_alarms"].values(), each["stream"]] for name, each in rates.items()]
    columns = ["asked 1%", "asked 5%", "1%, against training texts", "windows of 100, asked 5%"]
    show("Alarms of usual texts", ["texts", *columns], rows)
    return result


def delays(case: Case, texts: Sequence[str], repeats: int) -> dict[str, float | None]:
    """Foreign texts in a stream: the median number of texts until the stream raises an alarm, in default windows."""
    rng, alarms = np.random.default_rng(0), Alarms()
    usual, foreign = (case.usual.at_least(case.ours(some)) for some in (case.fresh, texts))
    found: dict[str, float | None] = {}
    for name, share in SHARES.items():
        waits = []
        for _ in range(repeats):
            ranks, strange = rng.choice(usual, LEAD + LONGEST), rng.random(LEAD + LONGEST) < share
            strange[:LEAD] = False
            ranks[strange] = rng.choice(foreign, strange.sum())
            test = StreamTest(len(case.reference), alarms.window)
            capitals = np.array([test.add(int(rank)) for rank in ranks])[LEAD:]
            raised = np.flatnonzero(capitals >= 2 / alarms.false_alarms)
            waits.append(raised[0] + 1 if len(raised) else np.inf)
        found[name] = float(np.median(waits)) if np.isfinite(np.median(waits)) else None
    return found


def stream_alarms(case: Case, repeats: int) -> float:
    """Alarms per window of 100 usual texts at 5 %, of both tests; windows follow each other as in a stream."""
    rng, raised, windows = np.random.default_rng(0), 0, 0
    for _ in range(repeats):
        watcher = Watcher(case.wfa, case.model, case.usual, Alarms(window=100, false_alarms=0.05))
        found = [each["window"] for each in watcher.read(rng.permutation(case.fresh).tolist()) if "window" in each]
        raised, windows = raised + sum(len(each["alarm"]) for each in found), windows + len(found)
    return raised / windows


def linear_automaton(case: Case, quick: bool) -> WFA:
    path = CACHE / f"novelty-{case.name}-linear{'-quick' if quick else ''}.wfa"
    if not path.exists() or WFA.load(path).provenance["model"]["fingerprint"] != case.model.fingerprint:
        extract(case.model, case.train.sample(500 if quick else 4000, 0), Linear()).save(path)
    return WFA.load(path)


def throughput(case: Case, wfa: WFA, texts: int) -> float:
    """Texts a minute that `watch` reads and tells of, without the fit on usual texts."""
    lines = "\n".join(case.fresh[at % len(case.fresh)].replace("\n", " ") for at in range(texts)).encode()
    results = watch(wfa, case.model, BytesIO(b"warm up\n" + lines), reference=case.reference)
    next(results)
    began, out = time.process_time(), StringIO()
    for each in results:
        out.write(json.dumps(each) + "\n")
    rate = 60 * texts / (time.process_time() - began)
    print(f"watch, {case.name}, {wfa.kind}: {rate:,.0f} texts a minute of processor time")
    return rate


def attacks(options) -> dict[str, object]:
    result: dict[str, object] = {}
    for name, train, test in data_sets(options):
        usual = 200 if options.quick else {"jigsaw_toxic": 1000}.get(name, 2000)
        result[name] = detection(Attacked(options, name, train, test, options.texts or usual), name)
    return result


def main() -> None:
    def more(parser) -> None:
        parser.add_argument("--texts", type=int, help="to attack, of each set (default 2000; toxic: 1000)")
        parser.add_argument("--only", choices=("attacks", "novelty"), help="one of the two parts")

    options = arguments(__doc__.splitlines()[0], more)
    result = {} if options.only == "novelty" else attacks(options)
    if options.only != "attacks":
        result["novelty"] = novelty(options)
    finish(options, result)


if __name__ == "__main__":
    main()
