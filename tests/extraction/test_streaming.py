"""Extraction from files of any size: the same bytes however the work is divided, stopped and taken up."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from wfalens.extraction.counts.count_parts import CountParts
from wfalens.scale.engines.local import SerialEngine, ThreadEngine
from wfalens.scale.journal import FileJournal, Journal

from tests.streams import WORDS, corpus_files, small_model, some_texts, write_texts
from wfalens.automaton.stochastic import StochasticWFA
from wfalens.errors import FormatError, InputError
from wfalens.extraction import Augmentation, Linear, Paper, Stochastic, extract
from wfalens.extraction.counts import count_parts
from wfalens.models import wrap
from wfalens.progress import Progress, shown_on
from wfalens.scale.checkpoints import PartsFolder
from wfalens.scale.run_config import Run
from wfalens.text import WordVectors
from wfalens.text.files import TextFiles

PLAIN = Paper(states=6)
ROOM = 10**12


@pytest.fixture(scope="module")
def model():
    return small_model()


@pytest.fixture
def files(tmp_path):
    return corpus_files(tmp_path)


def stream_of(tmp_path, source, name="parts", **options):
    """A source and how it is read; the sample is smaller than the corpus, so that shards are counted."""
    return source, Run(**{"parts": tmp_path / name, "memory": ROOM, "sample_tokens": 1500, **options})


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
    def test_bytes_do_not_depend_on_shards_and_workers(self, tmp_path, files, model, completion):
        extractor = Extractor.paper(states=6, completion=completion)
        found = {
            saved(tmp_path, extractor, model, stream_of(tmp_path, files, f"{at}", shard_bytes=size, engine=engine))
            for at, (size, engine) in enumerate([(1, SerialEngine()), (5000, ThreadEngine(3)), (None, SerialEngine())])
        }
        assert len(found) == 1

    def test_looking_ahead_is_learned_on_the_sample_and_kept(self, tmp_path, files, model):
        extractor = Stochastic(states=6, abstraction="lookahead", completion="probe", alpha=0.4)
        whole = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "whole"))
        with pytest.raises(Stopped):
            extracted(extractor, model, stream_of(tmp_path, files, shard_bytes=1, journal=StopsAfter("shard", 4)))
        assert saved(tmp_path, extractor, model, stream_of(tmp_path, files, engine=ThreadEngine(2))) == whole

    def test_bytes_do_not_depend_on_shards_with_augmentation(self, tmp_path, files, model):
        vectors = WordVectors(
            WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)).astype(np.float32), "made up"
        )
        extractor = replace(PLAIN, augmentation=Augmentation(vectors=vectors, epochs=2, weight=0.5))
        one = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "one", shard_bytes=1))
        two = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "two"))
        assert one == two
        assert one != saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "plain"))

    def test_many_shards_are_merged_in_a_tree_to_the_same_bytes(self, tmp_path, files, model, monkeypatch):
        monkeypatch.setattr(count_parts, "FAN", 4)
        files = replace(files, block_bytes=150)
        stream = stream_of(tmp_path, files, "many", shard_bytes=1)
        many = saved(tmp_path, PLAIN, model, stream)
        parts = CountParts(PartsFolder(stream[1].parts, json.loads((stream[1].parts / "manifest.json").read_text())))
        assert len(parts.covered) > 4**3
        assert len(parts.names) < len(parts.covered) / 8
        assert many == saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "few"))

    def test_what_is_open_is_chosen_on_the_sample(self, tmp_path, files, model):
        extractor = Paper(states="auto", alpha="auto", beta="auto")
        first = extracted(extractor, model, stream_of(tmp_path, files, "one", shard_bytes=1))
        assert first.provenance["tuning"]["chosen"]["states"] == first.states - 1
        assert first.provenance["corpus"]["sample"]["tokens"] <= 1500
        first.save(tmp_path / "first.wfa")
        second = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "two", engine=ThreadEngine(2)))
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
        extractor = Extractor.paper(states=6, completion="probe", queries=7 * 20 * 2, representatives=2)
        texts = [json.loads(line)["text"] for line in words_of(files)]
        streamed = extracted(extractor, model, stream_of(tmp_path, files, sample_tokens=10**6))
        held = extract(model, texts, extractor)
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
    def test_every_format_gives_all_texts_from_any_shard(self, tmp_path, ending):
        texts = some_texts(150)
        texts[7] = 'a "quoted" text,\nover two lines' if ending.startswith("jsonl") or ending == "parquet" else texts[7]
        files = TextFiles((str(write_texts(tmp_path / f"all.{ending}", texts)),), block_bytes=700)
        blocks = list(files.blocks(0))
        assert [text for block in blocks for text in block.texts] == texts
        assert len(blocks) > 5
        later = list(files.blocks(0, blocks[3].start, 3))
        assert [list(block.texts) for block in later] == [list(block.texts) for block in blocks[3:]]

    def test_a_quoted_value_over_lines_stays_whole(self, tmp_path):
        path = tmp_path / "lines.csv"
        path.write_text('\ufefftext,label\n"one\ntwo ""three""",x\n\nfour,y\n"  ",z\nfive,x\n')
        blocks = list(TextFiles((str(path),), block_bytes=1).blocks(0))
        assert [text for block in blocks for text in block.texts] == ['one\ntwo "three"', "four", "five"]
        assert [block.place(0) for block in blocks] == [f"{path}: line {line}" for line in (2, 5, 7)]

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
            ("bad.csv", b"text,label\nw1,x\nw2\nw3,x\n", "line 3", "1 columns where the header has 2"),
            ("bad.csv", b"text,label\nw1,x\n\xff,x\nw3,x\n", "line 3", "byte 0xff is not utf-8"),
            ("bad.csv", b'text,label\nw1,x\n"w2"x,x\nw3,x\n', "line 3", "broken quoting"),
        ],
    )
    def test_a_bad_row_is_named_or_skipped_and_counted(self, tmp_path, model, name, content, place, reason):
        (tmp_path / name).write_bytes(content)
        files = TextFiles((str(write_texts(tmp_path / "good.jsonl", some_texts(100))), str(tmp_path / name)))
        with pytest.raises(InputError, match=rf"{name}: {place}: .*{reason}.*--on-bad skip"):
            extracted(PLAIN, model, stream_of(tmp_path, files))
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, on_bad="skip"))  # goes on where it stopped
        corpus = wfa.provenance["corpus"]
        assert corpus["left_out"] == 1
        assert f"{name}: {place}: " in corpus["first_left_out"][0]
        assert corpus["texts"] == (101 if "quoting" in reason else 102)

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
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, on_bad="skip"))
        assert wfa.provenance["corpus"]["texts"] == 100
        assert wfa.provenance["corpus"]["left_out"] == 1


