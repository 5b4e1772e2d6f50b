"""Figures of explanations."""

from io import BytesIO

import pytest

from wfalens.explanation import influence, word_maps
from wfalens.report import plots
from wfalens.text.datasets import newsroom


@pytest.mark.slow
def test_figures_are_drawn_with_titles_and_axes(newsroom_wfa):
    scores = influence(newsroom_wfa)
    words = ["senate", "coach", "apple", "the"]
    figures = [
        plots.influence_bars(scores, words),
        plots.top_words(scores),
        plots.attribution_bars(newsroom_wfa.explain("the $enate $ votes")),
        plots.word_maps(word_maps(newsroom_wfa, newsroom.vectors(), per_class=5)),
    ]
    for figure in figures:
        blob = BytesIO()
        figure.savefig(blob, format="png")
        assert len(blob.getvalue()) > 5000
        assert all(axes.get_title() for axes in figure.axes)
