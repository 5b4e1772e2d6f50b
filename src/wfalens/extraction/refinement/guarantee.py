"""What a fresh sample proves: a lower bound of agreement that holds with a given confidence (Clopper and Pearson)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Guarantee:
    """Of `texts` fresh texts automaton and model agree on `agreed`; the bound holds for all texts drawn like these."""

    agreed: int
    texts: int
    about: str  # which texts
    confidence: float = CONFIDENCE

    @property
    def rate(self) -> float:
        return self.agreed / self.texts

    @property
    def bound(self) -> float:
        """The least agreement that is compatible with the sample at this confidence."""
        return lower_bound(self.agreed, self.texts, self.confidence)

    def sentence(self, who: str = "the network") -> str:
        return (
            f"agrees with {who} on ≥ {_floored(self.bound)} % of texts like these, with {self.confidence:.0%} "
            f"confidence ({self.texts:,} fresh samples: {self.about})"
        )

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "rate": self.rate, "bound": self.bound}


def lower_bound(hits: int, total: int, confidence: float = CONFIDENCE) -> float:
    """The one-sided Clopper-Pearson bound of a share: exact, whatever the share is."""
    from scipy.stats import beta

    return 0.0 if hits == 0 else float(beta.ppf(1 - confidence, hits, total - hits + 1))


def _floored(share: float) -> str:
    """In percent with one digit, never rounded up."""
    return f"{int(share * 1000) / 10:.1f}"
