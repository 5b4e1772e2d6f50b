"""Coverage of a test set."""

import json

from tests.commands import ok


def test_coverage_for_people_and_machines(workshop):
    (workshop / "opinions.csv").write_text("text\nthe good film\nnot bad\n")
    assert json.loads(ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv", "--json"))
    assert ok(workshop, "monitor", "coverage", "readable.wfa", "-c", "opinions.csv")
