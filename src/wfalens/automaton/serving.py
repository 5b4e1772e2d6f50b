"""Which automaton serves: the one that answers or, where that one cannot, the readable automaton that it carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA


class Recorded(NamedTuple):
    """How faithful an automaton was on held-out texts, as its extraction recorded it."""

    cr: float
    jsd: float
    texts: int
    sizes: int  # that were tried on these texts


class Serving(NamedTuple):
    """An automaton that serves, and a sentence that says so where it is not the one that answers."""

    wfa: StochasticWFA
    remark: str | None


def readable_of(wfa: WFA) -> Serving | None:
    """Who tells the story; None if nobody can."""
    return None if wfa.readable is None else Serving(wfa.readable, _remark(wfa, wfa.readable))


def stochastic_of(wfa: WFA) -> Serving | None:
    """Whose rows are distributions, as verification needs them; None if nobody's are."""
    return Serving(wfa, None) if isinstance(wfa, StochasticWFA) else readable_of(wfa)


def recorded(provenance: Mapping[str, Any]) -> Recorded | None:
    """What a choice of size or kind recorded of the chosen one, or training of its best epoch; else None."""
    for read in (_of_size, _of_kind, _of_training):
        try:
            best, texts, sizes = read(provenance)
            return Recorded(float(best["cr"]), float(best["jsd"]), int(texts), sizes)
        except (TypeError, KeyError, IndexError, StopIteration, ValueError, OverflowError):  # files are of anybody
            continue
    return None


def _of_size(provenance: Mapping[str, Any]) -> tuple[Any, Any, int]:
    frontier = provenance["frontier"]
    return frontier["tried"][frontier["chosen"]], frontier["texts"], len(frontier["tried"])


def _of_kind(provenance: Mapping[str, Any]) -> tuple[Any, Any, int]:
    choice = provenance["choice"]
    return next(each for each in choice["tried"] if each["kind"] == choice["chosen"]), choice["texts"], 1


def _of_training(provenance: Mapping[str, Any]) -> tuple[Any, Any, int]:
    return min(provenance["training"], key=lambda epoch: float(epoch["jsd"])), provenance["held_out"], 1


def readable_summary(wfa: WFA) -> dict[str, Any] | None:
    """What a person asks first about a readable automaton; None: there is none."""
    if wfa.attached_readable is None:
        return None
    found, about = recorded(wfa.attached_readable.provenance), wfa.attached_readable.summary()
    rates = {"cr": None, "jsd": None} if found is None else {"cr": found.cr, "jsd": found.jsd}
    return {"states": about["states"], "word_classes": about["word_classes"], **rates}


def _remark(wfa: WFA, serving: StochasticWFA) -> str | None:
    if serving is wfa:
        return None
    found = recorded(serving.provenance)
    rate = (
        "" if found is None else f" (CR {found.cr:.3f} with the network on {found.texts:,} extraction texts set aside)"
    )
    return f"from the readable automaton{rate}, not from the {wfa.kind} automaton that answers"
