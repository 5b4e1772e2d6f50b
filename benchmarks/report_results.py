"""Results of benchmarks as files: what a program printed, when, where and with which versions."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
NOT_RUN = ("common", "published_models", "report", "report_results", "scorers")
PACKAGES = ("wfalens", "numpy", "scipy", "scikit-learn", "numba", "torch", "pyarrow", "ray", "stormpy", "onnxruntime")


@dataclass(frozen=True)
class Result:
    """What one program printed, where and when."""

    name: str
    about: str
    quick: bool
    ended: str  # date and time, UTC
    seconds: float | None  # of processor time; None: not known
    machine: str
    versions: Mapping[str, str]  # package → version
    printed: str  # its tables
    figures: Mapping[str, object] | None  # the JSON object at the end; None: it gave none
    failure: str | None = None
    note: str | None = None  # what a reader must know, as that the figures come from an earlier version's page

    def path(self, folder: Path) -> Path:
        """Quick results lie apart, so that they never take the place of full ones."""
        return folder / "quick" / f"{self.name}.json" if self.quick else folder / f"{self.name}.json"

    def write(self, folder: Path) -> None:
        path = self.path(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path) -> Result:
    return Result(**json.loads(path.read_text(encoding="utf-8")))


def full_results(folder: Path) -> dict[str, Result]:
    """Full results by the program's name."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.json"))}


def best_results(folder: Path) -> list[Result]:
    """For every program its full result, or the quick one where there is no other, by name."""
    quick = {path.stem: read(path) for path in (folder / "quick").glob("*.json")}
    found = {**quick, **full_results(folder)}
    return [found[name] for name in sorted(found)]


def programs(folder: Path = FOLDER) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in NOT_RUN)


def about(name: str, folder: Path = FOLDER) -> str:
    """The first sentence of a program's docstring."""
    return (folder / f"{name}.py").read_text(encoding="utf-8").split('"""')[1].splitlines()[0]


def split_output(printed: str) -> tuple[str, dict[str, object] | None]:
    """What a person reads, and the JSON object in the last line where there is one."""
    lines = printed.rstrip().splitlines()
    try:
        figures = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        figures = None
    if not isinstance(figures, dict):
        return _tidy(lines), None
    return _tidy(lines[:-1]), figures


def _tidy(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).rstrip()


def machine() -> str:
    """Processor, cores and memory."""
    told = Path("/proc/cpuinfo")
    models = [line for line in told.read_text().splitlines() if line.startswith("model name")] if told.exists() else []
    name = models[0].partition(":")[2].strip() if models else platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return f"{name}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()} {platform.machine()}"


def versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
