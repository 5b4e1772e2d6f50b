"""The search for what an extractor leaves open: in which views, over what, and for which share of the queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wfalens.automaton.completion import Fitted
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.extraction.building import build
from wfalens.extraction.choice.tuning import ALPHAS, BETAS, FIT_LADDER, LADDER, Tuning, choose
from wfalens.extraction.completion.queries import LOOK_AHEAD_SHARE, SEARCH_SHARE, Ledger
from wfalens.extraction.completion.questions import Attempt
from wfalens.extraction.options import AUTO, CORPUS
from wfalens.extraction.randomness import Step, stream_of
from wfalens.extraction.states.abstraction import ABSTRACTIONS, named_abstraction
from wfalens.extraction.states.views import Outputs, Seen, View, most_look_ahead_queries, see
from wfalens.models.contract import SteppableClassifier, StepwiseClassifier
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged

if TYPE_CHECKING:
    from wfalens.extraction.extractor import Extractor


@dataclass(frozen=True, eq=False)
class Settled:
    """An extractor that leaves nothing open, what was seen of the texts in its view, and how the search went."""

    extractor: Extractor
    seen: Seen
    view: View
    tuning: Tuning | None  # None: nothing was open


def settle(
    extractor: Extractor, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, progress: Progress
) -> Settled:
    """Look at the texts, and choose what is "auto"."""
    if not extractor.is_open:
        return Settled(extractor, *_look(extractor, model, ids, ledger, progress), None)
    names = _views(model, ids, ledger) if extractor.abstraction == AUTO else (extractor.abstraction,)
    tried = [replace(extractor, abstraction=name) for name in names]
    searches = [_search(each, model, ids, ledger, len(tried), progress) for each in tried]
    tuning = Tuning.best([found for found, _, _ in searches])
    seen, view = next((seen, view) for found, seen, view in searches if found.chosen is tuning.chosen)
    return Settled(tuning.settled(extractor), seen, view, tuning)


def _look(
    extractor: Extractor, model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger, progress: Progress
) -> tuple[Seen, View]:
    rng = stream_of(extractor.seed, Step.VIEW)
    view = named_abstraction(extractor.abstraction).view(model, ids, rng, ledger)
    ledger.texts += len(ids.values)
    return see(model, ids, view, progress), view


def _views(model: StepwiseClassifier, ids: Ragged[np.int32], ledger: Ledger) -> tuple[str, ...]:
    """The views to choose from: looking ahead needs a model that can be stepped, and queries."""
    most = ledger.share(LOOK_AHEAD_SHARE)
    looks = isinstance(model, SteppableClassifier) and (most is None or most_look_ahead_queries(ids) <= most)
    return tuple(ABSTRACTIONS) if looks else (Outputs.name,)


def _search(
    extractor: Extractor,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    ledger: Ledger,
    views: int,
    progress: Progress,
) -> tuple[Tuning, Seen, View]:
    """The search in one view, of so many.

    For speed it leaves out augmented texts and the fitting of rows, which gains alike for all settings.
    """
    fits = extractor.completion == Fitted.name
    seen, view = _look(extractor, model, ids, ledger, progress)
    ladder = (FIT_LADDER if fits else LADDER) if extractor.states == AUTO else (int(extractor.states),)
    alphas = ALPHAS if not fits else ALPHAS[:1]  # fitted rows know best when to stay
    beta = CORPUS if extractor.beta == AUTO else extractor.beta
    plain = replace(extractor, alpha=0.0, beta=beta, augmentation=None)

    def attempt(states: int, part: Seen, words: NDArray[np.int32]) -> StochasticWFA:
        share = SEARCH_SHARE / views / len(ladder)
        return build(replace(plain, states=states), model, part, view, {}, ledger, SILENT, Attempt(words, share))

    tuning = choose(
        seen,
        named_abstraction(extractor.abstraction).name,
        attempt,
        ladder,
        alphas if extractor.alpha == AUTO else (float(extractor.alpha),),
        BETAS if extractor.beta == AUTO else (),
        extractor.budget,
        stream_of(extractor.seed, Step.SEARCH),
        progress,
    )
    return tuning, seen, view
