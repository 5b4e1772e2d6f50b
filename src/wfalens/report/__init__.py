"""A single page that shows an automaton, carries all its data, and needs neither server nor network; and its card."""

from wfalens.report.card import AutomatonCard
from wfalens.report.server import serve
from wfalens.report.study import Study, study_of
from wfalens.report.write_report import Extent, collect, write_page, write_report

__all__ = ["AutomatonCard", "Extent", "Study", "collect", "serve", "study_of", "write_page", "write_report"]
