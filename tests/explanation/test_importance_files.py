"""Values over files: the same numbers however the work is divided, stopped and taken up."""

import json

import numpy as np
import pytest
from wfalens.scale.journal import Journal

from tests.automata import linear_sample
from tests.errors import raises
from tests.streams import corpus_files, small_model, some_texts
from wfalens.errors import FormatError, InputError, ModelError
from wfalens.explanation import pair_importance, word_importance
from wfalens.explanation.shapley.shapley_blocks import SumTask
from wfalens.extraction import Paper, extract
from wfalens.progress import Progress, shown_on
from wfalens.scale.run_config import Run
from wfalens.text import Corpus

MEASURES = {"words": word_importance, "pairs": pair_importance}


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    files = corpus_files(tmp_path_factory.mktemp("texts"))
    texts = [text for seed in range(3) for text in some_texts(120, seed)]
    return files, texts, extract(small_model(), texts[:200], Paper(states=6))


def measured(setting, of="words", *, texts=None, wfa=None, absence="delete", **options):
    files, _, usual = setting
    run = Run(**{"memory": 10**12, "shard_bytes": 1, **options})
    found = MEASURES[of](wfa or usual, texts or files, min_count=1, absence=absence, run=run)
    return json.dumps(found.to_dict())


class Listener(Progress):
    def __init__(self):
        self.messages = []

    def say(self, message):
        self.messages.append(message)


class Stopped(Exception):  # noqa: N818
    pass


class StopsAfter(Journal):
    def __init__(self, number):
        self.left = number

    def write(self, event, **facts):
        self.left -= event == "shard"
        if self.left == 0:
            raise Stopped


@pytest.mark.parametrize("of", ["words", "pairs"])
def test_files_give_the_numbers_of_texts_in_memory(setting, of):
    _, texts, wfa = setting
    held = json.dumps(MEASURES[of](wfa, texts, min_count=1).to_dict())
    assert measured(setting, of) == held
    for form in (Corpus.of(texts), wfa.encoder.encode(texts), np.array(texts)):
        assert json.dumps(MEASURES[of](wfa, form, min_count=1).to_dict()) == held


@pytest.mark.parametrize("of", ["words", "pairs"])
def test_one_worker_and_two_give_the_same_numbers(tmp_path, setting, of):
    alone = measured(setting, of)
    assert measured(setting, of, engine="local", workers=2) == alone
    assert measured(setting, of, engine="local", workers=1, parts=tmp_path / "parts") == alone


def test_linear_automata_give_the_same_numbers_too(setting):
    wfa = linear_sample(1).wfa
    held = json.dumps(word_importance(wfa, setting[1], min_count=1).to_dict())
    assert measured(setting, wfa=wfa) == measured(setting, wfa=wfa, engine="local", workers=2) == held


def test_a_stopped_run_goes_on_and_ends_alike(tmp_path, setting):
    whole, parts = measured(setting), tmp_path / "parts"
    with pytest.raises(Stopped):
        measured(setting, parts=parts, journal=StopsAfter(5))
    assert len(list(parts.glob("summed-*.part"))) == 5
    listener = Listener()
    with shown_on(listener):
        assert measured(setting, parts=parts, engine="local", workers=2) == whole
    assert listener.messages[0].startswith("going on: 5 of ")
    assert listener.messages[0].endswith(" shards are explained already")
    part = min(parts.glob("summed-*.part"))
    part.write_bytes(part.read_bytes()[:50])
    with pytest.raises(FormatError, match=rf"{part.name}: damaged .*remove this file and run again"):
        measured(setting, parts=parts)


def test_parts_of_another_question_are_refused(tmp_path, setting):
    parts = tmp_path / "parts"
    measured(setting, parts=parts)
    with pytest.raises(InputError, match=r"belongs to another run \(absence: 'delete' there, 'unknown' here"):
        measured(setting, parts=parts, absence="unknown")
    with pytest.raises(InputError, match=r"belongs to another run \(sums: 'words' there, 'pairs' here"):
        measured(setting, "pairs", parts=parts)
    other = extract(small_model(), setting[1][:200], Paper(states=7))
    with pytest.raises(InputError, match=r"belongs to another run \(automaton: "):
        measured(setting, parts=parts, wfa=other)


def test_a_shard_that_fails_is_named_or_left_out(tmp_path, setting, monkeypatch):
    real = SumTask.summed

    def fails(self, shard):
        if shard.number == 3:
            raise RuntimeError("no luck")
        return real(self, shard)

    monkeypatch.setattr(SumTask, "summed", fails)
    with pytest.raises(ModelError, match=r"texts\d\.jsonl, blocks \d+.*failed 3 times: RuntimeError: no luck"):
        measured(setting)
    listener = Listener()
    with shown_on(listener):
        left = json.loads(measured(setting, on_bad="skip", parts=tmp_path / "parts"))
    assert "no luck" in listener.messages[-1]
    whole = json.loads(measured(setting, on_bad="skip", parts=tmp_path / "parts"))
    assert left == whole  # it is not tried again
    monkeypatch.undo()
    assert sum(left["counts"]) < sum(json.loads(measured(setting))["counts"])


def test_a_text_too_long_and_texts_without_words_are_refused():
    with raises("text-too-long"):
        pair_importance(linear_sample(1).wfa, ["w1 " * 501])
    with raises("no-words"):
        word_importance(linear_sample(1).wfa, [" ", ""])
