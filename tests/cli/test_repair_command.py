"""Which training texts caused errors."""

import csv
import json

from tests.commands import ok
from tests.flaws import PLANTED


def test_errors_are_blamed_on_the_texts_that_taught_them(flaw_files, tmp_path):
    asked = ("repair", "blame", "flaw.wfa", "-m", "flaw.rnn", "--train", "train.csv", "--texts", "slice.csv")
    found = json.loads(ok(flaw_files, *asked, "-C", "blame.limit=20", "-o", tmp_path / "blamed.csv", "--json"))
    assert found["words"][0]["word"] == PLANTED
    with (tmp_path / "blamed.csv").open(newline="") as file:
        blamed = [row["text"] for row in csv.DictReader(file)]
    assert blamed == [row["text"] for row in found["training_texts"]]
    assert any(PLANTED in text for text in blamed)
