"""The fidelity of an automaton to a language model, over all prefixes of texts, beside baselines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfalens import progress
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import Estimate, bootstrap_mean, check_pair
from wfalens.language.probability import Language, NextSymbolModel
from wfalens.language.string_baselines import Hankel, NGram, Spectral, best_ngram
from wfalens.ragged import Ragged
from wfalens.results import Result
from wfalens.text.corpus import as_texts

LAST_SYMBOL, SPECTRAL, TEXT_NGRAM = "last symbol", "spectral", "n-gram of the texts"
_RANKED = 5  # symbols that NDCG looks at
_FLOOR = 1e-12  # probability below which a divergence is cut off
_HELD_OUT = 0.1
_MOST_FITTED, _MOST_FLOATS = 300_000, 1 << 25  # symbols that baselines learn from, and numbers of their outputs


@dataclass(frozen=True)
class PrefixAgreement:
    """How close predictions are to a model over all prefixes of texts, and how well they predict the texts themselves.

    kl          mean Kullback-Leibler divergence of the next-symbol distributions from the model's, with its interval
    agreement   share of prefixes with the model's likeliest next symbol
    ndcg        how well the five likeliest symbols are ranked, by the model's probabilities: 1 is the model's own order
    mse         mean squared difference of the probabilities of whole texts
    perplexity  on the texts; perplexity_ratio: beside that of the model
    wer         word error rate: share of symbols and ends that are not the likeliest
    """

    kl: Estimate
    agreement: float
    ndcg: float
    mse: float
    perplexity: float
    perplexity_ratio: float
    wer: float


@dataclass(frozen=True, repr=False)
class LanguageModelFidelity(Result):
    """An automaton beside its language model and beside baselines; `prefixes` includes the empty ones."""

    texts: int
    prefixes: int
    model_perplexity: float
    model_wer: float
    automaton: PrefixAgreement
    baselines: dict[str, PrefixAgreement]

    @property
    def title(self) -> str:
        return f"{self.prefixes:,} prefixes of {self.texts:,} texts"

    def summary(self) -> str:
        """KL and perplexity of the automaton and of the baselines."""
        parts = {"automaton": self.automaton, **{f"baseline: {name}": item for name, item in self.baselines.items()}}
        lines = [f"{name}: KL {item.kl:.4f}, perplexity {item.perplexity:.3f}" for name, item in parts.items()]
        return "\n".join([self.title, f"model: perplexity {self.model_perplexity:.3f}", *lines])

    def rows(self) -> list[dict[str, Any]]:
        """One row for the automaton and for each baseline."""
        parts = {"automaton": self.automaton, **self.baselines}
        return [
            {"name": name, **asdict(each), "kl": each.kl.value, "kl_low": each.kl.low, "kl_high": each.kl.high}
            for name, each in parts.items()
        ]


def measure_language_model(
    wfa: WFA,
    model: NextSymbolModel,
    texts: Any,
    *,
    reference: Any = None,
    seed: int = 0,
) -> LanguageModelFidelity:
    """Compare an automaton with its language model on all prefixes of texts.

    Args:
        wfa: the automaton.
        model: the language model that it was extracted from.
        texts: texts that neither has seen; empty ones count, too. Those with symbols outside the alphabet of the model
            are left out.
        reference: texts that the baselines are fitted on (best: the extraction texts); without it there are none.
        seed: of intervals and samples.

    Examples:
        >>> from wfalens.evaluation import measure_language_model
        >>> copy = extract(letters, Corpus.of(["anna", "otto"]), Paper(states=4))
        >>> measure_language_model(copy, letters, ["anna", "otto"]).prefixes  # four letters, and the empty prefix
        10
    """
    check_pair(wfa, model)  # type: ignore[arg-type]
    language = Language.of(model)
    ids = _ids(language, texts)
    if len(ids) == 0:
        raise InputError("there is no text to compare automaton and model on", code="no-texts")
    fitted = {} if reference is None else baselines(language, _ids(language, reference), seed)
    measured = _measured(language, {"automaton": wfa, **fitted, "model": model}, ids, np.random.default_rng(seed))
    automaton, own = measured.pop("automaton"), measured.pop("model")
    prefixes = len(ids.values) + len(ids)
    return LanguageModelFidelity(len(ids), prefixes, own.perplexity, own.wer, automaton, measured)


def baselines(
    language: Language,
    ids: Ragged[np.int32],
    seed: int = 0,
) -> dict[str, NextSymbolModel]:
    """n-grams and the spectral method, fitted to the model's outputs on the texts, and an n-gram of the texts alone.

    Orders and ranks are chosen on a tenth of the texts.
    """
    rng = np.random.default_rng(seed)
    ids = _worded_part(ids, min(_MOST_FITTED, _MOST_FLOATS // len(language.prior)), rng)
    held, fit = ids.between(0, max(1, round(_HELD_OUT * len(ids)))), ids.between(round(_HELD_OUT * len(ids)), len(ids))
    progress.start("fitting baselines", 3)
    rows = language.rows(fit).values
    found: dict[str, NextSymbolModel] = {LAST_SYMBOL: NGram(language, fit, rows, 2)}
    targets = language.rows(held).values

    def divergence(baseline: NextSymbolModel) -> float:
        return float(_kl(targets, Language.of(baseline).rows(held).values).mean())

    grams = [NGram(language, fit, rows, order) for order in (3, 4, 5)]
    best = min(grams, key=divergence)
    found[f"{best.order}-gram"] = best
    progress.advance(1)
    hankel = Hankel(language, fit, rng)
    found[SPECTRAL] = min((Spectral(hankel, rank) for rank in hankel.ranks), key=divergence)
    progress.advance(1)
    fit, held = (part.take(language.inside_alphabet(part)) for part in (fit, held))
    if len(fit) and len(held):
        found[TEXT_NGRAM] = best_ngram(language, fit, held)
    progress.advance(1)
    progress.finish()
    return found


def _worded_part(ids: Ragged[np.int32], symbols: int, rng: np.random.Generator) -> Ragged[np.int32]:
    """Texts with symbols in random order, about so many symbols in all."""
    _, worded = ids.nonempty()
    if len(worded) < 2:
        raise InputError("baselines need at least two texts with symbols to learn from")
    order = rng.permutation(len(worded))
    most = int(np.searchsorted(np.cumsum(worded.lengths[order]), symbols)) + 1
    return worded.take(order[: max(2, most)])


def _ids(language: Language, texts: Any) -> Ragged[np.int32]:
    """Word ids; texts with symbols outside the model's alphabet, which have no probability, are left out."""
    ids = language.ids(texts if isinstance(texts, Ragged) else as_texts(texts))
    kept = language.inside_alphabet(ids)
    if len(kept) < len(ids):
        progress.say(f"left out {len(ids) - len(kept):,} texts with symbols outside the model's alphabet")
    return ids.take(kept)


