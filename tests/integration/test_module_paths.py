"""In memory is the plain case: how many of our modules a reader passes who follows one of the main jobs."""

import sys
from pathlib import Path

import pytest

import wfalens
from tests.streams import small_model, some_texts
from wfalens import Paper, extract

ROOT = Path(wfalens.__file__).parent


def modules_passed(job):
    """Modules of ours with an executed function; the job is done once before, so that imports do not count."""
    job()
    found = set()

    def record(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(ROOT)) and frame.f_code.co_name != "<module>":
            found.add(str(Path(path).relative_to(ROOT)))

    sys.setprofile(record)
    try:
        job()
    finally:
        sys.setprofile(None)
    return sorted(found)


@pytest.fixture(scope="module")
def copied():
    model, texts = small_model(), some_texts(200)
    return model, texts, extract(model, texts, Paper(states=6))


BEYOND_MEMORY = {"scale/map_blocks.py", "scale/sample.py", "scale/checkpoints.py", "scale/worker.py"}


def test_the_papers_extraction_passes_at_most_45_modules(copied):
    model, texts, _ = copied
    passed = modules_passed(lambda: extract(model, texts, Paper(states=6)))
    assert len(passed) <= 45, passed
    assert not BEYOND_MEMORY & set(passed)


def test_fidelity_in_memory_passes_at_most_16_modules_and_reads_no_blocks(copied):
    model, texts, wfa = copied
    passed = modules_passed(lambda: wfa.fidelity(model, texts))
    assert not any(name.startswith("scale/") for name in passed), passed
    assert len(passed) <= 16, passed


def test_explaining_a_text_passes_at_most_20_modules(copied):
    _, texts, wfa = copied
    passed = modules_passed(lambda: wfa.explain(texts[0]))
    assert len(passed) <= 20, passed
    assert not BEYOND_MEMORY & set(passed)
