"""Values over files: the same numbers however the work is divided, stopped and continued."""

import json

import numpy as np
import pytest

from tests.automata import linear_sample
from tests.errors import raises
from tests.streams import corpus_files, small_model, some_texts
from wfalens.errors import FormatError, InputError, ModelError
from wfalens.explanation import pair_importance, word_importance
from wfalens.explanation.importance import SumTask
from wfalens.extraction import Paper, extract
from wfalens.scale.run_config import RunConfig
from wfalens.text import Corpus

MEASURES = {"words": word_importance, "pairs": pair_importance}


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    files = corpus_files(tmp_path_factory.mktemp("texts"))
    texts = [text for seed in range(3) for text in some_texts(120, seed)]
    return files, texts, extract(small_model(), texts[:200], Paper(states=6))


def measured(setting, of="words", *, wfa=None, absence="delete", **options):
    files, _, usual = setting
    run = RunConfig(**{"memory": 10**12, "block_bytes": 1, **options})
    found = MEASURES[of](wfa or usual, files, min_count=1, absence=absence, run=run)
    return json.dumps(found.to_dict())


def stored(folder):
    return sorted(path for path in folder.rglob("*") if "sums" in path.name)


@pytest.mark.parametrize("of", ["words", "pairs"])
def test_files_give_the_numbers_of_texts_in_memory(setting, of):
    _, texts, wfa = setting
    held = json.dumps(MEASURES[of](wfa, texts, min_count=1).to_dict())
    assert measured(setting, of) == held
    for form in (Corpus.of(texts), wfa.encoder.encode(texts), np.array(texts)):
        assert json.dumps(MEASURES[of](wfa, form, min_count=1).to_dict()) == held


@pytest.mark.slow
@pytest.mark.parametrize("of", ["words", "pairs"])
def test_one_worker_and_two_give_the_same_numbers(tmp_path, setting, of):
    alone = measured(setting, of)
    assert measured(setting, of, engine="local", workers=2) == alone
    assert measured(setting, of, engine="serial", checkpoints=tmp_path / "checkpoints") == alone


def test_linear_automata_give_the_same_numbers_too(setting):
    wfa = linear_sample(1).wfa
    held = json.dumps(word_importance(wfa, setting[1], min_count=1).to_dict())
    assert measured(setting, wfa=wfa) == measured(setting, wfa=wfa, engine="threads", workers=2) == held


def test_a_stopped_run_continues_with_the_same_result(tmp_path, setting, monkeypatch):
    whole, folder, real = measured(setting), tmp_path / "checkpoints", SumTask.summed

    def stops(self, job):
        if job.number >= 5:
            raise KeyboardInterrupt
        return real(self, job)

    monkeypatch.setattr(SumTask, "summed", stops)
    with pytest.raises(KeyboardInterrupt):
        measured(setting, checkpoints=folder, engine="serial")
    kept = stored(folder)
    assert len(kept) == 5
    before = [path.stat().st_mtime_ns for path in kept]
    monkeypatch.undo()
    assert measured(setting, checkpoints=folder, engine="threads", workers=2) == whole
    assert [path.stat().st_mtime_ns for path in kept] == before  # these blocks were not read again
    kept[0].write_bytes(kept[0].read_bytes()[:50])
    with pytest.raises(FormatError):
        measured(setting, checkpoints=folder)


def test_checkpoints_of_another_question_are_refused(tmp_path, setting):
    folder = tmp_path / "checkpoints"
    measured(setting, checkpoints=folder)
    other = extract(small_model(), setting[1][:200], Paper(states=7))
    for options in ({"absence": "unknown"}, {"of": "pairs"}, {"wfa": other}):
        with pytest.raises(InputError, match="another run"):
            measured(setting, checkpoints=folder, **options)


def test_a_block_that_fails_is_named_or_left_out(tmp_path, setting, monkeypatch):
    real = SumTask.summed

    def fails(self, job):
        if job.number == 3:
            raise RuntimeError("no luck")
        return real(self, job)

    monkeypatch.setattr(SumTask, "summed", fails)
    with pytest.raises(ModelError, match="no luck"):
        measured(setting)
    folder = tmp_path / "checkpoints"
    left = json.loads(measured(setting, on_error="skip", checkpoints=folder))
    monkeypatch.undo()
    assert json.loads(measured(setting, on_error="skip", checkpoints=folder)) == left  # it is not tried again
    assert sum(left["counts"]) < sum(json.loads(measured(setting))["counts"])


def test_a_text_too_long_and_texts_without_words_are_refused():
    with raises("text-too-long"):
        pair_importance(linear_sample(1).wfa, ["w1 " * 501])
    with raises("no-words"):
        word_importance(linear_sample(1).wfa, [" ", ""])
