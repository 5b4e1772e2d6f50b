"""Some mutated files of every kind; `python -m tests.fuzz.fuzzer --files 5000` opens more than 100,000."""

import random
import shutil

import pytest

from tests.fuzz import fuzzer
from tests.fuzz.seeds import KINDS


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    fuzzer.write_originals(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_refused_in_one_sentence_or_give_finite_numbers(seeds, kind):
    counts, findings = fuzzer.run(seeds, kind, 0, 60)
    assert findings == []
    assert counts["refused"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_errors_echo_at_most_200_characters_of_a_file_on_one_line(seeds, tmp_path, kind):
    for each in seeds.iterdir():
        shutil.copy(each, tmp_path)
    blob = (tmp_path / kind).read_bytes()
    outcomes = []
    for content in fuzzer.long_files(kind, blob):
        (tmp_path / kind).write_bytes(content)
        outcomes.append(fuzzer.check(tmp_path / kind))
    assert "refused" in outcomes or kind == "texts.txt"  # any text is one


def test_a_file_depends_on_its_kind_and_number_alone():
    blob = bytes(range(256)) * 4
    made = [fuzzer.changed_bytes(random.Random("wfa 7"), blob) for _ in range(2)]  # noqa: S311
    assert made[0] == made[1] != blob
