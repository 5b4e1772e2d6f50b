"""Commands on a model that reads characters: what they show are texts."""

import json

import pytest

from tests.cli.test_commands import wfalens
from tests.robustness.attack.test_run_attack_edits import NAMES, ends_in_a
from wfalens.extraction import Stochastic, extract
from wfalens.models import wrap
from wfalens.text import TextEncoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("characters")
    encoder = TextEncoder.of_texts([*NAMES, "ana maria"], "bigrams")
    model = wrap(ends_in_a, vocab=encoder, classes=("other", "a"), reads="tokens")
    extract(model, NAMES, Stochastic(states=2, completion="probe", alpha=0.0, abstraction="outputs")).save(
        folder / "names.wfa"
    )
    return folder


def test_explain_shows_texts_at_one_edit_and_visible_blanks(folder):
    done = wfalens("explain", "names.wfa", "--text", "ana maria", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "a␣" in done.stdout
    assert "ana␣mari" in done.stdout
    assert "lowest with" not in done.stdout
    told = json.loads(wfalens("explain", "names.wfa", "--text", "ana maria", "--json", cwd=folder).stdout)
    assert told["lowest_with"] == []
    edits = told["edits"]["counterfactuals"]
    assert edits
    assert not any(edit["text"].endswith("a") for edit in edits)
