"""Writes the expected figures of the golden tests anew: `python -m tests.golden.regenerate [SUBJECT …]`.

The figures in `tests/golden/expected/` are those of version 0.2, before the redesign. They are to be written anew only
where a number is meant to change; the change then shows in the diff of a commit of its own, with the reason. Where the
API has changed and the numbers have not, adapt the functions at the top of `tests/integration/test_golden.py` and the
constructors in `tests/golden/build.py` instead. The inputs (`automata.json`, `model.json`, `grammar.json`) stay.

Without a subject, all are written. Subjects are the keys of `SUBJECTS` in `tests/integration/test_golden.py`.
"""

from __future__ import annotations

import json
import sys

from tests.integration.test_golden import EXPECTED, SUBJECTS, plain


def regenerate(subject: str) -> None:
    figures = {name: plain(figure()) for name, figure in SUBJECTS[subject]().items()}
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in figures.items()
    )
    path = EXPECTED / f"{subject.replace(' ', '_')}.json"
    path.write_text("{\n" + lines + "\n}\n", "utf-8")
    print(f"{path.name}: {len(figures)} figures, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    for name in sys.argv[1:] or SUBJECTS:
        regenerate(name)