class Stopped(Exception):  # noqa: N818
    pass


class StopsAfter(Journal):
    def __init__(self, event, number):
        self.event, self.left = event, number

    def write(self, event, **facts):
        self.left -= event == self.event
        if self.left == 0:
            raise Stopped


class TestResuming:
    @pytest.mark.parametrize(
        ("event", "number"), [("survey", 1), ("plan", 1), ("shard", 1), ("shard", 9), ("probe", 1)]
    )
    def test_a_stopped_run_goes_on_to_the_same_bytes(self, tmp_path, files, model, event, number):
        extractor = Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4)
        whole = saved(tmp_path, extractor, model, stream_of(tmp_path, files, "whole", shard_bytes=1))
        with pytest.raises(Stopped):
            extracted(extractor, model, stream_of(tmp_path, files, shard_bytes=1, journal=StopsAfter(event, number)))
        assert saved(tmp_path, extractor, model, stream_of(tmp_path, files, shard_bytes=4000)) == whole

    def test_what_was_counted_is_not_counted_again(self, tmp_path, files, model, monkeypatch):
        with pytest.raises(Stopped):
            extracted(PLAIN, model, stream_of(tmp_path, files, shard_bytes=1, journal=StopsAfter("shard", 5)))
        log = FileJournal(tmp_path / "log")
        extracted(PLAIN, model, stream_of(tmp_path, files, journal=log))
        events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert events[0]["resumed"] is True
        assert "survey" not in [event["event"] for event in events]
        shards = [event["shard"] for event in events if event["event"] == "shard"]
        assert shards == list(range(5, 5 + len(shards)))
        assert all(event["seconds"] >= 0 and event["tokens"] > 0 for event in events if event["event"] == "shard")

    def test_a_part_that_was_merged_and_left_is_not_counted_twice(self, tmp_path, files, model):
        stream = stream_of(tmp_path, files, shard_bytes=1)
        whole = saved(tmp_path, PLAIN, model, stream)
        manifest = json.loads((stream[1].parts / "manifest.json").read_text())
        folder = PartsFolder(stream[1].parts, manifest)
        parts = CountParts(folder)
        names = [name for name in parts.names if name.count("-") == 1][:2]
        single = [folder.path / f"{name}.part" for name in names]
        kept = [(path, path.read_bytes()) for path in single]
        parts.merge(names)
        for path, blob in kept:
            path.write_bytes(blob)  # as if killed before they were removed
        folder.close()
        assert saved(tmp_path, PLAIN, model, stream) == whole
        assert not any(path.exists() for path in single)

    def test_another_model_other_files_or_parameters_are_refused(self, tmp_path, files, model):
        with pytest.raises(Stopped):
            extracted(PLAIN, model, stream_of(tmp_path, files, journal=StopsAfter("shard", 1)))
        with pytest.raises(InputError, match=r"belongs to another run \(parameters alpha: 0\.4 there, 0\.1 here"):
            extracted(replace(PLAIN, alpha=0.1), model, stream_of(tmp_path, files))
        with pytest.raises(InputError, match="model fingerprint"):
            extracted(
                PLAIN,
                type(model).untrained(model.config, model.encoder, model.class_names, 5),
                stream_of(tmp_path, files),
            )
        write_texts(tmp_path / "texts1.jsonl", some_texts(119, 1))
        with pytest.raises(InputError, match=r"files .*texts1\.jsonl"):
            extracted(PLAIN, model, stream_of(tmp_path, files))

    def test_two_runs_do_not_share_a_folder(self, tmp_path, files, model):
        class SecondRun(Journal):
            def write(self, event, **facts):
                if event == "plan":
                    with pytest.raises(InputError, match="another run is using"):
                        extracted(PLAIN, model, stream_of(tmp_path, files))
                    self.tried = True

        journal = SecondRun()
        extracted(PLAIN, model, stream_of(tmp_path, files, journal=journal))
        assert journal.tried

    def test_a_damaged_part_is_named(self, tmp_path, files, model):
        stream = stream_of(tmp_path, files, shard_bytes=1)
        extracted(PLAIN, model, stream)
        part = min(stream[1].parts.glob("counts-*.part"))
        part.write_bytes(part.read_bytes()[:50])
        with pytest.raises(FormatError, match=part.name):
            extracted(PLAIN, model, stream)


