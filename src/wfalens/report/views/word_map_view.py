"""The strongest words of each class, placed by what they do and by what they mean."""

from __future__ import annotations

from typing import Any

from wfalens.explanation.embeddings import word_maps
from wfalens.report.study import Study, short


def word_map(study: Study, per_class: int = 50) -> dict[str, Any]:
    """Two maps of the same words; they show which words are neighbours, not how far apart others are."""
    maps = word_maps(study.wfa, study.meanings, per_class=per_class, min_count=study.usual_count, seed=study.seed)
    return {
        "class_names": list(maps.class_names),
        "words": list(maps.words),
        "classes": maps.classes.tolist(),
        "spaces": [
            {"name": name, "points": short(points, 2), "purity": round(maps.purity[name], 3)}
            for name, points in maps.points.items()
        ],
    }
