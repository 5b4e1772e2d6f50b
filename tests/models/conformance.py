"""What every model adapter must keep: one class of promises, inherited by each adapter's tests."""

from dataclasses import replace

import numpy as np
import pytest

from wfalens.extraction import Linear, Paper, completion_method, extract
from wfalens.models import AnswerCache, PrefixClassifier, StatefulClassifier, check_causal
from wfalens.models.inference import last_outputs, state_grid, states_after, step_grid
from wfalens.ragged import Ragged


class PrefixConformance:
    """Subclasses give a fixture `make`: a function from a seed and an encoder to a model."""

    @pytest.fixture(scope="class")
    @classmethod
    def models(cls):
        """Models by the parameters of the class: each is made once for all promises."""
        return {}

    @pytest.fixture
    def model(self, request, models, make, letters):
        key = str(getattr(request.node, "callspec", None) and request.node.callspec.params)
        if key not in models:
            models[key] = make(0, letters)
        return models[key]

    def ids(self, model, seed=0) -> Ragged:
        rng = np.random.default_rng(seed)
        lengths = rng.integers(1, 9, 20)
        words = rng.integers(1, len(model.encoder.vocabulary), lengths.sum())
        return Ragged.from_lengths(words.astype(np.int32), lengths)

    def test_keeps_the_contract(self, model):
        assert isinstance(model, PrefixClassifier)
        assert len(model.class_names) >= 2
        assert isinstance(model.fingerprint, str)

    def test_one_distribution_per_token(self, model):
        ids = self.ids(model)
        trace = model.trace(ids)
        assert trace.values.shape == (len(ids.values), len(model.class_names))
        np.testing.assert_array_equal(trace.offsets, ids.offsets)
        np.testing.assert_allclose(trace.values.sum(1), 1, atol=1e-4)

    def test_a_whole_text_is_scored_as_its_last_prefix(self, model):
        ids = self.ids(model)
        final = model.final(ids)
        assert final.shape == (len(ids), len(model.class_names))
        np.testing.assert_allclose(final, model.trace(ids).last(), atol=1e-5)

    def test_texts_are_read_as_their_word_ids_say(self, model):
        words = [" ".join(model.encoder.vocabulary.decode(text)) for text in self.ids(model).cut(4)]
        texts = [text for text in words if model.encoder.tokens(text)]
        ids = model.encode(texts)
        np.testing.assert_allclose(model.predict_proba(texts), model.final(ids), atol=1e-5)
        np.testing.assert_array_equal(model.folded(ids).values, model.encoder.encode(texts).values)

    def test_a_text_is_traced_alike_alone_and_in_a_batch(self, model):
        ids = self.ids(model)
        together = model.trace(ids)
        for item in range(0, len(ids), 5):
            alone = model.trace(ids.take(np.array([item])))
            np.testing.assert_allclose(alone.values, together[item], atol=1e-5)

    def test_the_order_of_texts_does_not_matter(self, model):
        ids = self.ids(model)
        order = np.random.default_rng(1).permutation(len(ids))
        shuffled = model.trace(ids.take(order))
        np.testing.assert_allclose(shuffled.values, model.trace(ids).take(order).values, atol=1e-5)

    def test_every_prefix_is_scored_as_if_the_text_ended_there(self, model):
        ids = self.ids(model)
        whole = model.trace(ids)
        for length in (1, 3):
            long_enough = np.flatnonzero(ids.lengths >= length)
            cut = model.trace(ids.take(long_enough).cut(length)).last()
            inside = whole.values[ids.offsets[long_enough] + length - 1]
            np.testing.assert_allclose(cut, inside, atol=1e-5)

    def test_whole_texts_are_scored_as_at_the_end_of_their_trace(self, model):
        ids = self.ids(model)
        np.testing.assert_allclose(last_outputs(model, ids), model.trace(ids).last(), atol=1e-5)

    def test_texts_are_classified_by_name(self, model):
        texts = ["a b c", "", "d"]
        rows = model.predict_proba(texts)
        np.testing.assert_allclose(
            rows[[0, 2]], model.final(model.encoder.encode(texts).take(np.array([0, 2]))), atol=1e-5
        )
        np.testing.assert_allclose(rows[1], model.initial_output, atol=1e-6)
        assert model.predict(texts).tolist() == model.classes_[rows.argmax(1)].tolist()

    def test_words_matter(self, model):
        """Without this, the promises above could be kept by a constant."""
        outputs = model.trace(model.encoder.encode(["a", "b", "c", "d"])).values
        assert np.ptp(outputs, axis=0).max() > 1e-3

    def test_unknown_words_are_all_read_alike(self, model):
        outputs = model.trace(model.encoder.encode(["a yonder b", "a zebra b"]))
        np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-6)

    def test_a_text_without_words_gets_the_prior(self, model):
        wfa = extract(model, ["", "a b c", " ", "b d"], Paper(states=2, completion="uniform", alpha=0))
        prior = getattr(model, "initial_output", np.full(len(model.class_names), 1 / len(model.class_names)))
        assert prior.sum() == pytest.approx(1, abs=1e-5)
        np.testing.assert_allclose(wfa.predict_proba([""])[0], prior, atol=1e-6)

    def test_long_texts_are_cut(self, make, letters):
        model = make(0, replace(letters, max_length=3))
        assert model.encoder.max_length == 3
        ids = model.encoder.encode(["a b c d e f g h", "a b c"])
        np.testing.assert_array_equal(ids.lengths, [3, 3])
        outputs = model.trace(ids)
        np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-6)

    def test_a_very_long_text_is_read(self, model):
        ids = Ragged.from_lists([np.arange(60) % 8 + 2], np.int32)
        assert model.trace(ids).values.shape == (60, len(model.class_names))

    def test_the_fingerprint_tells_models_apart(self, make, letters):
        assert make(0, letters).fingerprint == make(0, letters).fingerprint
        assert make(0, letters).fingerprint != make(1, letters).fingerprint

    def test_outputs_do_not_look_ahead(self, model):
        check_causal(model, self.ids(model))

    def test_it_can_be_extracted_with_rows_that_are_counted_and_rows_that_are_asked(self, model):
        ids = self.ids(model)
        asked = completion_method("fit", states=4, representatives=2, rounds=2)
        for method in (Paper(states=4), asked):
            assert extract(model, ids, method).predict_proba(ids).shape == (len(ids), len(model.class_names))


