"""A character language model of real strings, trained here: perplexities of network, automaton and n-grams; samples.

The strings are the distinct words of the bundled film reviews, or those of `--strings FILE` (a column `text`), such as
names. A tenth is for testing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from common import CACHE, arguments, finish, show
from wfalens.evaluation.language_models import TEXT_NGRAM, baselines, measure_language_model
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.language import Language, most_likely, sample
from wfalens.models import RNNClassifier, RNNConfig, Trainer
from wfalens.text import Corpus, load_dataset, read_corpus
from wfalens.text.tokenizers import basic_english

KINDS = {"stochastic": Stochastic(), "linear": Linear()}
QUICK = {"stochastic": Stochastic(states=200)}


def corpora(options) -> tuple[str, Corpus, Corpus]:  # type: ignore[no-untyped-def]
    if options.strings:
        name, found = Path(options.strings).stem, list(read_corpus(options.strings, labels=False).texts)
    else:
        reviews = load_dataset("rotten_tomatoes", "train").texts
        name, found = "words", sorted({word for text in reviews for word in basic_english(text) if word.isascii()})
    found = [found[at] for at in np.random.default_rng(0).permutation(len(found))]
    if options.quick:
        found = found[:3000]
    tenth = len(found) // 10
    return name, Corpus(tuple(found[tenth:]), name=name), Corpus(tuple(found[:tenth]), name=name)


def trained(name: str, train: Corpus, quick: bool) -> RNNClassifier:
    CACHE.mkdir(exist_ok=True)
    path = CACHE / f"speaking-{name}{'-quick' if quick else ''}.rnn"
    if not path.exists():
        print(f"training {path.name} …", file=sys.stderr)
        trainer = Trainer(
            config=RNNConfig(embedding=32, hidden=32 if quick else 128, dropout=0.1),
            task="next",
            tokenizer="characters",
            epochs=3 if quick else 15,
            learning_rate=4e-3,
            word_dropout=0.0,
        )
        trainer.train(train).model.save(path)
    return RNNClassifier.load(path)


def main() -> None:
    options = arguments(
        __doc__.splitlines()[0], lambda parser: parser.add_argument("--strings", help="a table with a column `text`")
    )
    name, train, test = corpora(options)
    model = trained(name, train, options.quick)
    language = Language.of(model)
    held = language.ids(test.texts)
    held = held.take(language.inside_alphabet(held))
    rivals = baselines(language, language.ids(train.texts))
    kinds = QUICK if options.quick else KINDS
    automata = {kind: extract(model, train, method) for kind, method in kinds.items()}
    spoken = {"network": model, **automata, TEXT_NGRAM: rivals[TEXT_NGRAM]}
    result: dict[str, object] = {"strings": len(train), "test": len(held)}
    rows = [["network", "", f"{language.perplexity(held):.3f}", "", "", ""]]
    result["network"] = {"perplexity": language.perplexity(held)}
    for number, (kind, wfa) in enumerate(automata.items()):
        found = measure_language_model(wfa, model, held, reference=train if number == 0 else None)
        for who, each in ({kind: found.automaton} | found.baselines).items():
            result[who] = {"perplexity": each.perplexity, "kl": each.kl.value, "agreement": each.agreement}
            result[who] |= {"ndcg": each.ndcg, **({"states": wfa.states} if who == kind else {})}
            states = wfa.states if who == kind else ""
            rows.append(
                [
                    who,
                    states,
                    f"{each.perplexity:.3f}",
                    f"{each.kl.value:.4f}",
                    f"{each.agreement:.3f}",
                    f"{each.ndcg:.3f}",
                ]
            )
    title = f"{name}: {len(train):,} strings, {len(held):,} test strings"
    show(title, ["", "states", "perplexity", "KL", "agreement", "NDCG"], rows)
    for who, each in spoken.items():
        drawn = sample(each, 20, seed=0, longest=40).texts
        result[f"samples_{who}"] = drawn
        print(f"{who}: {', '.join(drawn)}")
    likely = {who: [each.text for each in most_likely(model, 10)] for who, model in spoken.items()}
    for who, best in likely.items():
        print(f"most likely, {who}: {', '.join(best)}")
    result["most_likely"] = likely
    finish(options, result)


if __name__ == "__main__":
    main()
