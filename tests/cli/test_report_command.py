"""The page and the card."""

from tests.commands import ok


def test_a_card_names_the_fidelity(workshop, tmp_path):
    ok(workshop, "report", "news.wfa", "-m", "news.rnn", "-c", "test.csv", "-o", tmp_path / "card.md")
    assert "CR" in (tmp_path / "card.md").read_text()
