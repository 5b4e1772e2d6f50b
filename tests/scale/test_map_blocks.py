"""What every engine must keep: one class of promises, inherited by each engine's tests."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from tests.errors import raises
from tests.scale.tasks import Identified, Squares
from tests.streams import corpus_files, small_model, some_texts
from tests.waiting import wait_until
from wfalens.errors import MissingDependencyError
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.memory import resident
from wfalens.scale import BlockTask, RunConfig, map_jobs
from wfalens.scale.map_blocks import run_jobs
from wfalens.scale.ray_executor import leave_cluster
from wfalens.scale.worker import ATTEMPTS, Done, Failed

JOBS = list(range(7))
PROBE = Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4)


@pytest.fixture(scope="module")
def expected_bytes(tmp_path_factory):
    """One block of work for each file, one worker."""
    folder = tmp_path_factory.mktemp("whole")
    run = RunConfig(checkpoints=folder / "blocks", sample_tokens=1500, memory=10**12)
    extract(small_model(), corpus_files(folder), PROBE, run=run).save(folder / "whole.wfa")
    return (folder / "whole.wfa").read_bytes()


class EngineConformance:
    """Subclasses name an engine."""

    engine, workers = "serial", 1

    def outcomes(self, task, jobs=JOBS):
        outcomes = {outcome.job: outcome for outcome in run_jobs(task, jobs, self.engine, self.workers)}
        assert sorted(outcomes) == jobs  # one outcome for each, whatever happens
        return outcomes

    def test_every_job_is_done_once(self, tmp_path):
        task = Squares(str(tmp_path))
        outcomes = self.outcomes(task)
        assert {job: outcome.result for job, outcome in outcomes.items()} == {job: job * job for job in JOBS}
        assert [task.tries(job) for job in JOBS] == [1] * len(JOBS)
        assert not any(outcome.retries for outcome in outcomes.values())

    def test_nothing_to_do_is_done_at_once(self, tmp_path):
        assert self.outcomes(Squares(str(tmp_path)), []) == {}

    def test_an_error_that_a_user_can_fix_is_not_tried_again(self, tmp_path):
        task = Squares(str(tmp_path), refused=3)
        outcomes = self.outcomes(task)
        failure = outcomes.pop(3)
        assert (failure.retries, failure.fixable) == ((), True)
        assert task.tries(3) == 1
        assert all(isinstance(outcome, Done) for outcome in outcomes.values())

    def test_a_transient_failure_is_tried_again_and_reported(self, tmp_path):
        outcomes = self.outcomes(Squares(str(tmp_path), failing=4))
        assert outcomes[4].result == 16
        assert {job: outcome.retries for job, outcome in outcomes.items() if outcome.retries} == {
            4: ("RuntimeError: a hiccup",)
        }

    def test_a_model_that_cannot_be_opened_ends_the_run(self, tmp_path):
        config = RunConfig(engine=self.engine, workers=self.workers)
        work = BlockTask(title="squaring", task=Squares(str(tmp_path), unprepared=True), name=str)
        with raises("no-model"):
            list(map_jobs(work, JOBS, config))

    def test_only_a_few_results_wait_for_a_slow_reader(self, tmp_path):
        task, jobs, ahead = Squares(str(tmp_path)), list(range(40)), []
        for taken, _ in enumerate(run_jobs(task, jobs, self.engine, self.workers), 1):
            wait_until(task.rests)
            ahead.append(task.begun() - taken)
        assert len(ahead) == len(jobs)
        assert max(ahead) <= 1 + 2 * self.workers

    def test_the_automaton_has_the_bytes_of_a_run_in_one_piece(self, tmp_path, expected_bytes):
        run = RunConfig(
            checkpoints=tmp_path / "blocks",
            engine=self.engine,
            workers=self.workers,
            block_bytes=3000,
            memory=10**12,
            sample_tokens=1500,
        )
        extract(small_model(), corpus_files(tmp_path), PROBE, run=run).save(tmp_path / "streamed.wfa")
        assert (tmp_path / "streamed.wfa").read_bytes() == expected_bytes

    def test_an_evaluation_with_labels_has_the_figures_of_a_run_in_one_piece(self, tmp_path):
        files, model = corpus_files(tmp_path, labels=True), small_model()
        wfa = extract(model, some_texts(100), Paper(states=6))
        many = {"engine": self.engine, "workers": self.workers, "block_bytes": 3000}
        whole, divided = (
            measure_fidelity(wfa, model, files, run=RunConfig(checkpoints=tmp_path / name, memory=10**12, **options))
            for name, options in {"one": {}, "many": many}.items()
        )
        assert whole.model_accuracy is not None
        assert divided.to_dict() == whole.to_dict()


class ProcessConformance(EngineConformance):
    """Engines whose workers can die on their own."""

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes through /proc")
    def test_workers_end_with_a_run_that_is_given_up(self, tmp_path):
        pids = tmp_path / "pids"
        pids.mkdir()
        run = run_jobs(Identified(Squares(str(tmp_path)), str(pids)), JOBS, self.engine, self.workers)
        next(run)
        run.close()
        wait_until(lambda: not any(resident(int(path.name)) for path in pids.iterdir()))

    def test_a_worker_that_dies_is_replaced_and_its_job_tried_again(self, tmp_path):
        outcomes = self.outcomes(Squares(str(tmp_path), deadly=2))
        assert {job: outcome.result for job, outcome in outcomes.items()} == {job: job * job for job in JOBS}
        assert len(outcomes[2].retries) == 1

    def test_a_job_that_always_kills_its_worker_is_given_up_and_the_others_are_done(self, tmp_path):
        task = Squares(str(tmp_path), poison=5)
        outcomes = self.outcomes(task)
        failure = outcomes.pop(5)
        assert isinstance(failure, Failed)
        assert (len(failure.retries) + 1, failure.fixable) == (ATTEMPTS, False)
        assert task.tries(5) == ATTEMPTS
        assert all(isinstance(outcome, Done) for outcome in outcomes.values())


class TestSerial(EngineConformance):
    pass


class TestThreads(EngineConformance):
    engine, workers = "threads", 3


@pytest.mark.slow
class TestProcesses(ProcessConformance):
    engine, workers = "processes", 2

    def test_a_model_that_cannot_be_sent_is_refused(self):
        @dataclass
        class Local:
            def prepare(self):
                return abs

        with raises("not-picklable"):
            list(run_jobs(Local(), [1], "processes", 2))


@pytest.mark.slow
class TestRay(ProcessConformance):
    engine, workers = "ray", 2

    @pytest.fixture(scope="class", autouse=True)
    def cluster(self):
        pytest.importorskip("ray")
        yield
        leave_cluster()

    def test_a_model_that_cannot_be_sent_is_refused(self):
        @dataclass
        class Locked:
            lock: Any

            def prepare(self):
                return abs

        with raises("not-picklable"):
            list(run_jobs(Locked(Lock()), [1], "ray", 2))


def test_without_the_extra_ray_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'wfalens\[ray\]'"):
        list(run_jobs(Squares("."), [1], "ray", 1))


def test_importing_engines_and_streams_loads_neither_torch_nor_ray():
    code = (
        "import sys, wfalens.scale, wfalens.extraction.stochastic.stochastic_extraction; "
        "print([name for name in ('torch', 'ray') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