def _measured(
    language: Language,
    predictors: dict[str, NextSymbolModel],
    ids: Ragged[np.int32],
    rng: np.random.Generator,
) -> dict[str, PrefixAgreement]:
    """One pass over the texts for all of them."""
    languages = {name: Language.of(each) for name, each in predictors.items()}
    sums: dict[str, list[NDArray[np.float64]]] = {name: [] for name in predictors}
    own_surprise: list[NDArray[np.float64]] = []
    progress.start("comparing on all prefixes", len(ids.values))
    for part in language.parts(ids):
        outputs, symbols = language.rows(part), language.targets(part)
        own_surprise.append(_by_text(_surprise(outputs.values, symbols), outputs.offsets))
        for name, other in languages.items():
            rows = other.rows(part).values
            figures = np.stack(
                [
                    _kl(outputs.values, rows),
                    (rows.argmax(1) == outputs.values.argmax(1)).astype(float),
                    _ndcg(outputs.values, rows),
                    _surprise(rows, symbols),
                    (rows.argmax(1) != symbols).astype(float),
                ],
                1,
            )
            sums[name].append(_by_text(figures, outputs.offsets))
        progress.advance(len(part.values))
    progress.finish()
    own, prefixes = np.concatenate(own_surprise), ids.lengths + 1
    return {name: _prefix_agreement(np.concatenate(found), own, prefixes, rng) for name, found in sums.items()}


def _prefix_agreement(
    sums: NDArray[np.float64], own: NDArray[np.float64], prefixes: NDArray[np.int64], rng: np.random.Generator
) -> PrefixAgreement:
    """From sums over the prefixes of each text. sums: (texts, 5), own: (texts,), the model's surprise"""
    means = sums.sum(0) / prefixes.sum()
    return PrefixAgreement(
        kl=bootstrap_mean(sums[:, 0], rng, prefixes),
        agreement=float(means[1]),
        ndcg=float(means[2]),
        mse=float(np.mean((np.exp(-sums[:, 3]) - np.exp(-own)) ** 2)),
        perplexity=float(np.exp(means[3])),
        perplexity_ratio=float(np.exp(means[3] - own.sum() / prefixes.sum())),
        wer=float(means[4]),
    )


def _surprise(rows: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """−ln of the probability of what came; (N, classes), (N,) -> (N,)"""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(rows[np.arange(len(targets)), targets]))


def _by_text(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.add.reduceat(values, offsets[:-1], axis=0))


def _kl(targets: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ p·ln(p/q), with q at least 1e-12; (N, classes) -> (N,)"""
    p, q = np.maximum(targets, _FLOOR), np.maximum(rows, _FLOOR)
    return np.asarray((targets * (np.log(p) - np.log(q))).sum(1))


def _ndcg(targets: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Normalised discounted cumulative gain of the likeliest symbols, whose gain is the model's probability; -> (N,)"""
    most = min(_RANKED, targets.shape[1])
    discount = 1 / np.log2(np.arange(most) + 2)
    best = -np.sort(-targets, axis=1)[:, :most]
    chosen = np.take_along_axis(targets, np.argsort(-rows, axis=1, kind="stable")[:, :most], 1)
    return np.asarray((chosen @ discount) / np.maximum(best @ discount, _FLOOR))
