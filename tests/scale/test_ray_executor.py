"""A Ray cluster of two nodes: joined by name, left by a node in the midst of a run, stopped and gone on with."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.commands import wfalens
from tests.streams import corpus_files, small_model
from tests.waiting import wait_until
from wfalens import __version__
from wfalens.errors import InputError
from wfalens.scale.ray_executor import Origin, RayWorker, join_cluster

ray = pytest.importorskip("ray", reason="needs the extra ray")

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ["-C", "paper.states=2", "-C", "paper.alpha=0.4", "-C", "paper.beta=0.3"]
COMMAND = ["extract", "model.rnn", "-c", "texts*.jsonl", "-C", "run.block_bytes=1KB", "--json", *SETTINGS]


def heeding_interrupts():
    """Even where the tests run in the background of a shell, which has them ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class TwoNodes:
    """A cluster in processes of its own, started in a folder that has none of the files; see `cluster`."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"},
            **{"PYTHONPATH": path, "RAY_TMPDIR": self.folder, "RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1"},
        }
        self.runs = []
        self.process = self.start([sys.executable, "-m", "tests.scale.cluster"], self.folder, stdin=subprocess.PIPE)
        self.address, self.second = self.process.stdout.readline().split()

    def start(self, command, cwd, **more):
        means = {"env": self.environment, "stdout": subprocess.PIPE, "text": True, **more}
        run = subprocess.Popen(list(map(str, command)), cwd=cwd, **means)
        self.runs.append(run)
        return run

    def extract(self, cwd, out, *options):
        """A run that pauses when its first shard is counted, until there is a file OUT.go; see `pausing`."""
        command = [sys.executable, "-m", "tests.scale.pausing", f"{out}.go", *COMMAND, "-C", "run.engine=ray"]
        means = {"stderr": subprocess.PIPE, "preexec_fn": heeding_interrupts}
        return self.start([*command, "-o", out, "-C", f"run.log={out}.log", *options], cwd, **means)

    def tell(self, word):
        print(word, file=self.process.stdin, flush=True)
        self.second = self.process.stdout.readline().strip()

    def close(self):
        for run in self.runs[1:]:
            run.kill()  # if a test has failed
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def nodes():
    nodes = TwoNodes()
    yield nodes
    nodes.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus of a dozen shards, and its automaton by one worker of this process."""
    folder = tmp_path_factory.mktemp("clustered")
    corpus_files(folder, texts=20_000)
    small_model().save(folder / "model.rnn")
    done = wfalens(*COMMAND, "-o", "one.wfa", "-C", "run.engine=local", "-C", "run.workers=1", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def has_shard(log):
    return log.exists() and '"counts-' in log.read_text()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes through /proc")
def test_a_job_of_a_lost_node_goes_to_the_worker_that_is_left_and_idle(nodes, tmp_path):
    joining = {**nodes.environment, "RAY_ADDRESS": nodes.address}
    run = nodes.start([sys.executable, "-m", "tests.scale.held", tmp_path], ROOT, env=joining)
    wait_until(lambda: len(list(tmp_path.glob("*.node"))) == 2 or run.poll() is not None)
    places = {job: (tmp_path / f"{job}.node").read_text().split() for job in ("one", "two")}
    (lost, worker), (kept, _) = (
        (job, process) for job, (node, process) in sorted(places.items(), key=lambda item: item[1][0] != nodes.second)
    )
    (tmp_path / f"{kept}.go").touch()
    assert run.stdout.readline().strip() == kept  # from now on its worker has nothing to do
    nodes.tell("lose")
    wait_until(lambda: not Path("/proc", worker).exists())
    (tmp_path / f"{lost}.go").touch()
    told, _ = run.communicate()
    assert told.split("\n") == [f"retry {lost}", lost, ""]
    nodes.tell("join")


@pytest.mark.slow
def test_a_run_that_loses_a_node_ends_in_the_bytes_of_one_worker(nodes, folder):
    run = nodes.extract(folder, "lost.wfa", "-C", "run.address=auto")
    wait_until(lambda: has_shard(folder / "lost.wfa.log") or run.poll() is not None)
    nodes.tell("lose")
    (folder / "lost.wfa.go").touch()
    told, notes = run.communicate()
    assert run.returncode == 0, notes
    assert json.loads(told)["states"] == 3  # Ray says nothing on stdout
    assert (folder / "lost.wfa").read_bytes() == (folder / "one.wfa").read_bytes()
    events = [json.loads(line)["event"] for line in (folder / "lost.wfa.log").read_text().splitlines()]
    assert sum(event.startswith("counts-") for event in events) == 12
    nodes.tell("join")


@pytest.mark.slow
def test_a_run_that_is_stopped_says_so_and_goes_on_with_more_workers_than_cpus(nodes, folder):
    run = nodes.extract(folder, "stopped.wfa", "-C", f"run.address={nodes.address}")
    wait_until(lambda: has_shard(folder / "stopped.wfa.log") or run.poll() is not None)
    run.send_signal(signal.SIGINT)
    told, notes = run.communicate()
    assert (run.returncode, told) == (130, "")
    *busy, sentence = notes.splitlines()  # a busy machine makes workers wait, which is told, and progress is shown
    kept = "finished work is kept in stopped.wfa.checkpoints"
    assert sentence == f"stopped; {kept}; the same command continues from there"
    known = ("note: no Ray worker is ready yet", "note: reading the texts: ", "note: counting transitions: ")
    assert all(line.startswith(known) for line in busy)
    (folder / "stopped.wfa.go").touch()
    run = nodes.extract(folder, "stopped.wfa", "-C", f"run.address={nodes.address}", "-C", "run.workers=5")
    _, notes = run.communicate()
    assert run.returncode == 0, notes
    assert "of 12 blocks are done already" in notes
    assert (folder / "stopped.wfa").read_bytes() == (folder / "one.wfa").read_bytes()


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:9", "cannot reach the Ray cluster at 127.0.0.1:9: Connection refused; is its head node running?"),
        ("nonsense", "an address is auto or HOST:PORT, not 'nonsense'"),
        ("ray://127.0.0.1:10001", "an address is auto or HOST:PORT, not 'ray://127.0.0.1:10001'"),
    ],
)
def test_an_address_without_a_cluster_is_one_sentence_at_once(address, message, monkeypatch):
    monkeypatch.setattr(ray, "init", lambda *_, **__: pytest.fail("Ray itself tries for minutes"))
    with pytest.raises(InputError) as refused:
        join_cluster(None, address)
    assert str(refused.value) == message


