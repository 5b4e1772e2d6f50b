"""Writing the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wfalens.report.collect import USUAL, Extent, collect
from wfalens.report.page import report_html
from wfalens.report.views import Study
from wfalens.storage import write_atomically


def write_report(
    study: Study,
    path: str | Path,
    extent: Extent = USUAL,
) -> int:
    """One HTML file; returns its size in bytes."""
    return write_page(collect(study, extent), path)


def write_page(data: dict[str, Any], path: str | Path) -> int:
    """The page of data that was collected already."""
    page = report_html(f"{data['overview']['name']} – wfalens", data).encode()
    write_atomically(Path(path), page)
    return len(page)
