"""Automata that strangers made: each is refused in one sentence, or predicts with finite numbers in little memory."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.automata import carrier, linear_sample, sample
from tests.files import changed_files, contents, little_memory, write_contents
from wfalens.automaton import COMPLETIONS, WFA, StochasticWFA
from wfalens.automaton.kernels.layers import bytes_in_use as linear_bytes
from wfalens.automaton.stochastic import bytes_in_use as stochastic_bytes
from wfalens.errors import FormatError, InputError
from wfalens.memory import check_in_use
from wfalens.ragged import Ragged


def assert_finite(wfa):
    """Whatever texts it reads, however long."""
    words = np.arange(len(wfa.word_counts), dtype=np.int32)
    ids = Ragged.from_lists([[], words, words[::-1], np.tile(words, 40)], np.int32)
    with np.errstate(all="raise", under="ignore"):
        outputs = wfa.predict_proba(ids), wfa.trace(ids).values, wfa.matrices(words[1:2])[0], wfa.state_frequencies
    for values in outputs:
        assert np.isfinite(values).all()
    np.testing.assert_allclose(outputs[0].sum(1), 1, atol=1e-5)


def load(path):
    """None for a file that was refused in one sentence."""
    try:
        return WFA.load(path)
    except FormatError as error:
        return _one_sentence(path, str(error))


def _one_sentence(path, message):
    assert message.startswith(str(path))
    assert "\n" not in message


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder, found = tmp_path_factory.mktemp("originals"), []
    automata = [sample(name, seed).wfa for name in COMPLETIONS for seed in (1, 4)] + [linear_sample(2).wfa, carrier(2)]
    for number, wfa in enumerate(automata):
        wfa.save(folder / f"{number}.wfa")
        found.append(contents(folder / f"{number}.wfa"))
    return found


def test_changed_files_are_refused_or_predict(originals, tmp_path):
    loaded = 0

    @settings(max_examples=250, derandomize=True)
    @given(changed_files(originals))
    def check(changed):
        nonlocal loaded
        wfa = load(write_contents(tmp_path / "odd.wfa", *changed))
        if wfa is not None:
            loaded += 1
            assert_finite(wfa)
            if wfa.attached_readable is not None:
                assert_finite(wfa.attached_readable)

    with little_memory():
        check()
    assert loaded > 0  # some changes do no harm; else this would test less than it says


def many_states(n, completion, classes=2, words=3):
    """Tensors and header of an automaton with many states and a row or two."""
    small = sample(completion, 1, n=6, words=words).wfa
    rows = {
        "per_word": np.array([0, 0, 1][:words], np.uint8),
        "state": np.array([5], np.uint8),
        "entries": np.array([1], np.uint8),
        "target": np.array([3], np.uint8),
        "weight": np.array([2], np.uint8),
    }
    return small, {
        "centres": np.full((n, classes), 1 / classes),
        "state_visits": np.ones(n, np.int64),
        **{f"rows.{name}": value for name, value in rows.items()},
    }


@pytest.mark.parametrize("states", [16_000, 65_536])
@pytest.mark.parametrize("completion", ["empirical", "uniform"])
def test_a_small_file_cannot_want_gigabytes(tmp_path, states, completion):
    wfa, changes = many_states(states, completion)
    wfa.save(tmp_path / "a.wfa")
    tensors, header = contents(tmp_path / "a.wfa")
    write_contents(tmp_path / "odd.wfa", tensors | changes, header | {"class_names": ["a", "b"]})
    assert (tmp_path / "odd.wfa").stat().st_size < 2_000_000
    with pytest.raises(FormatError, match=r"odd\.wfa: .* of memory in use, out of proportion to the") as caught:
        WFA.load(tmp_path / "odd.wfa")
    assert "\n" not in str(caught.value)


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    small, changes = many_states(16_000, "empirical")
    wfa = StochasticWFA(
        encoder=small.encoder,
        class_names=["a", "b"],
        centres=changes["centres"],
        rows=small.rows,
        completion=small.completion,
        alpha=0.1,
        state_visits=changes["state_visits"],
        word_counts=small.word_counts,
    )
    with pytest.raises(InputError, match="of memory in use"):
        wfa.save(tmp_path / "a.wfa")
    assert not list(tmp_path.iterdir())


def loaded_with(tmp_path, states, completion, classes):
    wfa, changes = many_states(states, completion, classes)
    wfa.save(tmp_path / "a.wfa")
    tensors, header = contents(tmp_path / "a.wfa")
    names = [f"c{number}" for number in range(classes)]
    return WFA.load(write_contents(tmp_path / "odd.wfa", tensors | changes, header | {"class_names": names}))


def test_states_are_compared_in_little_memory(tmp_path):
    """All differences of the centres at once would be 2 GB."""
    wfa = loaded_with(tmp_path, 2500, "empirical", 40)
    with little_memory(1 << 30):
        np.testing.assert_allclose(wfa.predict_proba(["w0"]), 1 / 40, rtol=1e-6)


def test_many_texts_are_read_in_little_memory(tmp_path):
    """All their distributions at once would be 1.6 GB."""
    wfa = loaded_with(tmp_path, 5000, "uniform", 2)
    with little_memory(1 << 30):
        np.testing.assert_allclose(wfa.predict_proba(["w0"] * 40_000), 1 / 2, rtol=1e-6)


@pytest.mark.parametrize("make", [lambda: sample("probe", 4).wfa, lambda: linear_sample(2, classes=5).wfa])
def test_parts_of_the_texts_give_what_all_give(monkeypatch, make):
    wfa, sizes = make(), []
    ids = Ragged.from_lists([list(range(number % 9)) for number in range(50)], np.int32)
    whole = wfa.weights(ids), wfa.trace(ids).values
    read_out = type(wfa).read_out

    def spied(self, vectors):
        outputs = read_out(self, vectors)
        sizes.append(max(vectors.size, outputs.size))
        return outputs

    monkeypatch.setattr(type(wfa), "read_out", spied)
    monkeypatch.setattr("wfalens.automaton.wfa._FLOATS_AT_ONCE", 200)
    np.testing.assert_array_equal(wfa.weights(ids), whole[0])
    assert max(sizes) <= 200
    sizes.clear()
    np.testing.assert_array_equal(wfa.trace(ids).values, whole[1])
    assert max(sizes) <= 200 + 8 * wfa.states  # a text is read as a whole
    assert wfa.weights(ids.between(0, 0)).shape == (0, len(wfa.class_names))


@pytest.mark.parametrize(("layers", "width"), [(250, 1), (130, 2)])
def test_thin_layers_cannot_want_gigabytes(tmp_path, layers, width):
    """A layer of one number takes as much memory as one of 32."""
    wfa = linear_sample(0, layers=2, width=1, words=40_000).wfa
    wfa.save(tmp_path / "a.wfa")
    tensors, header = contents(tmp_path / "a.wfa")
    n = layers * width
    tensors |= {
        "factors.words": np.zeros((40_000, 1), np.float32),
        "factors.expansion": np.zeros((1, 3 * n - width), np.float32),
        "factors.offset": np.zeros(3 * n - width, np.float32),
        "factors.links": np.zeros((n, n), np.float32),
        "factors.start": np.zeros(n, np.float32),
        "factors.final": np.zeros((n, 3), np.float32),
        "mean_state": np.zeros(n),
    }
    path = write_contents(tmp_path / "odd.wfa", tensors, header)
    assert path.stat().st_size < 2_000_000
    with little_memory(), pytest.raises(FormatError, match="of memory in use, out of proportion"):
        WFA.load(path)


ODD = {
    "a strength that leads to NaN": lambda t, h: h["completion"].update(strength=1e-308),
    "a strength of nothing": lambda t, h: h["completion"].update(strength=5e-324),
    "a huge strength": lambda t, h: h["completion"].update(strength=1e29),
    "half a representative": lambda t, h: h["completion"].update(representatives=2.5),
    "representatives without number": lambda t, h: h["completion"].update(representatives=10**29),
    "max_length beyond 64 bits": lambda t, h: h.update(max_length=2**63),
    "max_length at 64 bits": lambda t, h: h.update(max_length=2**63 - 1),
    "max_length as a float": lambda t, h: h.update(max_length=5.0),
    "max_length true": lambda t, h: h.update(max_length=True),
    **{
        f"{part} of 64 bits": lambda t, h, part=part: t.update({part: t[part].astype(np.uint64)})
        for part in ("rows.entries", "rows.per_word", "rows.state", "rows.target", "probed.entries", "probed.target")
    },
    **{
        f"{part} of 16 bits": lambda t, h, part=part: t.update({part: t[part].astype(np.float16)})
        for part in ("centres", "rows.weight", "probed.weight")
    },
    "visits whose sum overflows": lambda t, h: t.update(state_visits=np.full(6, 2**53)),
    "word counts whose sum overflows": lambda t, h: t.update(word_counts=np.full(9, 2**53, np.uint64)),
}


@pytest.mark.parametrize("name", ODD)
def test_numbers_that_would_break_later_are_refused_at_once(tmp_path, name):
    sample("probe", 4, n=6, words=9).wfa.save(tmp_path / "good.wfa")
    tensors, header = contents(tmp_path / "good.wfa")
    ODD[name](tensors, header)
    with pytest.raises(FormatError, match=r"odd\.wfa") as caught:
        WFA.load(write_contents(tmp_path / "odd.wfa", tensors, header))
    assert "\n" not in str(caught.value)


def test_factors_of_half_precision_are_refused(tmp_path):
    linear_sample(2).wfa.save(tmp_path / "good.wfa")
    tensors, header = contents(tmp_path / "good.wfa")
    tensors["factors.bias"] = tensors["factors.bias"].astype(np.float16)
    with pytest.raises(FormatError, match="is of type F16"):
        WFA.load(write_contents(tmp_path / "odd.wfa", tensors, header))


@pytest.mark.parametrize(
    ("needed", "stored"),
    [
        (stochastic_bytes(5_700), 0),
        (stochastic_bytes(32_768), 32_768 * 1_200),  # a row or two of each state
        (linear_bytes(words=10**6, states=160, width=32), 10**6 * 96 * 4),  # the usual factors
        (linear_bytes(words=30_000, states=512, width=64), 0),
    ],
)
def test_automata_of_the_usual_proportions_are_never_refused(needed, stored):
    check_in_use(needed, stored)


def test_a_provenance_without_an_end_is_refused(originals, tmp_path):
    tensors, header = originals[0]
    nested = {}
    for _ in range(300):
        nested = {"a": [nested]}
    path = write_contents(tmp_path / "deep.wfa", tensors, header | {"provenance": nested})
    with pytest.raises(FormatError):
        WFA.load(path)
