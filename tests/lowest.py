"""The lowest versions that the base installation allows, as constraints for pip: `python -m tests.lowest`."""

from __future__ import annotations

import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(requirements: list[str]) -> list[str]:
    """`numpy>=2.0` -> `numpy==2.0`."""
    return [each.replace(">=", "==") for each in requirements]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(PROJECT.read_text())["project"]["dependencies"])))
