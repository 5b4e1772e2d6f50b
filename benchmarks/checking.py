"""How often a network does what a witness on its automaton promises, and how far Storm's answers are from fixed words.

Questions of `wfalens check` after texts of the test set: of toxic comments where the data folder has them, of news
titles else. "Gap" is between Storm's answer, for a player who sees the state, and the best fixed words.
"""

from __future__ import annotations

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from common import arguments, data_sets, finish, show, trained_model
from wfalens.extraction import Stochastic, extract
from wfalens.robustness import Question, check

POLITE = (  # noqa: SIM905 - as a list it would fill a page
    "please thanks thank sorry welcome kind kindly respect appreciate grateful regards hello dear wonderful great nice "
    "help glad happy cheers apologies love best agree good"
).split()
TOXIC = (
    ("polite words", POLITE, "nontoxic", Question("raise", "toxic", 3)),
    ("polite words", POLITE, "toxic", Question("lower", "toxic", 3)),
    ("polite words", POLITE, "toxic", Question("lower", "toxic", 10)),
    ("stop words", sorted(ENGLISH_STOP_WORDS), "nontoxic", Question("push", "toxic", 3)),
)
NEWS = (("stop words", sorted(ENGLISH_STOP_WORDS), "sport", Question("push", "world", 3)),)


def asked(wfa, model, about: Question, words: list[str], texts: list[str]) -> dict[str, float]:
    answers = [
        check(wfa, about, [word for word in words if word in wfa.encoder.vocabulary], text, model=model)
        for text in texts
    ]
    witnesses = [answer.witness for answer in answers]
    readings = [(each.automaton, each.model) for each in witnesses]
    flips = [(one, other) for one, other in readings if one.label_after != one.label_before == other.label_before]
    return {
        "texts": len(texts),
        "agrees": float(np.mean([each.model_agrees for each in witnesses])),
        "automaton_change": float(np.mean([one.after - one.before for one, _ in readings])),
        "model_change": float(np.mean([other.after - other.before for _, other in readings])),
        "flips": len(flips),
        "model_flips": sum(one.label_after == other.label_after for one, other in flips),
        "gap": max(abs(answer.value - answer.witness.value) for answer in answers),
        "optimal": float(np.mean([each.optimal for each in witnesses])),
    }


def main() -> None:
    options = arguments(__doc__.splitlines()[0])
    number, rows, result = 20 if options.quick else 100, [], {}
    name, train, test = list(data_sets(options))[-1]
    model = trained_model(name, train, options.quick)
    toxic = name == "jigsaw_toxic"
    wfa = extract(
        model,
        train,
        Stochastic(
            states=20 if toxic or options.quick else 40,
            abstraction="outputs",
            completion="probe" if options.quick else "fit",
            alpha=0.0,
        ),
    )
    order = np.random.default_rng(0).permutation(len(test))
    labels = wfa.predict_indices([test.texts[at] for at in order])
    for title, words, start, about in TOXIC if toxic else NEWS:
        chosen = order[labels == wfa.class_names.index(start)][:number]
        found = asked(wfa, model, about, words, [test.texts[at] for at in chosen])
        key = f"{about.name} {about.class_name}, {about.count} {title}"
        result[key] = found
        changes = f"{found['automaton_change']:+.3f} / {found['model_change']:+.3f}"
        flips = f"{found['model_flips']} of {found['flips']}"
        rows.append([key, f"{found['agrees']:.2f}", changes, flips, found["gap"]])
    columns = [
        "after texts of the other class",
        "network agrees",
        "change: automaton / network",
        "flips followed",
        "gap",
    ]
    show(f"{name}: {number} texts each", columns, rows)
    finish(options, result)


if __name__ == "__main__":
    main()
