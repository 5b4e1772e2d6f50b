"""Equal seeds give equal bytes: for any number of threads, any hash seed and any working folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import sys
from hashlib import sha256
from pathlib import Path
import wfalens as wl
from wfalens.text import load_dataset

corpus = load_dataset("newsroom").subset(range(240))
test = load_dataset("newsroom", "test").subset(range(60))
config = wl.RNNConfig(embedding=8, hidden=12)
model = wl.train(corpus, config=config, epochs=2, seed=1).model
model.save("net.rnn")
methods = {
    "paper": wl.Paper(states=6),
    "stochastic": wl.Stochastic(states=6),
    "linear": wl.Linear(states=8, layers=1, epochs=2),
    "readable": wl.Readable(states=4),
}
for name in sys.argv[1].split(","):
    methods and name in methods and wl.extract(model, corpus, methods[name], seed=3).save(f"{name}.wfa")
if "report" in sys.argv[1]:
    wl.extract(model, corpus, methods["linear"], seed=3).report("page.html", model=model, texts=test)
for path in sorted(Path().iterdir()):
    print(path.name, sha256(path.read_bytes()).hexdigest())
"""
PLACES = [("1", "0"), ("2", "12345")]  # threads and hash seeds


def made(folder, threads, hash_seed, jobs):
    """What a process wrote into a folder of its own, by name."""
    folder.mkdir()
    environment = os.environ | {"WFALENS_THREADS": threads, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    environment |= {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *sys.path])}
    command = [sys.executable, "-c", CODE, jobs]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["paper,stochastic,readable", "linear,report"])
def test_equal_seeds_give_equal_bytes(tmp_path, jobs):
    found = [made(tmp_path / f"{number}", *place, jobs) for number, place in enumerate(PLACES)]
    assert len(found[0]) == 1 + len(jobs.split(","))
    assert found[0] == found[1]
