"""What the paper prints: its settings and its numbers, by data set."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.paper.paper_attacks import DEFAULT_STRONG, DEFAULT_WEAK, STRONG, WEAK

BETA = 0.3
BETAS = (0.1, 0.3, 0.5, 0.7, 0.9)
ALPHAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
STATES = (10, 20, 30, 40, 50)
FOUR_WORDS = {"basketball": ("sport",), "dollar": ("business",), "apple": ("business", "sci_tech"), "happy": ()}
COLLABORATIVE, ADVERSARIAL = (0.012, 0.1), (0.2, 0.01)  # (ε, δ)

# (completion, context, augmentation) -> CR, JSD, seconds
Rows = dict[tuple[str, bool, bool], tuple[float, float, float]]


@dataclass(frozen=True)
class Printed:
    """The settings and results of one data set; empty where the paper has none."""

    states: int = 40
    alpha: float = 0.4
    weak: float = DEFAULT_WEAK
    strong: float = DEFAULT_STRONG
    accuracy: float | None = None
    median_count: float | None = None
    rows: Rows = field(default_factory=dict)
    attacks: dict[tuple[str, int], float] = field(default_factory=dict)  # (recipe, k) -> ASR
    top_words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: dict[str, dict[str, tuple[str, str]]] = field(default_factory=dict)  # kind -> class -> pair


_TOP_WORDS = {
    name: tuple(words.split())
    for name, words in {
        "sport": "players lockout rangers sox knicks basketball coach bruins champions djokovic",
        "world": "libyan pakistan yemen sudan gaddafi syrian egypt mubarak syria afghans",
        "us": "florida county wildfire layoffs massachusetts mid-atlantic wildfires cpsc firefighters blagojevich",
        "business": "stocks dollar consumer goldman mortgage wall companies rosneft s&p sec",
        "health": "disease crackers cancer asthma patients exercise prevention symptoms therapy obesity",
        "entertainment": "idol cannes arthur gotti beaver mccreery mariah lohan baldwin diana",
        "sci_tech": "3ds playstation icloud software gmail windows tablets linkedin tablet climate",
    }.items()
}

_NEWS = Printed(
    accuracy=0.81,
    median_count=2,
    rows={
        ("null", False, False): (0.26, 0.25, 47),
        ("uniform", False, False): (0.60, 0.21, 56),
        ("empirical", False, False): (0.80, 0.10, 70),
        ("uniform", True, False): (0.71, 0.22, 64),
        ("empirical", True, False): (0.82, 0.13, 78),
        ("uniform", True, True): (0.76, 0.18, 81),
        ("empirical", True, True): (0.84, 0.12, 85),
    },
    attacks={
        ("nearest", 1): 0.17,
        ("nearest", 2): 0.22,
        ("weak", 1): 0.34,
        ("weak", 2): 0.46,
        ("strong", 1): 0.44,
        ("strong", 2): 0.59,
    },
    top_words=_TOP_WORDS,
    pairs={
        "collaborative": {
            "sport": ("lakers", "wozniacki"),
            "world": ("yemen", "gaddafi"),
            "us": ("wildfire", "texas"),
            "business": ("wall", "mortgage"),
            "health": ("therapy", "rice"),
            "entertainment": ("cannes", "bieber"),
            "sci_tech": ("climate", "software"),
        },
        "adversarial": {
            "sport": ("cup", "cups"),
            "world": ("yemen", "usa"),
            "us": ("wildfire", "tsunami"),
            "business": ("wall", "behind"),
            "health": ("exercise", "sports"),
            "entertainment": ("diana", "williams"),
            "sci_tech": ("windows", "open"),
        },
    },
)

_TOXIC = Printed(
    states=20,
    alpha=0.2,
    weak=WEAK["jigsaw_toxic"],
    strong=STRONG["jigsaw_toxic"],
    accuracy=0.90,
    rows={
        ("null", False, False): (0.57, 0.09, 167),
        ("uniform", False, False): (0.86, 0.06, 180),
        ("empirical", False, False): (0.91, 0.02, 200),
        ("uniform", True, False): (0.89, 0.06, 191),
        ("empirical", True, False): (0.92, 0.03, 211),
        ("uniform", True, True): (0.91, 0.05, 295),
        ("empirical", True, True): (0.94, 0.02, 315),
    },
    attacks={
        ("nearest", 1): 0.06,
        ("nearest", 2): 0.11,
        ("weak", 1): 0.11,
        ("weak", 2): 0.23,
        ("strong", 1): 0.15,
        ("strong", 2): 0.25,
    },
)

PRINTED = {"tagmynews": _NEWS, "jigsaw_toxic": _TOXIC}


def printed(dataset: str) -> Printed:
    """What the paper says of a data set; its news settings without results for any other."""
    return PRINTED.get(dataset, Printed())
