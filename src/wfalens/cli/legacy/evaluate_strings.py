"""`wfalens evaluate` for automata of language models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfalens import progress
from wfalens.cli.legacy.inputs import USUAL, Reader
from wfalens.cli.legacy.output import print_table, say
from wfalens.models.wrapping import wrap

if TYPE_CHECKING:
    import numpy as np

    from wfalens.automaton import WFA
    from wfalens.evaluation.language_models import LanguageModelFidelity, PrefixAgreement
    from wfalens.language.probability import NextSymbolModel
    from wfalens.ragged import Ragged
    from wfalens.text.corpus import Corpus


@dataclass(frozen=True)
class EvaluatedStrings:
    """The fidelity of an automaton to a language model on a corpus."""

    corpus: str
    fidelity: LanguageModelFidelity

    def to_json(self, automaton: Path) -> dict[str, Any]:
        return {"automaton": str(automaton), "corpus": self.corpus, **self.fidelity.to_dict()}


def evaluate_strings(
    wfa: WFA,
    model: str,
    corpus: str,
    *,
    reference: str | None = None,
    reader: Reader = USUAL,
) -> EvaluatedStrings:
    """Compare an automaton with its language model on all prefixes of a corpus; stand-ins learn from `reference`."""
    from wfalens.evaluation.language_models import measure_language_model

    texts = reader.corpus(corpus, "test", labels=False)
    fit_on = reader.corpus(reference, "train", labels=False) if reference else None
    network: Any = wrap(model, vocab=wfa.encoder)
    ids = spoken_texts(network, texts)
    known = None if fit_on is None else spoken_texts(network, fit_on)
    return EvaluatedStrings(texts.name, measure_language_model(wfa, network, ids, reference=known))


def spoken_texts(
    model: NextSymbolModel,
    texts: Corpus,
) -> Ragged[np.int32]:
    """The texts whose symbols are all in the alphabet of a language model; the others are counted and left out."""
    from wfalens.language import Language

    language = Language.of(model)
    ids = language.ids(texts.texts)
    kept = language.inside_alphabet(ids)
    if len(kept) < len(ids):
        left_out = len(ids) - len(kept)
        progress.say(f"left out {left_out:,} texts of {texts.name} with symbols outside the model's alphabet")
    return ids.take(kept)


def print_strings(name: str, done: EvaluatedStrings) -> None:
    from wfalens.evaluation.language_models import TEXT_NGRAM

    found = done.fidelity

    def row(who: str, item: PrefixAgreement) -> list[str]:
        return [
            who,
            f"{item.kl:.4f}",
            f"{item.agreement:.3f}",
            f"{item.ndcg:.3f}",
            f"{item.mse:.3g}",
            f"{item.perplexity:.3f}",
            f"{item.perplexity_ratio:.3f}",
            f"{item.wer:.3f}",
        ]

    columns = ["", "KL [95 %]", "same", "NDCG", "MSE", "perpl.", "ratio", "WER"]
    rows = [["network", "", "", "", "", f"{found.model_perplexity:.3f}", "1.000", f"{found.model_wer:.3f}"]]
    rows.append(row("automaton", found.automaton))
    rows += [row(f"stand-in: {who}", item) for who, item in found.baselines.items()]
    print_table(f"{name} on {done.corpus}: {found.prefixes:,} prefixes of {found.texts:,} texts", columns, rows)
    say("KL, same (likeliest symbol) and NDCG: over all prefixes; MSE: of the probabilities of whole texts;")
    say("perplexity (ratio: to the network's) and WER (likeliest symbol is wrong): on the texts themselves")
    simple = found.baselines.get(TEXT_NGRAM)
    if simple is not None and simple.perplexity < found.model_perplexity:
        say(
            f"an n-gram of the texts foretells them better ({simple.perplexity:.3f}) than the network "
            f"({found.model_perplexity:.3f}): the copy may be faithful, but its original could be trained better"
        )
    if not found.baselines:
        say("stand-ins (n-grams, spectral) are measured beside it with --reference TEXTS")
