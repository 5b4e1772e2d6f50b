"""Fidelity over files: what an evaluation in memory says, however the work is divided, stopped and taken up."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.errors import raises
from tests.stopping import stopping_after
from tests.streams import BLOCK, corpus_files, small_model, some_labels, some_texts, write_texts
from wfalens.errors import InputError
from wfalens.evaluation import measure_fidelity
from wfalens.evaluation.compare_files import ComparisonTask
from wfalens.extraction import Paper, extract
from wfalens.progress import Progress, shown_on
from wfalens.scale.run_config import RunConfig
from wfalens.text import Corpus, read_corpus
from wfalens.text.files import TextFiles

BLOCKS = "compared-*.block"


@pytest.fixture(scope="module")
def setting(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    files, model = corpus_files(folder), small_model()
    lines = [line for path in files.paths for line in Path(path).read_text().splitlines()]
    texts = [json.loads(line)["text"] for line in lines]
    return files, model, texts, extract(model, texts[:200], Paper(states=6))


def streamed(tmp_path, setting, name="parts", *, label_column=None, **options):
    files, model, _, wfa = setting
    run = RunConfig(**{"checkpoints": tmp_path / name, "memory": 10**12, **options})
    source = replace(files, label_column=label_column)
    return measure_fidelity(wfa, model, source, run=run)


def with_files(setting, *paths):
    return (TextFiles(tuple(map(str, paths)), name="texts", block_bytes=BLOCK), *setting[1:])


def told(fidelity):
    return json.dumps(fidelity.to_dict())


def assert_alike(found, held):
    """Equal but for the last bits of a network that reads other texts beside a text."""
    assert type(found) is type(held)
    if isinstance(found, dict):
        assert list(found) == list(held)
        for name in found:
            assert_alike(found[name], held[name])
    elif isinstance(found, list | tuple):
        assert len(found) == len(held)
        for one, two in zip(found, held, strict=True):
            assert_alike(one, two)
    elif isinstance(found, float):
        assert found == pytest.approx(held, abs=1e-6)
    else:
        assert found == held


class Heard(Progress):
    def __init__(self):
        self.said = []

    def say(self, message):
        self.said.append(message)


class TestAgainstMemory:
    """A sample that holds the whole corpus makes the stand-ins comparable, too."""

    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "jsonl.gz"])
    def test_all_figures_are_those_in_memory(self, tmp_path, setting, ending):
        texts = some_texts(400, 5)
        texts[17] = ""
        path = write_texts(tmp_path / f"labelled.{ending}", texts, some_labels(400, 5))
        _, model, _, wfa = setting
        held = measure_fidelity(wfa, model, read_corpus(path))
        found = streamed(tmp_path, with_files(setting, path), block_bytes=1)
        assert found.overall.texts == 399
        assert 0 < found.model_accuracy.value < 1
        assert found.overall.cr == held.overall.cr
        assert (found.model_accuracy, found.automaton_accuracy) == (held.model_accuracy, held.automaton_accuracy)
        assert_alike(found.to_dict(), held.to_dict())
        np.testing.assert_allclose(found.selective.confidence, held.selective.confidence, atol=1e-5)

    def test_many_files_are_one_corpus(self, tmp_path, setting):
        parts = [(some_texts(70, seed), some_labels(70, seed)) for seed in (11, 12, 13)]
        endings = ("csv", "jsonl", "parquet")
        paths = [
            write_texts(tmp_path / f"{at}.{ending}", *part)
            for at, (ending, part) in enumerate(zip(endings, parts, strict=True))
        ]
        _, model, _, wfa = setting
        texts, labels = ([each for part in parts for each in part[column]] for column in (0, 1))
        held = measure_fidelity(wfa, model, Corpus.of(texts, labels))
        assert_alike(streamed(tmp_path, with_files(setting, *paths)).to_dict(), held.to_dict())

    def test_a_text_without_words_is_left_out_with_its_label(self, tmp_path, setting):
        model = setting[1]
        plain = replace(model.encoder, tokenizer="basic_english")  # drops semicolons
        plain = type(model).untrained(model.config, plain, model.class_names, 1)
        texts, labels = some_texts(60), some_labels(60)
        texts[3] = texts[20] = "; ;"
        path = write_texts(tmp_path / "x.jsonl", texts, labels)
        wfa = extract(plain, texts, Paper(states=4))
        held = measure_fidelity(wfa, plain, read_corpus(path))
        found = streamed(tmp_path, (with_files(setting, path)[0], plain, texts, wfa))
        assert found.overall.texts == 58
        assert_alike(found.to_dict(), held.to_dict())

    def test_without_labels_there_is_no_accuracy(self, tmp_path, setting):
        _, model, texts, wfa = setting
        found = streamed(tmp_path, setting)
        assert_alike(found.to_dict(), measure_fidelity(wfa, model, Corpus.of(texts)).to_dict())
        assert found.model_accuracy is None
        assert found.automaton_accuracy is None


class TestLabels:
    BAD = ({"label": ""}, "the label is missing"), ({"label": "z"}, "label 'z' .*is not one of the classes a, b, c")

    @pytest.mark.parametrize(("label", "reason"), BAD)
    def test_a_bad_label_is_refused_as_in_memory_or_left_out(self, tmp_path, setting, label, reason):
        path = write_texts(tmp_path / "x.jsonl", some_texts(50), some_labels(50))
        with path.open("a") as stream:
            stream.write(json.dumps({"text": "w1 w2"} | label) + "\n")
        _, model, _, wfa = setting
        with pytest.raises(InputError, match=reason):
            measure_fidelity(wfa, model, read_corpus(path))
        with pytest.raises(InputError, match=rf"x\.jsonl: line 51: {reason}.*on_error"):
            streamed(tmp_path, with_files(setting, path))
        heard = Heard()
        with shown_on(heard):
            assert streamed(tmp_path, with_files(setting, path), on_error="skip").overall.texts == 50
        assert any(said.startswith(f"left out 1 rows, blocks or files ({path}: line 51: ") for said in heard.said)

    def test_another_column_may_hold_them(self, tmp_path, setting):
        path = tmp_path / "x.csv"
        path.write_text("text,label,topic\nw1 w2,what,a\nw3,ever,b\n")
        found = streamed(tmp_path, with_files(setting, path), label_column="topic")
        assert found.model_accuracy is not None
        with pytest.raises(InputError, match=r"x\.csv: no column 'subject'"):
            streamed(tmp_path, with_files(setting, path), "other", label_column="subject")
        assert not (tmp_path / "other").exists()  # nothing was done, so nothing bars the way

    def test_labels_of_some_files_alone_are_not_used_and_that_is_said(self, tmp_path, setting):
        one = write_texts(tmp_path / "one.csv", some_texts(30), some_labels(30))
        two = write_texts(tmp_path / "two.csv", some_texts(30, 1))
        heard = Heard()
        with shown_on(heard):
            assert streamed(tmp_path, with_files(setting, one, two)).model_accuracy is None
        assert heard.said == [f"labels are not used: {two} has no column 'label'"]


class TestDivision:
    def test_figures_do_not_depend_on_blocks_and_workers(self, tmp_path, setting):
        files = corpus_files(tmp_path, labels=True)
        one = streamed(tmp_path, (files, *setting[1:]), "one", block_bytes=1)
        two = streamed(tmp_path, (files, *setting[1:]), "two", engine="threads", workers=3)
        assert told(one) == told(two)

    def test_bad_rows_end_the_evaluation_or_are_left_out(self, tmp_path, setting):
        (tmp_path / "bad.jsonl").write_text('{"text": "w1 w2"}\nnonsense\n')
        files = replace(setting[0], paths=(*setting[0].paths, str(tmp_path / "bad.jsonl")))
        worse = (files, *setting[1:])
        with pytest.raises(InputError, match=r"bad\.jsonl: line 2: not JSON"):
            streamed(tmp_path, worse)
        assert streamed(tmp_path, worse, "other", on_error="skip").overall.texts == len(setting[2]) + 1

    def test_an_evaluation_that_would_not_fit_is_refused(self, tmp_path, setting, monkeypatch):
        monkeypatch.setattr("wfalens.evaluation.compare_files._BYTES_PER_TEXT", 10**10)
        with raises("memory"):
            streamed(tmp_path, setting)

    def test_texts_without_words_are_refused(self, tmp_path, setting):
        path = write_texts(tmp_path / "empty.jsonl", ["", "  "], ["a", "b"])
        with pytest.raises(InputError, match="there is no text with a word in it"):
            streamed(tmp_path, with_files(setting, path))


class TestResuming:
    @pytest.mark.parametrize(("kind", "number"), [("scan", 2), ("compared", 1), ("compared", 9)])
    def test_a_stopped_run_continues_to_the_same_figures(self, tmp_path, setting, kind, number):
        mine = (corpus_files(tmp_path, labels=True), *setting[1:])
        whole = streamed(tmp_path, mine, "whole")
        with stopping_after(kind, number):
            streamed(tmp_path, mine, block_bytes=1)
        assert told(streamed(tmp_path, mine, block_bytes=4000, engine="threads", workers=2)) == told(whole)

    def test_what_was_compared_is_not_compared_again(self, tmp_path, setting):
        with stopping_after("compared", 5):
            streamed(tmp_path, setting, block_bytes=1)
        streamed(tmp_path, setting, log=tmp_path / "log")
        events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert [each["event"] for each in events] == ["start", *["compared"] * (len(events) - 2), "finish"]
        assert len(events) - 2 == len(list((tmp_path / "parts").glob(BLOCKS))) - 5
        assert events[0]["resumed"] is True
        assert events[-1]["texts"] == len(setting[2])

    def test_another_automaton_model_corpus_or_column_is_refused(self, tmp_path, setting):
        files, model, texts, wfa = setting
        files = corpus_files(tmp_path, labels=True)
        with stopping_after("compared", 1):
            streamed(tmp_path, (files, *setting[1:]))
        other = extract(model, texts[:200], Paper(states=7))
        with raises("other-run", match=r"automaton: "):
            streamed(tmp_path, (files, model, texts, other))
        trained = type(model).untrained(model.config, model.encoder, model.class_names, 5)
        with raises("other-run", match=r"model: "):
            streamed(tmp_path, (files, trained, texts, wfa))
        with raises("other-run", match=r"label_column: 'label' there, 'text' here"):
            streamed(tmp_path, (files, *setting[1:]), label_column="text")
        write_texts(tmp_path / "texts1.jsonl", some_texts(119, 1), some_labels(119))
        with raises("other-run", match=r"files .*texts1\.jsonl"):
            streamed(tmp_path, (files, *setting[1:]))

    def test_a_block_that_fails_always_is_named_or_left_out_and_not_tried_again(self, tmp_path, setting, monkeypatch):
        real = ComparisonTask._compared

        def fails(self, model, job):
            if job.number == 3:
                raise RuntimeError("no luck")
            return real(self, model, job)

        monkeypatch.setattr(ComparisonTask, "_compared", fails)
        with raises("block-failed", match="no luck"):
            streamed(tmp_path, setting, block_bytes=1)
        left = streamed(tmp_path, setting, block_bytes=1, on_error="skip")
        assert left.overall.texts < len(setting[2])
        monkeypatch.undo()
        heard = Heard()
        with shown_on(heard):
            assert told(streamed(tmp_path, setting, on_error="skip")) == told(left)
        assert "no luck" in heard.said[-1]

    def test_a_damaged_part_is_named(self, tmp_path, setting):
        streamed(tmp_path, setting, block_bytes=1)
        part = min((tmp_path / "parts").glob(BLOCKS))
        part.write_bytes(part.read_bytes()[:50])
        with raises("damaged", match=part.name):
            streamed(tmp_path, setting, block_bytes=1)
        part.unlink()
        assert told(streamed(tmp_path, setting)) == told(streamed(tmp_path, setting, "whole"))

    def test_a_folder_with_other_files_in_it_is_left_alone(self, tmp_path, setting):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "letter.txt").write_text("dear")
        with raises("checkpoints"):
            streamed(tmp_path, setting, "mine")
        assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
