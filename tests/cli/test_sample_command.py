"""Strings of language models."""

from tests.commands import wfalens


def test_a_classifier_is_refused(workshop):
    assert wfalens("sample", "news.wfa", cwd=workshop).returncode == 2
    assert wfalens("sample", "hf:nothing", cwd=workshop).returncode == 2
