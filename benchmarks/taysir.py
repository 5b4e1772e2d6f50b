"""Networks of the TAYSIR 2023 competition: our automata and machines beside those of its winner, on the same words.

The first half of the validation words is for testing, the second for extraction; what is tuned is tuned on words of our
own. Fresh words are uniform, as long as validation words; edited words are test words with one to three edits. A binary
network is first asked for a small machine; if none agrees on 99.8 % of our own words, `extract` chooses. Language
models: a stochastic automaton by default settings, its number of states chosen on words that are held out of those
given; then with as many states from these and words of our own, short and edited ones.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from common import arguments, finish, show
from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.evaluation.language_models import measure_language_model
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.extraction.refinement.query_sampler import QuerySampler
from wfalens.language import Language
from wfalens.models import PrefixClassifier, wrap
from wfalens.models.contract import is_language_model
from wfalens.models.inference import asks_every_prefix, final_outputs
from wfalens.ragged import Ragged, concatenate
from wfalens.robustness import Machine, learn_machine

SMALL = 64  # states of an exact machine at most
SURE = 0.998  # agreement on fresh words at which a machine will do
LINEAR_CALLS = 400_000  # of a network that looks both ways, for a linear automaton
QUICK_STATES = 40  # of a language model's, in a quick run
OWN_LETTERS = 60_000  # of the edited words that a language model is extracted from, beside those given
SHORT = 5  # letters of short words at most
ACCEPTING = 1


class Words:
    """Test words, words to extract from, fresh ones and edited ones, as ids."""

    def __init__(self, folder: Path, model: PrefixClassifier, number: int, quick: bool) -> None:
        settings = json.loads((folder / "net.json").read_text())
        start, end = settings["start"], settings["end"]
        lines = (folder / "words").read_text().splitlines()[1:]
        words = [line.split()[2:-1] for line in lines]
        if quick:
            words = words[:: max(1, len(words) // 600)]
        half = len(words) // 2
        self.letters = [str(each) for each in range(settings["symbols"]) if each not in (start, end)]
        self.test, self.known = (
            model.encoder.vocabulary.encode(part) for part in (words[:half], [word for word in words[half:] if word])
        )
        ids = model.encoder.vocabulary.encode([self.letters]).values
        lengths = np.maximum(1, self.test.lengths)
        rng = np.random.default_rng(2023)
        source = QuerySampler(
            ids, np.full(len(ids), 1 / len(ids)), Ragged.from_lengths(np.repeat(ids[0], lengths.sum()), lengths)
        )
        chosen = rng.choice(lengths, number)
        self.fresh = Ragged.from_lengths(rng.choice(ids, int(chosen.sum())), chosen)
        _, worded = self.test.nonempty()
        self.edited = source.edited(worded.take(rng.integers(0, len(worded), number)), rng)
        short = rng.integers(0, SHORT + 1, number)
        self.short = Ragged.from_lengths(rng.choice(ids, int(short.sum())), short)
        few = rng.integers(1, SHORT + 2, number // 3)  # words of our own: a few letters, and edited ones
        short_ones = Ragged.from_lengths(rng.choice(ids, int(few.sum())), few)
        edits = min(2 * number // 3, OWN_LETTERS // int(np.ceil(self.known.lengths.mean())))
        edited = rng.integers(0, len(self.known), edits)
        self.own = concatenate([short_ones, source.edited(self.known.take(edited), rng)])


class Winner:
    """The automaton in winner.dot: states accept, or tell the probability of the word; 0 where it has no transition."""

    @classmethod
    def read(cls, folder: Path, model: PrefixClassifier) -> Winner | None:
        return cls(folder, model) if (folder / "winner.dot").exists() else None

    def __init__(self, folder: Path, model: PrefixClassifier) -> None:
        dot = (folder / "winner.dot").read_text()
        labels = dict(re.findall(r"^(s\d+) \[(.*?)\];", dot, re.MULTILINE))
        self.value = {name: self._value(label) for name, label in labels.items()}
        edges = re.findall(r'^(s\d+) -> (s\d+)\s*\[label="(\d+)"', dot, re.MULTILINE)
        self.target = {(source, letter): target for source, target, letter in edges}
        self.start = re.search(r"__start0 -> (s\d+)", dot).group(1)
        self.words = model.encoder.vocabulary.words

    @staticmethod
    def _value(label: str) -> float:
        told = re.search(r'label="s\d+\|([^"]+)"', label)
        return float(told.group(1)) if told else float("doublecircle" in label)

    def __call__(self, ids: Ragged[np.int32]) -> np.ndarray:
        found = []
        for word in ids:
            state = self.start
            for letter in word:
                state = self.target.get((state, self.words[letter]))
            found.append(self.value.get(state, 0.0))
        return np.array(found)


def read_by(machine: Machine, model: PrefixClassifier) -> Callable[[Ragged[np.int32]], np.ndarray]:
    """What a machine says of words, given as ids."""
    number = {model.encoder.vocabulary.id_of(letter): at for at, letter in enumerate(machine.letters)}

    def read(ids: Ragged[np.int32]) -> np.ndarray:
        found = []
        for word in ids:
            state = 0
            for letter in word:
                state = machine.transitions[state][number[int(letter)]]
            found.append(machine.outputs[state])
        return np.array(found)

    return read


def binary(folder: Path, model: PrefixClassifier, words: Words, quick: bool) -> dict[str, object]:
    began = time.process_time()
    try:
        samples = 500 if quick else 2000
        learned = learn_machine(model, words.letters, states=SMALL, partial=True, texts=words.known, samples=samples)
        if learned.guarantee.rate < SURE:
            raise InputError(f"{learned.guarantee.texts - learned.guarantee.agreed} fresh words differ")
        said, states, size = (
            read_by(learned.machine, model),
            len(learned.machine),
            len(json.dumps(learned.machine.transitions)),
        )
        way, proof = "machine", learned.guarantee.sentence()
    except InputError as refusal:
        print(f"{folder.name}: no good machine of up to {SMALL} states ({refusal})", file=sys.stderr)
        way, wfa = weighted(model, words, quick)
        said, states, size, proof = wfa.predict_indices, wfa.states, _bytes(wfa), wfa.provenance.get("guarantee")
    seconds = time.process_time() - began
    winner = Winner.read(folder, model)
    found: dict[str, object] = {"way": way, "states": states, "bytes": size, "seconds": seconds, "proof": proof}
    found |= {} if winner is None else {"winner_states": len(winner.value)}
    for name, ids in (("test", words.test), ("fresh", words.fresh), ("edited", words.edited)):
        wanted = final_outputs(model, ids).argmax(1) == ACCEPTING
        found[f"error_{name}"] = float(np.mean((said(ids) == ACCEPTING) != wanted))
        if winner is not None:
            found[f"winner_error_{name}"] = float(np.mean((winner(ids) == ACCEPTING) != wanted))
    return found


def weighted(model: PrefixClassifier, words: Words, quick: bool) -> tuple[str, WFA]:
    """What `extract` chooses; a network that looks both ways is asked for so many words."""
    queries = (40_000 if quick else LINEAR_CALLS) if asks_every_prefix(model) else None
    wfa = extract(model, words.known, Linear(epochs=5) if quick else None, queries=queries)
    return f"{wfa.kind} automaton", wfa


def language_model(folder: Path, model: PrefixClassifier, words: Words, quick: bool) -> dict[str, object]:
    began = time.process_time()
    wfa = _spoken(model, words, quick)
    seconds = time.process_time() - began
    measured = measure_language_model(wfa, model, words.test, reference=concatenate([words.known, words.own]))
    winner, ours, network = Winner.read(folder, model), Language.of(wfa), Language.of(model)
    found: dict[str, object] = {"states": wfa.states, "bytes": _bytes(wfa), "seconds": seconds}
    found |= {} if winner is None else {"winner_states": len(winner.value)}
    found["kl"] = measured.automaton.kl.value
    found["kl_stand_ins"] = {name: each.kl.value for name, each in measured.baselines.items()}
    found["perplexity"], found["model_perplexity"] = measured.automaton.perplexity, measured.model_perplexity
    found["ndcg"], found["wer"] = measured.automaton.ndcg, measured.automaton.wer
    for name, ids in (("test", words.test), ("short", words.short)):
        wanted = np.exp(network.log_probability(ids))
        found[f"mse_{name}"] = float(np.mean((np.exp(ours.log_probability(ids)) - wanted) ** 2))
        if winner is not None:
            found[f"winner_mse_{name}"] = float(np.mean((winner(ids) - wanted) ** 2))
    return found


def _spoken(model: PrefixClassifier, words: Words, quick: bool) -> WFA:
    """With as many states as are chosen from the given words alone; then from our own words, too."""
    chosen = QUICK_STATES if quick else extract(model, words.known, Stochastic()).states - 1
    print(f"{chosen} states", file=sys.stderr, flush=True)
    return extract(model, concatenate([words.known, words.own]), Stochastic(states=chosen))


def _bytes(wfa: WFA) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "it.wfa"
        wfa.save(path)
        return path.stat().st_size


def own_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", nargs="*", help="networks, such as 1.9")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], own_options)
    data = options.data or os.environ.get("WFALENS_DATA")
    root = None if data is None else next((each for each in (Path(data) / "taysir", Path(data)) if each.is_dir()), None)
    folders = [] if root is None else sorted(path.parent for path in root.glob("*/net.json"))
    if not folders:
        print("no networks: give the folder with --data", file=sys.stderr)
        sys.exit(2)
    result: dict[str, dict[str, object]] = {}
    for folder in folders:
        if options.only and folder.name not in options.only:
            continue
        model = wrap(folder)
        words = Words(folder, model, 500 if options.quick else 3000, options.quick)
        if is_language_model(model):
            found = language_model(folder, model, words, options.quick)
        else:
            found = binary(folder, model, words, options.quick)
        result[folder.name.replace(".", "_")] = found
        print(f"{folder.name}: {json.dumps(found)}", file=sys.stderr, flush=True)
    for title, figure, sets in (
        ("Binary networks", "error", ("test", "fresh", "edited")),
        ("Language models", "mse", ("test", "short")),
    ):
        chosen = {name: found for name, found in result.items() if f"{figure}_test" in found}
        keys = ["states", "winner_states", "bytes", "seconds", "way" if figure == "error" else "kl"]
        keys += [f"{who}{figure}_{name}" for name in sets for who in ("", "winner_")]
        if chosen:
            show(title, ["", *keys], [[name, *(found.get(key, "") for key in keys)] for name, found in chosen.items()])
    finish(options, result)


if __name__ == "__main__":
    main()
