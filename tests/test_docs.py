"""The code in the tutorial runs, and says what the text says it does."""

import re
from pathlib import Path

from wfalens.corpus import newsroom

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_the_tutorial_runs_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(), re.DOTALL)
    assert len(blocks) == 6
    names: dict[str, object] = {}
    source = (DOCS / "tutorial.md").read_text()
    for block in blocks[:5]:
        exec(block, names)  # noqa: S102 - our own text
    names["wfa"].save("newsroom.wfa")
    exec(blocks[5], names)  # noqa: S102
    assert "'us'" in source
    wfa, senate = names["wfa"], names["senate"]
    assert wfa.class_names[(senate[0] @ wfa.centres).argmax()] == newsroom.TRUTH.topic_of("senate") == "us"
    printed = capsys.readouterr().out
    rates = [float(rate) for rate in re.findall(r"CR (0\.\d+)", printed)]
    assert len(rates) == 4
    assert rates[0] < rates[1] < min(rates[2:])