class WholeTextConformance(PrefixConformance):
    """Of models that pay for every call: they are asked for whole texts, each once, and all of that is counted."""

    def counted(self, model, monkeypatch):
        """Word ids of all texts that the model is given from now on."""
        given, answers = [], model.answers

        def counting(texts):
            given.extend(tuple(text.tolist()) for text in texts)
            return answers(texts)

        monkeypatch.setattr(model, "answers", counting)
        return given

    def test_whole_texts_are_asked_and_no_prefix(self, model, monkeypatch):
        ids, given, before = self.ids(model), self.counted(model, monkeypatch), model.queries
        last_outputs(model, ids)
        assert sorted(given) == sorted({tuple(text.tolist()) for text in ids})
        assert model.queries - before == len(given)

    def test_whole_texts_are_scored_alike_alone_and_in_a_batch(self, model):
        ids = self.ids(model)
        together = model.final(ids)
        for item in range(0, len(ids), 5):
            np.testing.assert_allclose(model.final(ids.take(np.array([item])))[0], together[item], atol=1e-5)

    def test_nothing_is_asked_twice_with_a_cache(self, make, letters, monkeypatch, tmp_path):
        first, again = make(0, letters), make(0, letters)
        ids, cache = self.ids(first), AnswerCache(tmp_path / "answers")
        first.cache = again.cache = cache
        expected, given = first.final(ids), self.counted(again, monkeypatch)
        np.testing.assert_array_equal(again.final(ids), expected)
        assert not given

    def test_another_model_with_the_same_cache_answers_for_itself(self, make, letters, tmp_path):
        first, other = make(0, letters), make(1, letters)
        ids, expected = self.ids(first), make(1, letters).final(self.ids(first))
        first.cache = other.cache = AnswerCache(tmp_path / "answers")
        first.final(ids)
        np.testing.assert_allclose(other.final(ids), expected, atol=1e-5)

    def test_a_batch_that_fails_is_asked_again_in_parts(self, model, monkeypatch):
        ids, answers = self.ids(model), model.answers
        expected = model.final(ids)

        def fails_on_many(texts):
            if len(texts) > 1:
                raise ConnectionError("too many at once")
            return answers(texts)

        monkeypatch.setattr(model, "answers", fails_on_many)
        np.testing.assert_allclose(model.final(ids), expected, atol=1e-5)

    def test_the_number_of_queries_is_a_promise(self, model, monkeypatch):
        ids, before = self.ids(model), model.queries
        given = self.counted(model, monkeypatch)
        wfa = extract(model, ids, Linear(layers=1, width=4, factors=4, hidden=8, epochs=2), queries=60)
        assert 0 < len(given) <= model.queries - before <= 60
        assert wfa.provenance["queries"]["total"] == model.queries - before


class StatefulConformance(PrefixConformance):
    def test_stepping_equals_tracing(self, model):
        assert isinstance(model, StatefulClassifier)
        ids = self.ids(model)
        trace = model.trace(ids)
        for item in range(0, len(ids), 4):
            state = model.initial_state(1)
            for position, word in enumerate(ids[item]):
                state, output = model.step(state, np.array([word], np.int32))
                np.testing.assert_allclose(output[0], trace[item][position], atol=1e-5)

    def test_states_after_prefixes_lead_on(self, model):
        ids = self.ids(model)
        state = states_after(model, ids.cut(2))
        longer = np.flatnonzero(ids.lengths > 2)
        words = np.array([ids[item][2] for item in longer], np.int32)
        _, outputs = model.step(state[longer], words)
        expected = np.array([model.trace(ids)[item][2] for item in longer])
        np.testing.assert_allclose(outputs, expected, atol=1e-5)

    def test_grid_equals_single_steps(self, model):
        state = states_after(model, self.ids(model))
        words = np.arange(1, min(7, len(model.encoder.vocabulary)), dtype=np.int32)
        grid = step_grid(model, state, words)
        states, grid_outputs = state_grid(model, state, words)
        for column, word in enumerate(words):
            after, outputs = model.step(state, np.full(len(state), word))
            np.testing.assert_allclose(grid[:, column], outputs, atol=1e-5)
            np.testing.assert_allclose(grid_outputs[:, column], outputs, atol=1e-5)
            np.testing.assert_allclose(states[:, column], after, atol=1e-5)

    def test_initial_output_is_a_distribution(self, model):
        assert model.initial_output.shape == (len(model.class_names),)
        assert model.initial_output.sum() == pytest.approx(1, abs=1e-5)