class TestFailing:
    def test_a_full_disk_is_one_error_and_the_run_goes_on_later(self, tmp_path, files, model, monkeypatch):
        stream = stream_of(tmp_path, files, shard_bytes=1)
        real, calls = os.fsync, []

        def full(descriptor):
            calls.append(descriptor)
            if len(calls) > 9:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(descriptor)

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
            extracted(PLAIN, model, stream)
        kept = {path.name for path in stream[1].parts.iterdir()}
        assert not any(name.startswith(".") for name in kept)
        assert any(name.startswith("counts-") for name in kept)
        monkeypatch.undo()
        resumed = saved(tmp_path, PLAIN, model, stream)
        assert resumed == saved(tmp_path, PLAIN, model, stream_of(tmp_path, files, "whole"))

    def test_a_shard_that_fails_always_is_named_or_skipped_and_counted(self, tmp_path, files, model, monkeypatch):
        from wfalens.extraction.counts.counting import CountTask

        real = CountTask._counted

        def fails(self, model, shard):
            if shard.number == 3:
                raise RuntimeError("no luck")
            return real(self, model, shard)

        monkeypatch.setattr(CountTask, "_counted", fails)
        with pytest.raises(Exception, match=r"texts\d\.jsonl, blocks \d+.*failed 3 times: RuntimeError: no luck"):
            extracted(PLAIN, model, stream_of(tmp_path, files, shard_bytes=1))
        log = FileJournal(tmp_path / "log")
        wfa = extracted(PLAIN, model, stream_of(tmp_path, files, shard_bytes=1, on_bad="skip", journal=log))
        assert wfa.provenance["corpus"]["left_out"] == 1
        assert "no luck" in wfa.provenance["corpus"]["first_left_out"][0]
        events = [json.loads(line)["event"] for line in (tmp_path / "log").read_text().splitlines()]
        assert events.count("retry") == 2
        assert events.count("fail") == 1

    def test_too_little_memory_is_refused_at_once(self, tmp_path, files, model):
        with pytest.raises(InputError, match="more than --memory 100 MB"):
            extracted(PLAIN, model, stream_of(tmp_path, files, memory=10**8))
        assert not (tmp_path / "parts").exists()

    def test_memory_that_runs_out_ends_the_run_and_keeps_what_is_done(self, tmp_path, files, model, monkeypatch):
        monkeypatch.setattr("wfalens.scale.run_config.resident_with_children", lambda: 10**9)
        stream = stream_of(tmp_path, files, memory=2 * 10**9, journal=Grows(monkeypatch))
        with pytest.raises(InputError, match=r"needs 3 GB, more than --memory 2 GB.*what was counted is kept"):
            extracted(PLAIN, model, stream)
        assert len(list(stream[1].parts.glob("counts-*.part"))) == 1

    def test_a_corpus_without_words_is_refused(self, tmp_path, model):
        (tmp_path / "empty.jsonl").write_text('{"text": ""}\n{"text": "  "}\n')
        with pytest.raises(InputError, match="no text with a word"):
            extracted(PLAIN, model, stream_of(tmp_path, TextFiles((str(tmp_path / "empty.jsonl"),))))


class Grows(Journal):
    """Memory grows with the first shard."""

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch

    def write(self, event, **facts):
        if event == "shard":
            self.monkeypatch.setattr("wfalens.scale.run_config.resident_with_children", lambda: 3 * 10**9)


def test_progress_tells_shards_and_rate(tmp_path, files, model):
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
        extracted(PLAIN, model, stream_of(tmp_path, replace(files, block_bytes=500), shard_bytes=1))
    total, done = listener.tasks["counting transitions"]
    assert total == done > 10
    assert any(note.endswith("words/s") for note in listener.notes)
