"""Extraction from files of any size: the same bytes however the work is divided, stopped and taken up."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.errors import raises
from tests.stopping import stopping_after
from tests.streams import WORDS, corpus_files, small_model, some_texts, write_texts
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import InputError
from wfalens.extraction import Augmentation, Linear, Paper, Stochastic, completion_method, extract
from wfalens.extraction.stochastic.count_files import CountTask
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.scale.file_run import FileRun
from wfalens.scale.run_config import RunConfig
from wfalens.text import WordVectors
from wfalens.text.files import TextFiles

PLAIN = Paper(states=6)
MEMORY = 10**12
THREADS = {"engine": "threads", "workers": 2}


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture
def files(tmp_path):
    return corpus_files(tmp_path)


def stream_of(tmp_path, source, name="parts", **options):
    """A source and how it is read; the sample is smaller than the corpus, so that blocks are counted."""
    return source, RunConfig(**{"checkpoints": tmp_path / name, "memory": MEMORY, "sample_tokens": 1500, **options})


def extracted(
    extractor,
    model,
    stream,
):
    source, run = stream
    return extract(model, source, extractor, run=run)


def saved(tmp_path, extractor, model, stream):
    wfa = extracted(extractor, model, stream)
    wfa.save(tmp_path / "out.wfa")
    return (tmp_path / "out.wfa").read_bytes()


def words_of(files):
    return [line for path in files.paths for line in Path(path).read_text().splitlines()]


class TestDivision:
    @pytest.mark.parametrize("completion", ["null", "uniform", "empirical", "probe", "fit"])
    def test_bytes_do_not_depend_on_blocks_and_workers(self, tmp_path, files, model, completion):
        extractor = completion_method(completion, states=6)
        found = {
            saved(tmp_path, extractor, model, stream_of(tmp_path, files, f"{at}", **means))
            for at, means in enumerate([{"block_bytes": 1}, {"block_bytes": 5000, **THREADS}, {}])
        }
        assert len(found) == 1

    def test_looking_ahead_is_learned_on_the_sample_and_kept(self, tmp_path, files, model):
        extractor = Stochastic(states=6, abstraction="lookahead", completion="probe", alpha=0.4)
        whole = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "whole"))
        with stopping_after("counts", 4):
            extracted(extractor, model, stream_of(tmp_path, files, block_bytes=1))
        assert saved(tmp_path, extractor, model, stream_of(tmp_path, files, **THREADS)) == whole

    def test_bytes_do_not_depend_on_blocks_with_augmentation(self, tmp_path, files, model):
        vectors = WordVectors(
            WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32), "made up"
        )
        extractor = replace(PLAIN, augmentation=Augmentation(vectors=vectors, epochs=2, weight=0.5))
        one = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "one", block_bytes=1))
        two = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "two"))
        assert one == two
        assert one != saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "plain"))

    def test_many_blocks_are_merged_to_the_same_bytes(self, tmp_path, files, model):
        files = replace(files, block_bytes=150)
        many = saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "many", block_bytes=1))
        assert len(list((tmp_path / "many").glob("counts-*.block"))) > 64
        assert many == saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "few"))

    def test_what_is_open_is_chosen_on_the_sample(self, tmp_path, files, model):
        extractor = Paper(states="auto", alpha="auto", beta="auto")
        first = extracted(extractor, model, stream_of(tmp_path, files, "one", block_bytes=1))
        assert first.provenance["tuning"]["chosen"]["states"] == first.states - 1
        assert first.provenance["corpus"]["sample"]["tokens"] <= 1500
        first.save(tmp_path / "first.wfa")
        second = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "two", **THREADS))
        assert second == (tmp_path / "first.wfa").read_bytes()

    def test_a_linear_automaton_is_trained_on_the_sample(self, tmp_path, files, model):

        extractor = Linear(states=6, epochs=1)
        wfa = extracted(extractor, model, stream_of(tmp_path, files))
        assert wfa.kind == "linear"
        assert wfa.provenance["corpus"]["sample"]["tokens"] == wfa.word_counts.sum() <= 1500


class TestAgainstMemory:
    """A sample that holds the whole corpus decides as an extraction in memory does."""

    def test_counts_visits_and_centres_equal_those_in_memory(self, tmp_path, files, model):
        texts = [json.loads(line)["text"] for line in words_of(files)]
        streamed = extracted(PLAIN, model, stream_of(tmp_path, files, sample_tokens=10**6))
        held = extract(model, texts, PLAIN)
        assert isinstance(streamed, StochasticWFA)
        np.testing.assert_array_equal(streamed.word_counts, held.word_counts)
        np.testing.assert_array_equal(streamed.state_visits, held.state_visits)
        for one, two in zip(streamed.rows, held.rows, strict=True):
            np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(streamed.centres, held.centres, atol=1e-6)
        assert streamed.completion.beta == pytest.approx(held.completion.beta)
        assert streamed.provenance["corpus"]["texts"] == len(texts)
        assert streamed.provenance["corpus"]["tokens"] == held.word_counts.sum()

    def test_a_budget_of_queries_leaves_the_same_words(self, tmp_path, files, model):
        method, queries = completion_method("probe", states=6, representatives=2), 7 * 20 * 2
        texts = [json.loads(line)["text"] for line in words_of(files)]
        source, run = stream_of(tmp_path, files, sample_tokens=10**6)
        streamed = extract(model, source, method, run=run, queries=queries)
        held = extract(model, texts, method, queries=queries)
        np.testing.assert_array_equal(streamed.completion.rows.row_start, held.completion.rows.row_start)
        np.testing.assert_array_equal(streamed.rows.weight, held.rows.weight)

    def test_a_black_box_can_be_streamed(self, tmp_path, files, model):
        def lengths(texts):
            share = np.array([len(text) % 5 for text in texts]) / 5
            return np.column_stack([share, 1 - share])

        box = wrap(lengths, vocab=model.encoder, classes=("odd", "even"), reads="tokens")
        wfa = extracted(Paper(states=4), box, stream_of(tmp_path, files))
        assert wfa.word_counts.sum() == wfa.provenance["corpus"]["tokens"]


class TestFiles:
    @pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "parquet", "jsonl.gz", "csv.gz"])
    def test_every_format_gives_all_texts_from_any_block(self, tmp_path, ending):
        texts = some_texts(150)
        texts[7] = 'a "quoted" text,\nover two lines' if ending.startswith("jsonl") or ending == "parquet" else texts[7]
        files = TextFiles((str(write_texts(tmp_path / f"all.{ending}", texts)),), block_bytes=700)
        blocks = list(files.blocks(0))
        assert [text for block in blocks for text in block.texts] == texts
        assert len(blocks) > 5
        later = list(files.blocks(0, blocks[3].start, 3))
        assert [list(block.texts) for block in later] == [list(block.texts) for block in blocks[3:]]

    def test_patterns_find_files_in_the_order_of_their_names(self, tmp_path):
        for name in ("b", "a", "c"):
            write_texts(tmp_path / f"{name}.jsonl", ["w1"])
        found = TextFiles.find(str(tmp_path / "*.jsonl"))
        assert [path[-7:] for path in found.paths] == ["a.jsonl", "b.jsonl", "c.jsonl"]
        with pytest.raises(InputError, match="no file matches"):
            TextFiles.find(str(tmp_path / "*.parquet"))

    @pytest.mark.parametrize(
        ("name", "content", "place", "reason"),
        [
            ("bad.jsonl", b'{"text": "w1"}\n{"text": "w2"\n{"text": "w3"}\n', "line 2", "not JSON"),
            ("bad.jsonl", b'{"text": "w1"}\n{"label": "w2"}\n{"text": "w3"}\n', "line 2", "no field 'text'"),
            ("bad.jsonl", b'{"text": "w1"}\n{"text": "\xff"}\n{"text": "w3"}\n', "line 2", "is not utf-8"),
        ],
    )
    def test_a_bad_row_is_named_or_skipped_and_counted(self, tmp_path, model, name, content, place, reason):
        (tmp_path / name).write_bytes(content)
        files = TextFiles((str(write_texts(tmp_path / "good.jsonl", some_texts(100))), str(tmp_path / name)))
        with pytest.raises(InputError, match=rf"{name}: {place}: .*{reason}.*on_error"):
            extracted(PLAIN, model, stream_of(tmp_path, files))
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, on_error="skip"))  # goes on where it stopped
        corpus = wfa.provenance["corpus"]
        assert corpus["left_out"] == 1
        assert f"{name}: {place}: " in corpus["first_left_out"][0]
        assert corpus["texts"] == 102

    def test_a_damaged_archive_is_named(self, tmp_path, model):
        path = write_texts(tmp_path / "cut.jsonl.gz", some_texts(300))
        path.write_bytes(path.read_bytes()[:-200])
        with pytest.raises(InputError, match=r"cut\.jsonl\.gz: line \d+: damaged gzip"):
            extracted(PLAIN, model, stream_of(tmp_path, TextFiles((str(path),))))

    def test_a_file_that_is_none_of_ours_is_named_or_left_out(self, tmp_path, model):
        good, bad = write_texts(tmp_path / "good.jsonl", some_texts(100)), tmp_path / "bad.parquet"
        bad.write_bytes(b"PAR1 but no more")
        files = TextFiles((str(bad), str(good)))
        with pytest.raises(InputError, match=r"bad\.parquet: not a readable parquet file"):
            extracted(PLAIN, model, stream_of(tmp_path, files))
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, on_error="skip"))
        assert wfa.provenance["corpus"]["texts"] == 100
        assert wfa.provenance["corpus"]["left_out"] == 1


class TestResuming:
    @pytest.mark.parametrize(("kind", "number"), [("scan", 1), ("counts", 1), ("counts", 9)])
    def test_a_stopped_run_continues_to_the_same_bytes(self, tmp_path, files, model, kind, number):
        extractor = Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4)
        whole = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "whole", block_bytes=1))
        with stopping_after(kind, number):
            extracted(extractor, model, stream_of(tmp_path, files, block_bytes=1))
        assert saved(tmp_path, extractor, model, stream_of(tmp_path, files, block_bytes=4000)) == whole

    def test_what_was_counted_is_not_counted_again(self, tmp_path, files, model):
        with stopping_after("counts", 5):
            extracted(PLAIN, model, stream_of(tmp_path, files, block_bytes=1))
        extracted(PLAIN, model, stream_of(tmp_path, files, block_bytes=1, log=tmp_path / "log"))
        events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert events[0]["resumed"] is True
        assert "scan" not in [event["event"] for event in events]
        counted = [event for event in events if event["event"].startswith("counts")]
        assert len(counted) == len(list((tmp_path / "parts").glob("counts-*.block"))) - 5
        assert all(event["seconds"] >= 0 for event in counted)

    def test_another_model_other_files_or_parameters_are_refused(self, tmp_path, files, model):
        with stopping_after("counts", 1):
            extracted(PLAIN, model, stream_of(tmp_path, files))
        with raises("other-run", match="parameters alpha: 0.4 there, 0.1 here"):
            extracted(replace(PLAIN, alpha=0.1), model, stream_of(tmp_path, files))
        other = type(model).untrained(model.config, model.encoder, model.class_names, 5)
        with raises("other-run", match="model fingerprint"):
            extracted(PLAIN, other, stream_of(tmp_path, files))
        write_texts(tmp_path / "texts1.jsonl", some_texts(119, 1))
        with raises("other-run", match=r"files .*texts1\.jsonl"):
            extracted(PLAIN, model, stream_of(tmp_path, files))

    def test_a_damaged_block_is_named(self, tmp_path, files, model):
        stream = stream_of(tmp_path, files, block_bytes=1)
        extracted(PLAIN, model, stream)
        block = min(stream[1].checkpoints.glob("counts-*.block"))
        block.write_bytes(block.read_bytes()[:50])
        with raises("damaged", match=block.name):
            extracted(PLAIN, model, stream)


class TestFailing:
    def test_a_full_disk_is_one_error_and_the_run_goes_on_later(self, tmp_path, files, model, monkeypatch):
        stream = stream_of(tmp_path, files, block_bytes=1)
        real, calls = os.fsync, []

        def full(descriptor):
            calls.append(descriptor)
            if len(calls) > 9:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
            extracted(PLAIN, model, stream)
        kept = {path.name for path in stream[1].checkpoints.iterdir()}
        assert not any(name.startswith(".") for name in kept)
        assert any(name.startswith("counts-") for name in kept)
        monkeypatch.undo()
        resumed = saved(tmp_path, PLAIN, model, stream)
        assert resumed == saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "whole"))

    def test_a_block_that_fails_always_is_named_or_skipped_and_counted(self, tmp_path, files, model, monkeypatch):
        real = CountTask._counted

        def fails(self, model, job):
            if job.number == 3:
                raise RuntimeError("no luck")
            return real(self, model, job)

        monkeypatch.setattr(CountTask, "_counted", fails)
        with raises("block-failed", match="no luck"):
            extracted(PLAIN, model, stream_of(tmp_path, files, block_bytes=1))
        log = tmp_path / "log"
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, block_bytes=1, on_error="skip", log=log))
        assert wfa.provenance["corpus"]["left_out"] == 1
        assert "no luck" in wfa.provenance["corpus"]["first_left_out"][0]
        events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
        assert events.count("retry") == 2
        assert events.count("fail") == 1

    def test_too_little_memory_is_refused_at_once(self, tmp_path, files, model):
        with raises("memory"):
            extracted(PLAIN, model, stream_of(tmp_path, files, memory=10**8))
        assert not (tmp_path / "parts").exists()

    def test_memory_that_runs_out_ends_the_run_and_keeps_what_is_done(self, tmp_path, files, model, monkeypatch):
        monkeypatch.setattr("wfalens.scale.file_run.resident_with_children", lambda: 10**9)
        record = FileRun.record

        def grows(self, event, **facts):
            record(self, event, **facts)
            if event.startswith("counts"):
                monkeypatch.setattr("wfalens.scale.file_run.resident_with_children", lambda: 3 * 10**9)

        monkeypatch.setattr(FileRun, "record", grows)
        stream = stream_of(tmp_path, files, memory=2 * 10**9)
        with raises("memory"):
            extracted(PLAIN, model, stream)
        assert len(list(stream[1].checkpoints.glob("counts-*.block"))) == 1

    def test_a_corpus_without_words_is_refused(self, tmp_path, model):
        (tmp_path / "empty.jsonl").write_text('{"text": ""}\n{"text": "  "}\n')
        with pytest.raises(InputError, match="no text with a word"):
            extracted(PLAIN, model, stream_of(tmp_path, TextFiles((str(tmp_path / "empty.jsonl"),))))


def test_progress_counts_blocks(tmp_path, files, model):
    class Listener(Progress):
        def __init__(self):
            self.tasks, self.notes = {}, []

        def start(self, task, total=None):
            self.task = task
            self.tasks[task] = [total, 0]

        def advance(self, units=1, note=""):
            self.tasks[self.task][1] += units
            self.notes.append(note)

    listener = Listener()
    with shown_on(listener):
        extracted(PLAIN, model, stream_of(tmp_path, replace(files, block_bytes=500), block_bytes=1))
    total, done = listener.tasks["counting transitions"]
    assert total == done > 10


class Notes(Progress):
    def __init__(self):
        self.messages = []

    def say(self, message):
        self.messages.append(message)


@pytest.mark.parametrize("tokens", [1500, 10**9], ids=["sample", "whole"])
def test_truncated_texts_are_counted_among_all_texts(tmp_path, files, model, tokens):
    notes, texts = Notes(), [text for number in range(3) for text in some_texts(120, number)]
    cut = sum(len(text.split()) > model.encoder.max_length for text in texts)
    with shown_on(notes):
        extracted(PLAIN, model, stream_of(tmp_path, files, sample_tokens=tokens))
    assert [each for each in notes.messages if "truncated" in each] == [
        f"{cut} of {len(texts)} texts were truncated after 20 tokens"
    ]


def test_truncated_texts_of_a_sample_are_counted_among_those_that_were_read(tmp_path, files, model):
    notes = Notes()
    with shown_on(notes):
        extracted(Linear(states=4, epochs=1, hidden=8, factors=4), model, stream_of(tmp_path, files, sample_tokens=300))
    (note,) = [each for each in notes.messages if "truncated" in each]
    cut, _, read, *_ = note.split()
    assert 0 < int(cut) < int(read) <= 360