def test_a_worker_of_another_version_asks_for_one_version_on_all_machines():
    refused = RayWorker().prepare(Origin("0.0.0", socket.gethostname(), "/"), [])
    assert isinstance(refused, InputError)
    assert f"has wfalens {__version__}, this run 0.0.0; install one version on all machines" in str(refused)


class Reading:
    """Reads a file's size; stands for any task that needs files."""

    def prepare(self):
        return self.size

    def size(self, name):
        if name == "unlucky":
            raise RuntimeError("a hiccup")
        return Path(name).stat().st_size


def test_a_worker_elsewhere_reads_relative_names_and_tells_what_it_does_not_see(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WFALENS_THREADS", "3")
    monkeypatch.setattr(ray, "get", lambda shipped: shipped)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "there").write_text("four")
    worker, here = RayWorker(), socket.gethostname()
    assert worker.prepare(Origin(__version__, "the driver's", str(tmp_path / "texts")), [Reading()]) is None
    assert os.environ["WFALENS_THREADS"] == "1"
    found, failed = worker.run("there"), worker.run("unlucky")
    assert found.result == 4
    assert (failed.reason, len(failed.retries)) == (f"RuntimeError: a hiccup (on {here})", 2)
    missing = worker.run("absent")  # which no option may skip
    assert isinstance(missing, InputError)
    assert str(missing).startswith(f"{here} must see all files under the same names (FileNotFoundError: ")
