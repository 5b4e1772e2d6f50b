"""Every engine against the same promises, and the choice between them."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from threading import Lock
from typing import Any

import pytest
from wfalens.scale.engines import open_engine
from wfalens.scale.engines.local import ProcessEngine, SerialEngine, ThreadEngine
from wfalens.scale.journal import Journal

from tests.scale.conformance import EngineConformance, ProcessConformance
from tests.scale.tasks import Told
from tests.streams import corpus_files, small_model
from wfalens.errors import InputError, MissingDependencyError
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.memory import resident
from wfalens.scale.run_config import Run


@pytest.fixture(scope="module")
def expected_bytes(tmp_path_factory):
    """One shard for each file, one worker."""
    folder = tmp_path_factory.mktemp("whole")
    files = corpus_files(folder)
    run = Run(parts=folder / "parts", sample_tokens=1500, memory=10**12)
    extract(
        small_model(), files, Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4), run=run
    ).save(folder / "whole.wfa")
    return (folder / "whole.wfa").read_bytes()


class TestSerial(EngineConformance):
    @pytest.fixture
    def engine(self):
        return SerialEngine()


class TestThreads(EngineConformance):
    @pytest.fixture
    def engine(self):
        return ThreadEngine(3)


@pytest.mark.slow
class TestProcesses(ProcessConformance):
    @pytest.fixture
    def engine(self):
        return ProcessEngine(2)

    def test_a_model_that_cannot_be_sent_is_refused(self, engine):
        @dataclass
        class Local:
            def prepare(self):
                return abs

        with pytest.raises(InputError, match="cannot be sent to another process"):
            list(engine.run(Local(), [1]))


@pytest.fixture(scope="module")
def cluster():
    """A local Ray for all tests of this module."""
    pytest.importorskip("ray")
    engine = open_engine("ray", 2)
    yield engine
    engine.close()


@pytest.mark.slow
class TestRay(ProcessConformance):
    @pytest.fixture
    def engine(self, cluster):
        return cluster

    def test_a_model_that_cannot_be_sent_is_refused(self, engine):
        @dataclass
        class Locked:
            lock: Any

            def prepare(self):
                return abs

        with pytest.raises(
            InputError, match=r"cannot be sent to Ray's workers \(cannot pickle '_thread.lock' object\)"
        ):
            list(engine.run(Locked(Lock()), [1]))


@pytest.mark.slow
class TestRayWithOneWorker(EngineConformance):
    @pytest.fixture
    def engine(self, cluster):
        return open_engine("ray", 1)  # of the same cluster


class Watched:
    """An engine that knows the processes of its workers."""

    def __init__(self, engine, folder):
        self.engine, self.folder = engine, folder
        self.name, self.workers, self.shares_memory, self.source = (
            engine.name,
            engine.workers,
            engine.shares_memory,
            engine.source,
        )

    def run(self, task, jobs, hear):
        return self.engine.run(Told(task, str(self.folder)), jobs, hear)


class Killer(Journal):
    """Kills a worker when the first shard is done, and remembers what it hears."""

    def __init__(self, folder):
        self.folder, self.shards, self.killed = folder, [], None

    def write(self, event, **facts):
        if event != "shard":
            return
        self.shards.append(facts["shard"])
        if self.killed is None:
            self.killed = min(int(path.name) for path in self.folder.iterdir())
            os.kill(self.killed, signal.SIGKILL)


@pytest.mark.slow
def test_a_ray_worker_killed_in_the_midst_of_a_run_leaves_no_trace(cluster, tmp_path):
    files, pids = corpus_files(tmp_path), tmp_path / "pids"
    pids.mkdir()
    journal, bytes_of = Killer(pids), {}
    for name, means in (
        ("whole", {}),
        ("killed", {"engine": Watched(cluster, pids), "shard_bytes": 1, "journal": journal}),
    ):
        run = Run(parts=tmp_path / name, sample_tokens=1500, memory=10**12, **means)
        extract(small_model(), files, Paper(states=6), run=run).save(tmp_path / "out.wfa")
        bytes_of[name] = (tmp_path / "out.wfa").read_bytes()
    assert bytes_of["killed"] == bytes_of["whole"]
    assert resident(journal.killed) == 0
    assert sorted(journal.shards) == list(range(len(journal.shards)))  # none is lost, none is counted twice


def test_without_the_extra_ray_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'wfalens\[ray\]'"):
        open_engine("ray")


def test_importing_engines_and_streams_loads_neither_torch_nor_ray():
    code = (
        "import sys, wfalens.scale, wfalens.extraction.stochastic.stochastic_extraction; "
        "print([name for name in ('torch', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_engines_and_workers_are_refused():
    with pytest.raises(InputError, match="choose one of local, ray"):
        open_engine("spark")
    with pytest.raises(InputError, match="at least 1"):
        open_engine("local", 0)
    with pytest.raises(InputError, match="needs the engine ray"):
        open_engine("local", 2, address="auto")


def test_workers_become_threads_where_memory_does_not_hold_a_model_for_each():
    here = resident()
    assert isinstance(open_engine("local", 1), SerialEngine)
    assert isinstance(open_engine("local", 2, memory=here + 10**8), ThreadEngine)
    assert isinstance(open_engine("local", 2, memory=100 * here + 10**10), ProcessEngine)
    assert open_engine("local", 16, memory=5 * here + 10**9).workers < 16
