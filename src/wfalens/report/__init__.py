"""A single page that shows an automaton, carries all its data, and needs neither server nor network; and its card."""

from wfalens.report.card import Card
from wfalens.report.collect import Extent, collect
from wfalens.report.study import Study
from wfalens.report.write_report import write_page, write_report

__all__ = ["Card", "Extent", "Study", "collect", "write_page", "write_report"]
