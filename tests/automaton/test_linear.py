"""The linear automaton: its steps, its bound, its file, and all that is built on the common face."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.automata import linear_sample, linear_samples
from tests.files import contents, without_checksums, write_contents
from wfalens.automaton import WFA, LinearWFA
from wfalens.automaton.sweeps import forward_backward, replacement_outputs
from wfalens.errors import FormatError, InputError
from wfalens.explanation import TransitionEmbeddings, best_replacements, explain, influence, phrase_influence
from wfalens.ragged import Ragged

texts_of_numbers = st.lists(st.lists(st.integers(0, 100), max_size=9), max_size=7)


def ids_of(item, raw) -> Ragged:
    words = len(item.matrices)
    return Ragged.from_lists([[1 + number % (words - 1) for number in text] for text in raw], np.int32)


def states_by_hand(item, ids) -> list[np.ndarray]:
    """`[x, 1]` after every word of each text, the start first."""
    found = []
    for text in ids:
        states = [item.wfa.initial]
        for word in text:
            states.append(states[-1] @ item.matrices[word])
        found.append(np.array(states))
    return found


def rounding(item, ids) -> float:
    """How far class weights in single precision may lie from the exact ones: the usual bound of running errors.

    Every sum of a step rounds at most as often as it has terms, each time by a share of the sum of absolute values.
    """
    largest = 0.0
    for text in ids:
        state, final = np.abs(item.wfa.initial), np.abs(item.final)
        for word in text:
            state = state @ np.abs(item.matrices[word])
        largest = max(largest, (state @ final).max())
    steps = (1 + ids.lengths.max(initial=0)) * (item.wfa.states + 4)
    return float(steps * np.finfo(np.float32).eps / 2 * largest)


@given(linear_samples())
def test_matrices_are_the_definition_written_out(item):
    names = item.wfa.encoder.vocabulary.words
    found = [item.wfa.matrix(name) for name in names[1:]]
    np.testing.assert_allclose(found, item.defined[1:], rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(item.wfa.matrices(np.array([0], np.int32))[0], np.eye(item.wfa.states))


@given(linear_samples(), texts_of_numbers)
def test_state_vectors_are_products_of_matrices(item, raw):
    ids = ids_of(item, raw)
    expected = states_by_hand(item, ids)
    every, last = item.wfa.state_vectors(ids, every=True), item.wfa.state_vectors(ids, every=False)
    assert every.shape == (len(ids.values), item.wfa.states)
    assert last.shape == (len(ids), item.wfa.states)
    np.testing.assert_allclose(last, [states[-1] for states in expected] or last, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        every, np.vstack([every[:0], *(states[1:] for states in expected)]), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_texts_are_read_as_one_by_one(threads, monkeypatch):
    monkeypatch.setenv("WFALENS_THREADS", threads)
    item = linear_sample(3)
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 20, 3000)
    lengths[[0, 1, 500, -1]] = 0  # empty texts at the ends and between
    lengths[700] = 4000
    ids = Ragged.from_lengths(rng.integers(1, 9, lengths.sum()).astype(np.int32), lengths)
    every, last = item.wfa.state_vectors(ids, every=True), item.wfa.state_vectors(ids, every=False)
    for text in (0, 1, 2, 499, 500, 501, 700, 701, 2998, 2999):
        expected = states_by_hand(item, ids.take(np.array([text])))[0]
        np.testing.assert_allclose(last[text], expected[-1], atol=1e-9)
        np.testing.assert_allclose(every[ids.offsets[text] : ids.offsets[text + 1]], expected[1:], atol=1e-9)
    order = rng.permutation(len(ids))
    np.testing.assert_array_equal(item.wfa.state_vectors(ids.take(order), every=False), last[order])
    for read in (item.wfa.weights, item.wfa.prediction_weights):  # to the bit
        alone = [read(ids.take(np.array([text])))[0] for text in (0, 2, 700)]
        np.testing.assert_array_equal(read(ids)[[0, 2, 700]], alone)
        np.testing.assert_array_equal(read(ids.take(order)), read(ids)[order])


@pytest.mark.parametrize(("layers", "width"), [(1, 1), (3, 5), (2, 32), (5, 32), (3, 40), (2, 64)])
def test_layers_of_any_width_are_read_alike(layers, width):
    """Widths below, at and above what the kernel takes at once."""
    item = linear_sample(1, layers=layers, width=width)
    ids = Ragged.from_lists([[1, 2, 3, 4, 5], [], [6, 7] * 50, [8]], np.int32)
    expected = states_by_hand(item, ids)
    scale = 1 + max(np.abs(states).max() for states in expected)
    every, last = item.wfa.state_vectors(ids, every=True), item.wfa.state_vectors(ids, every=False)
    np.testing.assert_allclose(every / scale, np.vstack([states[1:] for states in expected]) / scale, atol=1e-12)
    np.testing.assert_allclose(last / scale, np.array([states[-1] for states in expected]) / scale, atol=1e-12)


@settings(max_examples=30)
@given(st.lists(st.integers(0, 90), min_size=1, max_size=30), st.integers(0, 10**6), st.sampled_from([3, 32, 40]))
def test_what_is_read_beside_a_text_does_not_change_it_to_the_bit(lengths, seed, width):
    item = linear_sample(2, layers=3, width=width)
    rng = np.random.default_rng(seed)
    ids = Ragged.from_lengths(rng.integers(1, 9, sum(lengths)).astype(np.int32), np.array(lengths))
    every, last = item.wfa.state_vectors(ids, every=True), item.wfa.state_vectors(ids, every=False)
    single = item.wfa.single_vectors(ids)
    for text in range(len(ids)):
        alone = ids.take(np.array([text]))
        np.testing.assert_array_equal(
            item.wfa.state_vectors(alone, every=True), every[ids.offsets[text] : ids.offsets[text + 1]]
        )
        np.testing.assert_array_equal(item.wfa.state_vectors(alone, every=False)[0], last[text])
        np.testing.assert_array_equal(item.wfa.single_vectors(alone)[0], single[text])


@given(linear_samples(), texts_of_numbers.filter(len))
def test_class_weights_are_centred_and_probabilities_are_their_softmax(item, raw):
    ids = ids_of(item, raw)
    weights, outputs = item.wfa.weights(ids), item.wfa.predict_proba(ids)
    plain = np.array([states[-1] for states in states_by_hand(item, ids)]) @ item.final
    scale = 1 + np.abs(plain).max()
    np.testing.assert_allclose(weights.sum(1) / scale, 0, atol=1e-12)
    np.testing.assert_allclose(weights / scale, (plain - plain.mean(1, keepdims=True)) / scale, atol=1e-9)
    softmax = np.exp(plain - plain.max(1, keepdims=True))
    np.testing.assert_allclose(outputs, softmax / softmax.sum(1, keepdims=True), atol=2 * rounding(item, ids))
    np.testing.assert_allclose(outputs.sum(1), 1, atol=1e-12)
    np.testing.assert_array_equal(item.wfa.predict_indices(ids), outputs.argmax(1))


@given(linear_samples(), texts_of_numbers)
def test_trace_ends_where_prediction_ends(item, raw):
    ids = ids_of(item, [text for text in raw if text])
    trace = item.wfa.trace(ids)
    assert trace.values.shape == (len(ids.values), len(item.wfa.class_names))
    if len(ids):
        np.testing.assert_allclose(trace.last(), item.wfa.probabilities(item.wfa.weights(ids)), atol=1e-9)
        np.testing.assert_allclose(trace.last(), item.wfa.predict_proba(ids), atol=2 * rounding(item, ids))


@given(linear_samples(), texts_of_numbers)
def test_predictions_are_the_weights_in_single_precision(item, raw):
    ids = ids_of(item, raw)
    exact, single = item.wfa.weights(ids), item.wfa.prediction_weights(ids)
    assert item.wfa.single_vectors(ids).dtype == np.float32
    assert single.shape == exact.shape
    np.testing.assert_allclose(single, exact, atol=2 * rounding(item, ids))
    np.testing.assert_array_equal(item.wfa.predict_proba(ids), item.wfa.probabilities(single))
    np.testing.assert_array_equal(item.wfa.margin(ids), item.wfa.margins(single))


def test_advance_steps_from_a_common_vector_and_from_own_ones():
    item = linear_sample(0)
    rng = np.random.default_rng(1)
    vectors, ids = rng.normal(size=(5, item.wfa.states)), np.array([1, 4, 4, 8, 0], np.int32)
    own = [vector @ item.matrices[word] for vector, word in zip(vectors, ids, strict=True)]
    np.testing.assert_allclose(item.wfa.advance(vectors, ids), own, atol=1e-12)
    common = [vectors[0] @ item.matrices[word] for word in ids]
    np.testing.assert_allclose(item.wfa.advance(vectors[:1], ids), common, atol=1e-12)


def bound_by_hand(item) -> np.ndarray:
    """By the matrices: a number is at most its start, or the largest input over what its decay takes away.

    Of a pair that turns, its length is meant, and the decay is the norm of its block.
    """
    wfa, n, m = item.wfa, item.wfa.states - 1, item.wfa.factors.width
    blocks = [[at] for at in range(n)]
    if wfa.factors.turns:
        half = m // 2
        blocks = [[at, at + half] for at in range(half)] + [[at] for at in range(2 * half, n)]
    bounds = np.zeros(n)
    for block in blocks:
        first = block[0] // m * m  # of its layer
        bounds[block] = np.linalg.norm(wfa.initial[block])
        for matrix in item.matrices[1:]:
            push = np.linalg.norm(np.abs(matrix[n, block]) + bounds[:first] @ np.abs(matrix[:first][:, block]))
            bounds[block] = np.maximum(bounds[block], push / (1 - np.linalg.norm(matrix[np.ix_(block, block)], 2)))
    return bounds


@settings(max_examples=15)
@given(linear_samples(), st.integers(0, 10**6))
def test_no_text_leaves_the_bound(item, seed):
    rng, words = np.random.default_rng(seed), len(item.matrices)
    np.testing.assert_allclose(item.wfa.bounds, bound_by_hand(item), rtol=1e-9)
    random = [rng.integers(1, words, length).tolist() for length in (150, 150, 10_000)]
    repeated = [[word] * 10_000 for word in range(1, words)]
    states = np.abs(item.wfa.state_vectors(Ragged.from_lists([*random, *repeated], np.int32), every=True)[:, :-1])
    assert np.all(states.max(0) <= item.wfa.bounds * (1 + 1e-9))


@pytest.mark.parametrize("length", [150, 10_000])
def test_texts_made_to_grow_stay_below_the_bound(length):
    """At every step the word that makes the state largest."""
    for seed in range(3):
        item = linear_sample(seed, layers=4, width=3, decay=0.999)
        text, state = [], item.wfa.initial
        for _ in range(length):
            after = state @ item.matrices[1:]
            worst = int(np.abs(after).sum(1).argmax())
            text.append(1 + worst)
            state = after[worst]
        ids = Ragged.from_lists([text], np.int32)
        states = np.abs(item.wfa.state_vectors(ids, every=True)[:, :-1])
        assert np.all(states <= item.wfa.bounds * (1 + 1e-9))
        assert np.abs(states).max() > np.abs(item.wfa.initial).max()  # the adversary did find something
        assert np.isfinite(item.wfa.weights(ids)).all()
        assert item.wfa.predict_proba(ids).sum() == pytest.approx(1)


def test_the_bound_is_reached_by_one_layer_and_one_word():
    item = linear_sample(0, layers=1, words=3, decay=0.9, turns=False)
    wfa = LinearWFA(**(parts_of(item.wfa) | {"factors": item.wfa.factors._replace(start=np.zeros(4, np.float32))}))
    single = Ragged.from_lists([[2] * 3000], np.int32)
    reached = np.abs(wfa.state_vectors(single, every=False)[0, :-1])
    own = np.abs(item.matrices[2][4, :4]) / (1 - np.diag(item.matrices[2])[:4])
    np.testing.assert_allclose(reached, own, rtol=1e-6)


def parts_of(wfa) -> dict:
    names = ("encoder", "class_names", "factors", "mean_state", "word_counts", "provenance")
    return {name: getattr(wfa, name) for name in names}


@pytest.mark.parametrize("tokens", [1, 2, 1000])
def test_mean_state_is_the_mean_before_every_word(tokens, monkeypatch):
    monkeypatch.setattr("wfalens.automaton.linear._TOKENS_AT_ONCE", tokens)
    item = linear_sample(2)
    ids = ids_of(item, [[1, 2, 3], [], [5], [4, 4]])
    before = np.vstack([states[:-1] for states in states_by_hand(item, ids)])
    made_of = {name: part for name, part in parts_of(item.wfa).items() if name not in ("mean_state", "word_counts")}
    found = LinearWFA.of_texts(ids, **made_of)
    np.testing.assert_allclose(found.mean_state, before[:, :-1].mean(0), atol=1e-12)
    np.testing.assert_array_equal(found.state_frequencies, [*found.mean_state, 1])
    np.testing.assert_array_equal(found.weights(ids), item.wfa.weights(ids))
    np.testing.assert_array_equal(found.word_counts, np.bincount(ids.values, minlength=len(found.word_counts)))


def test_unknown_words_read_as_unknown_and_padding_as_nothing():
    item = linear_sample(4)
    np.testing.assert_array_equal(item.wfa.matrix("never heard of"), item.wfa.matrix("<unk>"))
    np.testing.assert_array_equal(item.wfa.weights(["w1 zzz w2"]), item.wfa.weights(["w1 <unk> w2"]))
    assert np.abs(item.wfa.weights(["w1 zzz"]) - item.wfa.weights(["w1"])).max() > 1e-6
    np.testing.assert_allclose(item.wfa.weights([""])[0], item.wfa.read_out(item.wfa.initial[None])[0])
    padded = Ragged.from_lists([[2, 0, 3, 0], [2, 3]], np.int32)
    first, second = item.wfa.weights(padded)
    np.testing.assert_allclose(first, second, atol=1e-12)


def text_of(item, raw) -> list[str]:
    words = item.wfa.encoder.vocabulary.words
    return [words[2 + number % (len(words) - 2)] if number < 90 else "zzz" for number in raw]


sentences = st.lists(st.integers(0, 100), min_size=1, max_size=9)


@given(linear_samples(), sentences)
def test_contributions_are_log_odds_and_add_up(item, raw):
    found = explain(item.wfa, " ".join(text_of(item, raw)), unit="log-odds")
    scale = 1 + np.abs(found.output).max()
    assert found.unit == "log-odds"
    np.testing.assert_allclose(found.values.sum(0) / scale, (found.output - found.base) / scale, atol=1e-9)
    outputs = item.wfa.predict_proba(["", " ".join(found.words)])
    logs = np.log(outputs[:, outputs.min(0) > 1e-250])  # of the classes that rounding leaves a probability
    moved = found.values.sum(0)[outputs.min(0) > 1e-250]
    if len(moved):
        wanted = np.diff(logs - logs[:, :1], axis=0)[0]  # how the odds against the first of them changed
        tolerance = 1e-9 * scale + 4 * rounding(item, item.wfa.encoder.encode(["", " ".join(found.words)]))
        np.testing.assert_allclose(moved - moved[0], wanted, atol=tolerance)
    assert found.label == item.wfa.class_names[item.wfa.predict_indices([" ".join(found.words)])[0]]


@given(linear_samples(), sentences)
def test_deletion_and_replacement_equal_recomputation(item, raw):
    words = text_of(item, raw)
    found = explain(item.wfa, " ".join(words), unit="log-odds")
    scale = 1 + np.abs(found.without).max()
    for position in range(len(words)):
        rest = " ".join(words[:position] + words[position + 1 :])
        np.testing.assert_allclose(found.without[position] / scale, item.wfa.weights([rest])[0] / scale, atol=1e-9)
    ids = item.wfa.encoder.encode([" ".join(words)]).values
    forward, backward = forward_backward(item.wfa, ids)
    candidates = np.arange(1, len(item.matrices), dtype=np.int32)
    for position in range(len(ids)):
        outputs = replacement_outputs(item.wfa, forward, backward, position, candidates)
        changed = np.tile(ids, (len(candidates), 1))
        changed[:, position] = candidates
        expected = item.wfa.weights(Ragged.from_lists(changed.tolist(), np.int32))
        np.testing.assert_allclose(outputs / scale, expected / scale, atol=1e-6)


def test_best_replacement_lowers_the_class_most():
    item = linear_sample(7)
    text = "w1 w2 w3"
    column = int(item.wfa.predict_indices([text])[0])
    for found in best_replacements(item.wfa, text, min_count=1).items:
        words = text.split()
        rivals = []
        for word in TransitionEmbeddings.of(item.wfa, 1).words:
            words[found.position] = word
            rivals.append(item.wfa.weights([" ".join(words)])[0, column])
        assert found.output[column] == pytest.approx(min(rivals))


def test_equal_weights_are_still_a_decision():
    wfa = linear_sample(0).wfa
    factors = wfa.factors._replace(final=np.zeros((12, 3), np.float32), bias=np.zeros(3, np.float32))
    flat = LinearWFA(**(parts_of(wfa) | {"factors": factors}))
    assert flat.predict_indices(["w1"]).tolist() == [0]
    assert flat.walk("w1").label == explain(flat, "w1").label == "c0"
    assert len(best_replacements(flat, "w1 w2", min_count=1).items) == 2


@given(linear_samples())
def test_influence_is_the_mean_change_of_log_odds(item):
    found = influence(item.wfa, 1) if (item.wfa.word_counts[2:] > 0).any() else None
    if found is None:
        return
    assert found.unit == "log-odds"
    centred = item.final - item.final.mean(1, keepdims=True)
    mean = item.wfa.state_frequencies
    for word, row in zip(found.words, found.scores, strict=True):
        matrix = item.matrices[item.wfa.encoder.vocabulary.id_of(word)]
        np.testing.assert_allclose(row, (mean @ matrix - mean) @ centred, rtol=1e-6, atol=1e-6)
    both = phrase_influence(item.wfa, [f"{found.words[0]} zzz", found.words[0]]).scores
    first = item.matrices[item.wfa.encoder.vocabulary.id_of(found.words[0])]
    expected = [(mean @ first @ item.matrices[1] - mean) @ centred, found.scores[0]]
    np.testing.assert_allclose(both, expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))


def test_transition_embeddings_are_the_matrices():
    item = linear_sample(5, words=30)
    table = TransitionEmbeddings.of(item.wfa, 1)
    rows = table.rows(np.arange(len(table)))
    np.testing.assert_allclose(rows, item.matrices[table.ids].reshape(len(table), -1), atol=1e-5)
    word = table.words[3]
    gaps = np.square(rows - rows[3]).mean(1)
    gaps[3] = np.inf
    assert table.nearest(word, 1)[0][0] == table.words[int(gaps.argmin())]
    reduced = table.reduced(4)
    assert reduced.vectors.matrix.shape == (len(table), 4)
    assert 0 < reduced.explained.sum() <= 1 + 1e-6


def test_walk_shows_outputs_and_kinds_of_rows_but_no_states():
    item = linear_sample(6)
    counts = item.wfa.word_counts.copy()
    counts[2], counts[3] = 7, 0
    wfa = LinearWFA(**(parts_of(item.wfa) | {"word_counts": counts}))
    way = wfa.walk("w0 zzz w1")
    assert way.row_kinds == ["observed", "unknown", "completed"]
    np.testing.assert_allclose(way.outputs[1:], wfa.trace(["w0 zzz w1"]).values)
    np.testing.assert_allclose(way.outputs.sum(1), 1)
    told = way.to_dict()
    assert [step["word"] for step in told["steps"]] == ["w0", "zzz", "w1"]
    assert not any("state" in key for step in told["steps"] for key in step)
    assert list(way.to_dataframe().columns) == ["word", "rows", *wfa.class_names]


def test_arrays_cannot_be_written_to():
    wfa = linear_sample(0).wfa
    for array in (wfa.factors.words, wfa.factors.links, wfa.initial, wfa.mean_state, wfa.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@settings(max_examples=15)
@given(linear_samples())
def test_load_of_save_is_identity_and_bytes_are_stable(tmp_path_factory, item):
    folder = tmp_path_factory.mktemp("wfa")
    item.wfa.save(folder / "a.wfa")
    loaded = WFA.load(folder / "a.wfa")
    assert isinstance(loaded, LinearWFA)
    loaded.save(folder / "b.wfa")
    assert (folder / "a.wfa").read_bytes() == (folder / "b.wfa").read_bytes()
    assert loaded.encoder == item.wfa.encoder
    assert loaded.fingerprint == item.wfa.fingerprint
    assert loaded.provenance == item.wfa.provenance
    assert loaded.summary() == item.wfa.summary()
    np.testing.assert_array_equal(loaded.word_counts, item.wfa.word_counts)
    np.testing.assert_array_equal(loaded.mean_state, item.wfa.mean_state)
    texts = ["w0 w0 zzz", "", "w0"]
    np.testing.assert_array_equal(loaded.weights(texts), item.wfa.weights(texts))


@pytest.fixture
def parts(tmp_path):
    """Tensors and header of a good file, and a way to write them back changed."""
    linear_sample(4).wfa.save(tmp_path / "good.wfa")
    tensors, header = contents(tmp_path / "good.wfa")
    return tensors, header, lambda: write_contents(tmp_path / "bad.wfa", tensors, header)


def test_the_unchanged_parts_load(parts):
    assert WFA.load(parts[2]()).kind == "linear"


def cut(name):
    return lambda t, h: t.update({name: np.ascontiguousarray(t[name][:-1])})


def left_out(name):
    return lambda t, h: t.pop(name)


def put(name, place, value):
    return lambda t, h: t[name].__setitem__(place, value)


DAMAGE = {
    "links to the same layer": (put("factors.links", (0, 1), 0.5), "earlier layer"),
    "links to an earlier layer": (put("factors.links", (11, 0), 0.5), "earlier layer"),
    "a link back to itself": (put("factors.links", (3, 3), -1), "earlier layer"),
    "decay of 1": (lambda t, h: h.update(decay=1.0), "between 0 and 1"),
    "decay above 1": (lambda t, h: h.update(decay=1.2), "between 0 and 1"),
    "decay of 0": (lambda t, h: h.update(decay=0), "between 0 and 1"),
    "negative decay": (lambda t, h: h.update(decay=-0.5), "between 0 and 1"),
    "decay not a number": (lambda t, h: h.update(decay=float("nan")), "decay"),
    "decay as text": (lambda t, h: h.update(decay="most"), "decay"),
    "no decay": (lambda t, h: h.pop("decay"), "decay"),
    "fewer words": (cut("factors.words"), "words"),
    "narrower words": (lambda t, h: t.update({"factors.words": t["factors.words"][:, 1:].copy()}), "expansion"),
    "expansion cut": (cut("factors.expansion"), "expansion"),
    "offset cut": (cut("factors.offset"), "expansion"),
    "links cut": (cut("factors.links"), "links"),
    "start cut": (cut("factors.start"), "links"),
    "final cut": (cut("factors.final"), "final"),
    "bias cut": (cut("factors.bias"), "bias"),
    "mean state cut": (cut("mean_state"), "mean state"),
    "word counts cut": (cut("word_counts"), "word counts"),
    "one axis too many": (lambda t, h: t.update({"factors.bias": t["factors.bias"][None]}), "axes"),
    "whole numbers": (lambda t, h: t.update({"factors.words": t["factors.words"].astype(np.int32)}), "int32"),
    "layers that do not fit": (
        lambda t, h: t.update(
            {
                "factors.offset": np.append(t["factors.offset"], np.zeros(7, np.float32)),
                "factors.expansion": np.hstack([t["factors.expansion"], np.zeros((5, 7), np.float32)]),
            }
        ),
        "layers",
    ),
    "another number of classes": (lambda t, h: h.update(class_names=["a", "b"]), "final"),
    "NaN in the words": (put("factors.words", (2, 0), np.nan), "NaN"),
    "NaN in the links": (put("factors.links", (0, 11), np.nan), "NaN"),
    "infinite start": (put("factors.start", 0, np.inf), "infinite"),
    "NaN in the mean state": (put("mean_state", 0, np.nan), "NaN"),
    "huge words": (put("factors.words", (2, 0), 1e30), "out of range"),
    "huge final": (put("factors.final", (0, 0), -1e12), "out of range"),
    "huge mean state": (put("mean_state", 0, 1e200), "out of range"),
    "beyond single precision": (lambda t, h: t.update({"factors.bias": np.full(3, 1e300)}), "out of range"),
    "counts out of range": (
        lambda t, h: t.update({"word_counts": np.full(9, 2**64 - 1, np.uint64)}),
        "counts are out of range",
    ),
    "negative counts": (lambda t, h: t.update({"word_counts": np.full(9, -1)}), "counts are out of range"),
    "unknown kind": (lambda t, h: h.update(kind="magic"), "stochastic, linear"),
    **{
        f"no {name}": (left_out(name), "is missing")
        for name in (
            *(f"factors.{part}" for part in ("words", "expansion", "offset", "links", "start", "final", "bias")),
            "mean_state",
            "word_counts",
        )
    },
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_refused_with_one_sentence(parts, name):
    tensors, header, write = parts
    change, reason = DAMAGE[name]
    change(tensors, header)
    with pytest.raises(FormatError, match=r"bad\.wfa") as caught:
        WFA.load(write())
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_factors_that_could_leave_all_numbers_are_refused(tmp_path):
    deep = linear_sample(0, layers=40, width=1, decay=0.999).wfa
    large = deep.factors._replace(
        links=np.triu(np.full((40, 40), 1e5, np.float32), 1), offset=np.full_like(deep.factors.offset, 1e5)
    )
    with pytest.raises(InputError, match="beyond all numbers"):
        LinearWFA(**(parts_of(deep) | {"factors": large}))


def test_a_decay_that_is_1_in_single_precision_is_refused():
    wfa = linear_sample(0).wfa
    offset = wfa.factors.offset.copy()
    offset[:] = 30  # every sigmoid is 1
    with pytest.raises(InputError, match="beyond all numbers"):
        LinearWFA(**(parts_of(wfa) | {"factors": wfa.factors._replace(offset=offset, decay=1 - 1e-12)}))


def test_random_bytes_never_load_or_crash(tmp_path):
    linear_sample(4).wfa.save(tmp_path / "good.wfa")
    blob = bytearray(without_checksums(tmp_path / "good.wfa"))
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = blob.copy()
        for place in rng.integers(len(blob), size=3):
            changed[place] = rng.integers(256)
        (tmp_path / "odd.wfa").write_bytes(changed)
        try:
            wfa = WFA.load(tmp_path / "odd.wfa")
        except FormatError:
            continue
        assert np.isfinite(wfa.predict_proba(["w0 w1 w2 " * 50])).all()
