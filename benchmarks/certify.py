"""Certificates about the network with counter-fitted substitutes, beside plain enumeration and the automaton's own.

For one and two changes every variant is read by the network, in the automaton's order and in plain order. For any
number of changes the readable automaton is certified, and the network reads variants of each text, those most likely to
break it first. Published for IMDB and any number of substitutions: 80 % clean and 72.5 % certified with certified
training, 0 % with ordinary training.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict

import numpy as np

from common import arguments, finish, news, readable_automaton, show, trained_model
from wfalens.explanation import nearness_of
from wfalens.robustness import Edits, Substitutes, certify_network, certify_texts, read_lists
from wfalens.robustness.certify.enumerated_certificates import BROKEN, STATUSES
from wfalens.text import Corpus, load_dataset, wordllama_vectors
from wfalens.text.datasets.catalogue import data_folder

PUBLISHED = {"imdb_clean": 0.80, "imdb_certified": 0.725, "imdb_ordinary_training": 0.0}
MOST = 8  # substitutes of a word


def substitutes(options, wfa) -> tuple[str, Substitutes]:
    folder = data_folder(options.data)
    lists = folder / "counterfitted" / "neighbors.json" if folder else None
    if lists and lists.exists():
        return "counter-fitted", Substitutes.listed(wfa, read_lists(lists), MOST)
    print("no counter-fitted neighbours: using the nearest words", file=sys.stderr)
    near = nearness_of(wfa, wordllama_vectors(wfa.encoder.vocabulary.words[2:]))
    return "nearest", Substitutes.near(wfa, near, MOST)


def certified(options, name: str, train: Corpus, test: Corpus, texts: int, budget: int) -> dict[str, object]:
    model = trained_model(name, train, options.quick)
    wfa = readable_automaton(name, model, train, options.quick)
    source, allowed = substitutes(options, wfa)
    some = [text for text in test.sample(texts, 1).texts if wfa.encoder.tokens(text)]
    edits, result, rows = Edits(allowed), {"substitutes": source, "texts": len(some)}, []
    for changes in (1, 2):
        found, seconds = {}, {}
        for order in ("automaton", "plain"):
            began = time.process_time()
            found[order] = certify_network(
                wfa, model, some, edits, changes=changes, budget=budget, guided=order == "automaton"
            )
            seconds[order] = (time.process_time() - began) / len(some)
        total, plain = found["automaton"], found["plain"]
        proven, broken_share, copy_only, open_share = (total.share(status).value for status in STATUSES)
        both = [
            (one.tried, other.tried)
            for one, other in zip(found["automaton"].certificates, found["plain"].certificates, strict=True)
            if one.status == other.status == BROKEN
        ]
        ratio = float(np.sum([one for one, _ in both]) / np.sum([other for _, other in both])) if both else None
        broken = [each for each in found["automaton"].certificates if each.status == BROKEN]
        of_all = float(np.sum([each.tried for each in broken]) / np.sum([each.variants for each in broken]))
        result[str(changes)] = {
            "proven": proven,
            "broken": broken_share,
            "proven_on_automaton": copy_only,
            "open": open_share,
            "queries": total.queries,
            "queries_broken": total.queries_broken,
            "queries_broken_plain": plain.queries_broken,
            "queries_ratio": ratio,
            "queries_of_all": of_all,
            "seconds": seconds["automaton"],
            "seconds_plain": seconds["plain"],
        }
        rows.append([changes, *result[str(changes)].values()])
    show(f"{name}: {len(some)} texts, {source} substitutes, on the network", ["k", *result["1"]], rows)
    result["any"] = any_number(wfa, model, some, edits, 200 if options.quick else 1000)
    return result


def any_number(wfa, model, texts: list[str], edits: Edits, samples: int) -> dict[str, object]:
    """Any number of substitutions: certified on the automaton, and whether the network holds on samples."""
    found = certify_texts(wfa, texts, edits, model=model, samples=samples, effort=100)
    kept = found.network_kept.get("certified")
    result = {
        "certified_on_automaton": found.certified.value,
        "network_held": None if kept is None else asdict(kept),
    }
    show("Any number of substitutions", ["", "value"], [[key, str(value)] for key, value in result.items()])
    return result


def options_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--texts", type=int, help="of each set (default 500; quick: 40)")
    parser.add_argument("--only", choices=("news", "films"), help="one of the two sets")


def main() -> None:
    options = arguments(__doc__.splitlines()[0], options_of)
    texts, budget = (40, 2000) if options.quick else (500, 20_000)
    texts, result = options.texts or texts, {"published": PUBLISHED}
    if options.only != "films":
        name, train, test = news(options)
        result[name] = certified(options, name, train, test, texts, budget)
    if options.only == "films" or not (options.quick or options.only):
        films = [load_dataset("rotten_tomatoes", split) for split in ("train", "test")]
        result["rotten_tomatoes"] = certified(options, "rotten_tomatoes", *films, texts, budget)
    finish(options, result)


if __name__ == "__main__":
    main()
