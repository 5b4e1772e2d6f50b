"""An exported automaton answers in Node and in C as it does in Python."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.export.runtime.harness import (
    GCC,
    PROBABILITY_ONE,
    SANITIZED,
    STRICT,
    Exported,
    assert_bit_equal,
    needs_gcc,
    needs_node,
)
from wfalens.explanation.shapley.shapley_values import shapley_each
from wfalens.export.runtime.source_files import runtime_tables, to_js
from wfalens.text.word_forms import BUCKETS, WordForms

pytestmark = [needs_node, needs_gcc]
COMPLETIONS = ("null", "uniform", "empirical", "probe", "fit", "shared")
LOST = ("null",)  # mass is lost, so that no bound of probabilities is proven
LINEAR = {8: (4e-3, 3e-2), 16: (2e-4, 1e-3), 32: (2e-5, 1e-4)}  # measured: parts of the largest log-odds and value


def random_texts(wfa, count: int, longest: int = 12, seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    words = [*wfa.encoder.vocabulary.words[1:], "never-seen", "ünseen"]
    return ["", *(" ".join(rng.choice(words, rng.integers(1, longest + 1))) for _ in range(count - 1))]


def python_probabilities(wfa, texts):
    return wfa.probabilities(wfa.weights(texts))


def python_values(wfa, texts, absence="delete"):
    return [each.values for each in shapley_each(wfa, texts, absence=absence)]


def check_against_python(exported: Exported, wfa, texts, answers, absence="delete", limits=None) -> None:
    """limits: of probabilities and values for kinds without a proven bound"""
    expected, lengths = python_probabilities(wfa, texts), wfa.encoder.encode(texts).lengths
    for at, (length, whole) in enumerate(zip(lengths, answers.probabilities, strict=True)):
        bound = exported.tables.error_bound(length) if limits is None else limits[0]
        assert np.abs(np.array(whole) / PROBABILITY_ONE - expected[at]).max() <= bound
    explained = [at for at, values in enumerate(answers.values) if values]
    for at, values in zip(explained, python_values(wfa, [texts[at] for at in explained], absence), strict=True):
        found = np.array(answers.values[at]).reshape(values.shape) / exported.value_one
        bound = exported.tables.explanation_bound(len(values)) if limits is None else limits[1]
        assert np.abs(found - values).max() <= bound


@pytest.mark.parametrize(
    ("completion", "bits"),
    [
        ("shared", 8),
        ("fit", 16),
        ("null", 32),
        *(
            pytest.param(completion, bits, marks=pytest.mark.slow)
            for completion in COMPLETIONS
            for bits in (8, 16, 32)
            if (completion, bits) not in (("shared", 8), ("fit", 16), ("null", 32))
        ),
    ],
)
def test_stochastic_kinds_answer_alike_in_node_c_and_python(tmp_path, completion, bits):
    wfa = sample(completion, 5 + bits, n=7).wfa
    exported = Exported(wfa, tmp_path, sanitized=bits != 8, bits=bits)
    texts = random_texts(wfa, 60)
    for absence in ("delete", "unknown"):
        in_c = exported.in_c(texts, absence=absence)
        assert_bit_equal(exported.in_node(texts, absence=absence), in_c)
        limits = None if completion not in LOST else ({8: 0.2, 16: 1e-3, 32: 1e-4}[bits],) * 2
        check_against_python(exported, wfa, texts, in_c, absence, limits)


@pytest.mark.parametrize(
    ("turns", "layers", "width", "bits"),
    [
        (True, 3, 4, 16),
        (False, 2, 3, 8),
        *(
            pytest.param(turns, layers, width, bits, marks=pytest.mark.slow)
            for turns, layers, width in [(True, 3, 4), (False, 2, 3), (True, 1, 5), (True, 4, 1)]
            for bits in (8, 16, 32)
            if (layers, bits) not in ((3, 16), (2, 8))
        ),
    ],
)
def test_linear_kinds_answer_alike_in_node_c_and_nearly_as_in_python(tmp_path, turns, layers, width, bits):
    wfa = linear_sample(3, turns=turns, layers=layers, width=width).wfa
    exported = Exported(wfa, tmp_path, sanitized=bits != 8, bits=bits)
    texts = random_texts(wfa, 60)
    for absence in ("delete", "unknown"):
        in_c = exported.in_c(texts, absence=absence)
        assert_bit_equal(exported.in_node(texts, absence=absence), in_c)
        weights, values = np.abs(wfa.weights(texts)).max(), max(map(np.max, python_values(wfa, texts[1:], absence)))
        limits = LINEAR[bits][0] * max(1, weights), LINEAR[bits][1] * max(1, values)
        check_against_python(exported, wfa, texts, in_c, absence, limits)


@pytest.mark.parametrize(
    "wfa",
    [
        sample("shared", 3, n=13).wfa,
        sample("shared", 3, n=25).wfa,
        linear_sample(3, layers=3, width=32).wfa,
        linear_sample(3, layers=4, width=5).wfa,
    ],
    ids=["13 states", "25 states", "width 32", "width 5"],
)
def test_compilers_without_vectors_compute_the_same_numbers(tmp_path, wfa):
    texts = random_texts(wfa, 60)
    vectors = Exported(wfa, tmp_path, "vectors", bits=8)
    assert vectors.tables.numbers["linear"] or vectors.tables.numbers["blocks"]
    plain = Exported(wfa, tmp_path, "plain", switches=["-U__SSE2__"], bits=8).in_c(texts)
    assert_bit_equal(vectors.in_c(texts), plain)
    assert_bit_equal(vectors.in_node(texts), plain)
    assert_bit_equal(Exported(wfa, tmp_path, "wide", switches=["-O3", "-march=native"], bits=8).in_c(texts), plain)


def test_a_shared_automaton_is_read_in_four_kilobytes_beside_its_tables(tmp_path):
    Exported(sample("shared", 3, n=13).wfa, tmp_path, bits=8)
    subprocess.run([GCC, "-std=c99", "-O2", "-fstack-usage", "-c", "model.c"], cwd=tmp_path, check=True)
    frames = [int(line.split()[1]) for line in (tmp_path / "model.su").read_text().splitlines()]
    assert sum(frames) <= 4096  # of all functions; none calls itself, and nothing is allocated
    assert not re.search(r"\b(malloc|calloc|realloc|alloca)\b", (tmp_path / "model.c").read_text())


def test_a_text_of_a_hundred_thousand_words_is_read_without_drift(tmp_path):
    wfa = sample("shared", 3, n=6).wfa
    exported = Exported(wfa, tmp_path, bits=8)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(wfa.encoder.vocabulary.words[2:], size)) for size in (100_000, 300)]
    explained = [False, True]
    in_c = exported.in_c(texts, explained)
    assert_bit_equal(exported.in_node(texts, explained), in_c)
    expected = python_probabilities(wfa, texts)
    off = np.abs(np.array(in_c.probabilities) / PROBABILITY_ONE - expected).max()
    assert off < 0.02  # rows of these automata forget: errors do not add up
    assert min(map(sum, in_c.probabilities)) > PROBABILITY_ONE - 5


def test_the_values_of_a_text_add_up_to_its_output(tmp_path):
    wfa = sample("fit", 4, n=6).wfa
    exported = Exported(wfa, tmp_path, bits=16)
    texts = random_texts(wfa, 40)
    answers = exported.in_node(["", *texts])
    base = np.array(answers.probabilities[0]) / PROBABILITY_ONE
    for whole, values in zip(answers.probabilities[1:], answers.values[1:], strict=True):
        added = np.array(values).reshape(-1, len(base)).sum(0) / exported.value_one
        length = len(values) // len(base)
        bound = (length + 2) * exported.tables.explanation_bound(length)
        np.testing.assert_allclose(base + added, np.array(whole) / PROBABILITY_ONE, atol=bound)


def test_a_budget_keeps_the_words_that_matter_most(tmp_path, newsroom_wfa):
    whole = runtime_tables(newsroom_wfa, bits=8)[0]
    small, remark = runtime_tables(newsroom_wfa, bits=8, max_bytes=whole.bytes // 3)
    assert small.bytes <= whole.bytes // 3
    assert 0 < len(small.ids) < len(whole.ids)
    assert "texts" in remark
    size = len(to_js(newsroom_wfa, bits=8, max_bytes="60k").files[""].encode())
    assert size <= 60_000
    with raises("too-large"):
        runtime_tables(newsroom_wfa, bits=8, max_bytes=100)


@pytest.mark.parametrize("options", [{"bits": 7}, {"max_bytes": "many"}])
def test_sizes_that_are_none_are_refused(options):
    with raises("option-value"):
        to_js(sample("shared", 1).wfa, **options)


def test_where_the_automaton_goes_by_their_form_unknown_words_are_exported_as_unknown_and_it_is_said():
    wfa, texts = sample("shared", 1).wfa, ["never seen", "w0 w1"]
    forms = WordForms(np.zeros((BUCKETS, 2)), np.zeros(2), np.array([2]), np.zeros((1, 2)))
    plain = to_js(wfa, texts=texts)
    wfa.encoder = replace(wfa.encoder, forms=forms)
    exported = to_js(wfa, texts=texts)
    assert exported.files == plain.files
    assert "form" in exported.remark
    assert "form" not in plain.remark


def test_the_example_in_c_classifies_lines(tmp_path, newsroom_wfa):
    wfa = newsroom_wfa
    wfa.export(tmp_path / "model.c", bits=16)
    example = Path(__file__).resolve().parents[3] / "examples" / "c" / "classify.c"
    (tmp_path / "classify.c").write_text(example.read_text())
    built = [GCC, *STRICT, *SANITIZED, "classify.c", "model.c", "-o", "classify"]
    subprocess.run(built, cwd=tmp_path, check=True)
    words = [word for word in wfa.encoder.vocabulary.words[2:] if word.isalnum()]
    texts = [" ".join(words[at : at + 5]) for at in range(0, 50, 5)]
    ran = subprocess.run([tmp_path / "classify"], input="\n".join(texts), capture_output=True, check=True, text=True)
    lines = ran.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(wfa.predict(texts))
    for line, text in zip(lines, texts, strict=True):
        values = wfa.explain(text).of_class(line.split()[0])
        assert line.split("\t")[1].split()[0] == text.split()[int(values.argmax())]
