"""What every engine must keep: one class of promises, inherited by each engine's tests."""

from pathlib import Path

import pytest
from wfalens.scale.engines.engine import ATTEMPTS, Done, Failed

from tests.scale.tasks import Squares, Told
from tests.streams import corpus_files, small_model, some_texts
from tests.waiting import wait_until
from wfalens.errors import InputError, ModelError
from wfalens.evaluation import measure_fidelity
from wfalens.extraction import Paper, Stochastic, extract
from wfalens.memory import resident
from wfalens.scale.run_config import Run

JOBS = list(range(7))


class EngineConformance:
    """Subclasses give an `engine` fixture."""

    def run(self, engine, task, jobs=JOBS):
        heard = []
        outcomes = {outcome.job: outcome for outcome in engine.run(task, jobs, heard.append)}
        assert sorted(outcomes) == jobs  # one outcome for each, whatever happens
        return outcomes, heard

    def test_every_job_is_done_once(self, engine, tmp_path):
        task = Squares(str(tmp_path))
        outcomes, heard = self.run(engine, task)
        assert {job: outcome.result for job, outcome in outcomes.items()} == {job: job * job for job in JOBS}
        assert [task.tries(job) for job in JOBS] == [1] * len(JOBS)
        assert heard == []

    def test_nothing_to_do_is_done_at_once(self, engine, tmp_path):
        assert self.run(engine, Squares(str(tmp_path)), []) == ({}, [])

    def test_a_mendable_error_is_told_and_not_tried_again(self, engine, tmp_path):
        task = Squares(str(tmp_path), refused=3)
        outcomes, _ = self.run(engine, task)
        assert outcomes.pop(3) == Failed(3, "3 will not do", 1, mendable=True)
        assert task.tries(3) == 1
        assert all(isinstance(outcome, Done) for outcome in outcomes.values())

    def test_a_hiccup_is_tried_again_and_told(self, engine, tmp_path):
        outcomes, heard = self.run(engine, Squares(str(tmp_path), failing=4))
        assert outcomes[4].result == 16
        assert [(retry.job, retry.attempt) for retry in heard] == [(4, 2)]
        assert "a hiccup" in heard[0].reason

    def test_a_model_that_cannot_be_opened_ends_the_run(self, engine, tmp_path):
        with pytest.raises(InputError, match="the model is not there"):
            list(engine.run(Squares(str(tmp_path), unprepared=True), JOBS))

    def test_only_a_few_results_wait_for_one_who_takes_his_time(self, engine, tmp_path):
        task, jobs, ahead = Squares(str(tmp_path)), list(range(40)), []
        for taken, _ in enumerate(engine.run(task, jobs), 1):
            wait_until(task.rests)
            ahead.append(task.begun() - taken)
        assert len(ahead) == len(jobs)
        assert max(ahead) <= 1 + 2 * engine.workers

    def test_the_automaton_has_the_bytes_of_a_run_in_one_piece(self, engine, tmp_path, expected_bytes):
        means = {"parts": tmp_path / "parts", "engine": engine, "shard_bytes": 3000, "memory": 10**12}
        out = tmp_path / "streamed.wfa"
        extractor = Stochastic(states=6, completion="probe", abstraction="outputs", alpha=0.4)
        extract(small_model(), corpus_files(tmp_path), extractor, run=Run(**means, sample_tokens=1500)).save(out)
        assert out.read_bytes() == expected_bytes

    def test_an_evaluation_with_labels_has_the_figures_of_a_run_in_one_piece(self, engine, tmp_path):
        files, model = corpus_files(tmp_path, labels=True), small_model()
        wfa = extract(model, some_texts(100), Paper(states=6))
        whole, divided = (
            measure_fidelity(wfa, model, files, run=Run(parts=tmp_path / name, memory=10**12, **options))
            for name, options in {"one": {}, "many": {"engine": engine, "shard_bytes": 3000}}.items()
        )
        assert whole.model_accuracy is not None
        assert divided.to_json() == whole.to_json()


class ProcessConformance(EngineConformance):
    """Engines whose workers can die on their own."""

    def test_workers_that_die_before_any_job_end_the_run(self, engine, tmp_path):
        with pytest.raises(ModelError, match="while it loaded the model"):
            list(engine.run(Squares(str(tmp_path), stillborn=True), JOBS))

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes through /proc")
    def test_workers_end_with_a_run_that_is_given_up(self, engine, tmp_path):
        pids = tmp_path / "pids"
        pids.mkdir()
        run = engine.run(Told(Squares(str(tmp_path)), str(pids)), JOBS)
        next(run)
        run.close()
        wait_until(lambda: not any(resident(int(path.name)) for path in pids.iterdir()))

    def test_a_worker_that_dies_is_replaced_and_its_job_tried_again(self, engine, tmp_path):
        outcomes, heard = self.run(engine, Squares(str(tmp_path), deadly=2))
        assert outcomes[2].result == 4
        assert [(retry.job, retry.attempt) for retry in heard] == [(2, 2)]

    def test_a_job_that_always_kills_its_worker_is_given_up_and_the_others_are_done(self, engine, tmp_path):
        task = Squares(str(tmp_path), poison=5)
        outcomes, heard = self.run(engine, task)
        failure = outcomes.pop(5)
        assert (failure.attempts, failure.mendable) == (ATTEMPTS, False)
        assert task.tries(5) == ATTEMPTS
        assert {retry.job for retry in heard} == {5}
        assert all(isinstance(outcome, Done) for outcome in outcomes.values())
