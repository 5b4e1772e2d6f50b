"""Writing the report."""

from __future__ import annotations

from pathlib import Path

from wfalens.inspection import Study
from wfalens.inspection.page import report_html
from wfalens.progress import SILENT, Progress
from wfalens.report.collect import USUAL, Extent, collect
from wfalens.storage import write_atomically


def write_report(
    study: Study,
    path: str | Path,
    extent: Extent = USUAL,
    progress: Progress = SILENT,
) -> int:
    """One HTML file; returns its size in bytes."""
    page = report_html(f"{study.name} – wfalens", collect(study, extent, progress)).encode()
    write_atomically(Path(path), page)
    return len(page)
