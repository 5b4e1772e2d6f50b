"""Training of linear automata: reproducible, resumable, and faithful for models of every kind."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.files import contents, write_contents
from tests.methods import Bounded
from tests.models.test_adapters import CLASSES, count_letters
from wfalens.automaton import LinearWFA
from wfalens.errors import FormatError, InputError
from wfalens.evaluation import jensen_shannon
from wfalens.extraction import Linear, Stochastic, extract
from wfalens.extraction.completion.probing import choose_representatives
from wfalens.extraction.held_out import divided
from wfalens.extraction.linear.generator import Generator
from wfalens.extraction.linear.linear_training import divergence
from wfalens.extraction.linear.scan import PrefixStates
from wfalens.extraction.linear.word_inputs import word_inputs
from wfalens.extraction.perturbation import Perturbation, length_buckets, perturbed
from wfalens.extraction.query_budget import QueryBudget
from wfalens.models import RNNClassifier, RNNConfig, Trainer, wrap
from wfalens.progress import Progress, shown_on
from wfalens.ragged import Ragged
from wfalens.text import Corpus, TextEncoder, Vocabulary, WordVectors
from wfalens.text.datasets import newsroom

SMALL = Linear(layers=3, width=4, factors=8, hidden=16, epochs=3)
THOROUGH = replace(SMALL, epochs=6, batch=64, learning_rate=2e-2)  # many small steps


def linear(rule=SMALL, vectors=None, **bounds) -> Bounded:
    return Bounded(replace(rule, vectors=vectors), **bounds)


def bytes_of(wfa, folder) -> bytes:
    wfa.save(folder / "x.wfa")
    return (folder / "x.wfa").read_bytes()


class Stops(Progress):
    """Raises after a number of epochs, as an interrupted process would stop."""

    def __init__(self, epochs: int) -> None:
        self.left = epochs
        self.training = False

    def start(self, task, total=None):
        self.training = task == "training the automaton"

    def advance(self, units=1, note=""):
        if self.training and units and note:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt


@pytest.fixture(scope="module")
def few(headlines) -> Corpus:
    return headlines.subset(np.arange(300))


@pytest.fixture(scope="module")
def whole(news_model, few):
    """An automaton whose training was not interrupted."""
    return linear().extract(news_model, few)


def test_the_automaton_says_what_its_generator_said():
    torch.manual_seed(0)
    rule = replace(SMALL, layers=4)
    inputs = np.random.default_rng(0).normal(size=(20, 7)).astype(np.float32)
    generator = Generator(rule, inputs, 3, longest=12)
    with torch.no_grad():
        for parameter in generator.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    wfa = LinearWFA(
        encoder=TextEncoder(Vocabulary.of_words([f"w{number}" for number in range(18)]), "whitespace"),
        class_names=CLASSES,
        factors=generator.finished(),
        mean_state=np.zeros(16),
        word_counts=np.ones(20, int),
    )
    ids = np.random.default_rng(1).integers(1, 20, (5, 12)).astype(np.int32)
    texts = Ragged.from_lists(ids.tolist(), np.int32)
    said = generator(texts, np.arange(len(texts.values))).detach().double().softmax(-1).numpy()
    np.testing.assert_allclose(wfa.trace(texts).values, said, atol=1e-5)


@pytest.mark.parametrize(("layers", "width"), [(1, 2), (3, 4), (2, 5), (4, 1)])
def test_compiled_states_and_their_slopes_are_those_of_the_formula(layers, width):
    torch.manual_seed(0)
    n, places = layers * width, Ragged.from_lists([[0, 1, 2], [], [3, 1, 1, 0], [2]], np.int64)
    parts = [torch.rand(4, n), *(torch.randn(4, n) for _ in range(2)), torch.randn(n)]
    parts += [torch.randn(layer * width, width) for layer in range(1, layers)]
    mine, plain = ([part.clone().requires_grad_() for part in parts] for _ in range(2))
    found, expected = PrefixStates.apply(places, *mine), _plain_states(places, width, *plain)
    torch.testing.assert_close(found, expected)
    slope = torch.randn_like(found)
    for states in (found, expected):
        (states * slope).sum().backward()
    for one, other in zip(mine, plain, strict=True):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-4)


def _plain_states(places, width, d, s, b, start, *links):
    n, found = len(start), []
    reads = torch.zeros(n, n)
    for layer, block in enumerate(links, 1):
        reads[: layer * width, layer * width : (layer + 1) * width] = block
    for j in range(width // 2):
        reads[j, j + width // 2] = reads[j + width // 2, j] = 1  # partners
    for text in places:
        x = start
        for word in text:
            x = x * d[word] + (x @ reads) * s[word] + b[word]
            found.append(x)
    return torch.stack(found)


def test_equal_seeds_give_equal_bytes_and_others_do_not(news_model, few, whole, tmp_path):
    torch.manual_seed(99)  # what was drawn before does not matter
    again, other = linear().extract(news_model, few), linear(seed=1).extract(news_model, few)
    assert bytes_of(again, tmp_path) == bytes_of(whole, tmp_path) != bytes_of(other, tmp_path)


def test_training_leaves_the_global_random_stream_alone(news_model, few):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    linear(replace(SMALL, epochs=1)).extract(news_model, few)
    torch.testing.assert_close(torch.rand(3), expected)


def checkpoint_in(folder):
    (folder / "kept").mkdir()
    return folder / "kept" / "training"


@pytest.mark.parametrize("epochs", [1, 2])
def test_a_stopped_training_ends_as_if_it_had_never_been_stopped(news_model, few, whole, tmp_path, epochs):
    kept = checkpoint_in(tmp_path)
    with shown_on(Stops(epochs)):
        best = linear().extract(news_model, few, checkpoint=kept)
    assert best.provenance["stopped"] == {"by": "interrupt", "passes": epochs, "planned": 3}
    assert len(best.provenance["training"]) == epochs
    assert kept.exists()
    done = linear().extract(news_model, few, checkpoint=kept)
    assert bytes_of(done, tmp_path) == bytes_of(whole, tmp_path)
    assert not kept.exists()
    assert len(done.provenance["training"]) == 3


@pytest.mark.parametrize("queries", [2_500, 6_000, 100_000])
def test_a_black_box_is_asked_within_its_queries(news_model, few, queries):
    def score(token_lists):
        return news_model.trace(news_model.encoder.vocabulary.encode(token_lists)).last()

    model = wrap(score, vocab=news_model.encoder, classes=news_model.class_names, reads="tokens")
    record = linear(queries=queries).extract(model, few).provenance["queries"]
    assert record["limit"] == queries
    assert model.queries == record["total"] <= queries
    assert record["held_out"] + record["probing"] < record["total"]
    assert record["fitting"] > 0.4 * min(queries, 2_000)  # and it was made use of


def test_what_is_recorded_is_what_a_network_was_asked(news_model, few):
    record = linear().extract(news_model, few).provenance["queries"]
    assert record["limit"] is None
    ids = news_model.encoder.encode(few.texts)
    assert record["texts"] < len(ids.values) / 5
    assert record["fitting"] == pytest.approx(SMALL.epochs * (len(ids.values) - record["texts"]), rel=1e-9)


def test_words_that_queries_do_not_pay_for_begin_as_unknown_ones(news_model, few):
    ids = news_model.encoder.encode(few.texts)
    places = choose_representatives(ids, np.zeros(len(ids.values), np.int32), 1, np.random.default_rng(0))
    counts = np.bincount(ids.values, minlength=len(news_model.encoder.vocabulary))
    plain = RNNClassifier.untrained(news_model.config, news_model.encoder, news_model.class_names, seed=3)
    model = wrap(
        lambda texts: plain.trace(plain.encoder.vocabulary.encode(texts)).last(),
        vocab=plain.encoder,
        classes=plain.class_names,
        reads="tokens",
    )
    budget = QueryBudget(200)
    inputs = word_inputs(model, places, None, counts, 50, budget)
    alike = np.all(inputs == inputs[1], axis=1)
    assert 0 < model.queries <= budget.total <= 120  # three fifths of what is left
    assert counts[alike][2:].max() <= counts[~alike].min()


def test_too_few_queries_are_refused(news_model, few):
    with pytest.raises(InputError, match="do not pay for"):
        linear(queries=20).extract(news_model, few)


def test_a_stopped_training_within_a_limit_ends_in_the_same_bytes(news_model, few, tmp_path):
    rule, kept = linear(replace(SMALL, epochs=4), queries=7_000), checkpoint_in(tmp_path)
    whole = rule.extract(news_model, few)
    with shown_on(Stops(3)):
        rule.extract(news_model, few, checkpoint=kept)
    assert bytes_of(rule.extract(news_model, few, checkpoint=kept), tmp_path) == bytes_of(whole, tmp_path)
    assert whole.provenance["queries"]["total"] <= 7_000


@pytest.fixture(scope="module")
def stopped(news_model, few, tmp_path_factory) -> bytes:
    """A checkpoint after one epoch."""
    kept = checkpoint_in(tmp_path_factory.mktemp("stopped"))
    with shown_on(Stops(1)):
        linear().extract(news_model, few, checkpoint=kept)
    return kept.read_bytes()


def test_a_checkpoint_of_something_else_is_refused_and_kept(news_model, headlines, few, stopped, tmp_path):
    kept = checkpoint_in(tmp_path)
    kept.write_bytes(stopped)
    vectors = newsroom.vectors()
    untrained = RNNClassifier.untrained(news_model.config, news_model.encoder, news_model.class_names, seed=3)
    for start in (
        lambda: linear(replace(SMALL, epochs=4)).extract(news_model, few, checkpoint=kept),
        lambda: linear(seed=1).extract(news_model, few, checkpoint=kept),
        lambda: linear(queries=10**6).extract(news_model, few, checkpoint=kept),
        lambda: linear().extract(news_model, headlines, checkpoint=kept),
        lambda: linear(vectors=vectors).extract(news_model, few, checkpoint=kept),
        lambda: linear().extract(untrained, few, checkpoint=kept),
    ):
        with pytest.raises(InputError, match=r"training is a training with other") as caught:
            start()
        assert "\n" not in str(caught.value)
    assert kept.read_bytes() == stopped


def test_a_checkpoint_with_other_vectors_of_the_same_width_is_refused(news_model, few, tmp_path):
    kept, vectors = checkpoint_in(tmp_path), newsroom.vectors()
    with shown_on(Stops(1)):
        linear(vectors=vectors).extract(news_model, few, checkpoint=kept)
    other = WordVectors(vectors.words, vectors.matrix[::-1].copy(), vectors.source)
    with pytest.raises(InputError, match="other texts, model, vectors"):
        linear(vectors=other).extract(news_model, few, checkpoint=kept)


DAMAGE = {
    "cut": lambda t: None,
    "no best epoch": lambda t: [t.pop(name) for name in list(t) if name.startswith("best/")],
    "a weight of another shape": lambda t: t.update({"now/start": t["now/start"][:-1].copy()}),
    "no memory of the optimiser": lambda t: [t.pop(name) for name in list(t) if name.startswith("optimiser.")],
    "half of that memory": lambda t: [t.pop(name) for name in list(t) if name.endswith("exp_avg")],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_checkpoint_is_refused_with_one_sentence(news_model, few, stopped, tmp_path, name):
    kept = checkpoint_in(tmp_path)
    kept.write_bytes(stopped)
    tensors, header = contents(kept)
    DAMAGE[name](tensors)
    write_contents(kept, tensors, header)
    if name == "cut":
        kept.write_bytes(stopped[:-100])
    with pytest.raises(FormatError, match=r"training") as caught:
        linear().extract(news_model, few, checkpoint=kept)
    assert "\n" not in str(caught.value)


def test_training_ends_early_without_a_gain_and_keeps_the_best_epoch(news_model, few):
    # with huge steps on few texts the gains soon stop
    rule = replace(SMALL, epochs=40, patience=2, learning_rate=0.3, tokens=500)
    wfa = linear(rule).extract(news_model, few)
    scores = [each["jsd"] for each in wfa.provenance["training"]]
    assert len(scores) < 40
    assert len(scores) - 1 - int(np.argmin(scores)) == 2
    held = wfa.provenance["held_out"]
    assert held == 30
    ids = news_model.encoder.encode(few.texts)
    tests, _ = divided(ids, 0)
    reached = jensen_shannon(wfa.predict_proba(tests), news_model.trace(tests).last()).mean()
    assert reached == pytest.approx(min(scores), abs=1e-4)


def test_it_is_more_faithful_than_the_probed_automaton(news_model, headlines, test_headlines):
    ids = news_model.encoder.encode(test_headlines.texts)
    wanted = news_model.trace(ids).last()
    trained = linear(replace(THOROUGH, width=8)).extract(news_model, headlines)
    probed = extract(news_model, headlines, Stochastic(states=20, completion="probe", alpha=0.0, abstraction="outputs"))
    reached = {
        wfa.kind: (
            float(np.mean(wfa.predict_indices(ids) == wanted.argmax(1))),
            float(jensen_shannon(wfa.predict_proba(ids), wanted).mean()),
        )
        for wfa in (trained, probed)
    }
    assert reached["linear"][0] > reached["stochastic"][0]
    assert reached["linear"][1] < 0.5 * reached["stochastic"][1]


NETWORKS = {
    "gru": RNNConfig(cell="gru", embedding=12, hidden=12),
    "elman": RNNConfig(cell="elman", embedding=12, hidden=12),
    "two layers": RNNConfig(cell="lstm", embedding=12, hidden=12, layers=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_every_kind_are_learned_by_the_same_code(headlines, test_headlines, name):
    model = Trainer(config=NETWORKS[name], epochs=8, learning_rate=2e-2).train(headlines).model
    assert_learned(model, linear(THOROUGH), headlines.texts, test_headlines.texts)


def test_a_plain_function_is_learned_by_the_same_code(letters):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), rng.integers(1, 8))) for _ in range(400)]
    model = wrap(count_letters, vocab=letters, classes=CLASSES, reads="tokens")
    assert_learned(model, linear(replace(THOROUGH, batch=32)), texts[:300], texts[300:])


def assert_learned(model, extractor, texts, test_texts) -> None:
    """Far nearer to the model than its own mean output is, at texts that training never saw."""
    wfa = extractor.extract(model, list(texts))
    ids = model.encoder.encode(test_texts)
    wanted = model.trace(ids).last()
    constant = jensen_shannon(np.tile(wanted.mean(0), (len(wanted), 1)), wanted).mean()
    assert jensen_shannon(wfa.predict_proba(ids), wanted).mean() < 0.2 * constant
    assert wfa.unit == "log-odds"


def test_unknown_words_and_words_not_seen_have_matrices_of_their_own(news_model, few, whole):
    unseen = np.flatnonzero(whole.word_counts[2:] == 0) + 2
    assert len(unseen) > 0
    unknown = whole.matrix("<unk>")
    assert not np.allclose(whole.matrix(whole.encoder.vocabulary.words[unseen[0]]), unknown)
    np.testing.assert_array_equal(whole.matrix("zzzz"), unknown)
    assert np.isfinite(whole.predict_proba(["zzzz zzzz zzzz"])).all()


def test_the_file_tells_how_it_was_trained(news_model, few, whole):
    sized = extract(news_model, few.subset(np.arange(40)), replace(SMALL, states=10))
    told = sized.provenance["parameters"]
    assert (sized.states, told["layers"], told["width"]) == (1 + 12, 3, 4)
    assert whole.states == 1 + 12
    assert whole.summary()["layers"] == 3
    assert int(whole.word_counts.sum()) == whole.provenance["corpus"]["tokens"]


def test_perturbed_texts_keep_their_shape_and_their_shares():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 20, 3000)
    ids = Ragged.from_lengths(rng.integers(2, 50, lengths.sum()).astype(np.int32), lengths)
    counts = np.bincount(ids.values, minlength=60)  # the last ten words do not occur
    rule = replace(SMALL, replaced=0.2, clean=0.5, uniform=0.5, unknown=0.0, following=0.0, random=0.0)
    found = perturbed(ids, counts, rule.perturbation, np.random.default_rng(1))
    np.testing.assert_array_equal(found.offsets, ids.offsets)
    assert found.values.min() >= 1
    assert found.values.max() < 60
    changed = found.values != ids.values
    assert changed.mean() == pytest.approx(0.1, abs=0.02)
    long = np.flatnonzero(lengths >= 15)
    untouched = [not changed[ids.offsets[item] : ids.offsets[item + 1]].any() for item in long]
    assert 0.5 < np.mean(untouched) < 0.7
    strange = found.values[changed] >= 50
    assert strange.mean() == pytest.approx(0.5 * 10 / 59, abs=0.03)
    blind = perturbed(ids, counts, rule.perturbation._replace(replaced=0.0, unknown=0.3), np.random.default_rng(1))
    assert np.mean(blind.values == 1) == pytest.approx(0.3, abs=0.02)


def test_words_give_way_to_ones_that_follow_the_same_word_elsewhere():
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 12, 400)
    ids = Ragged.from_lengths(rng.integers(2, 30, lengths.sum()).astype(np.int32), lengths)
    known = {(0 if at == 0 else int(text[at - 1]), int(text[at])) for text in ids for at in range(len(text))}
    how = Perturbation(replaced=0, clean=0, unknown=0, following=0.25)
    found = perturbed(ids, np.bincount(ids.values, minlength=30), how, np.random.default_rng(1))
    np.testing.assert_array_equal(found.offsets, ids.offsets)
    changed = 0
    for old, new in zip(ids, found, strict=True):
        for at in np.flatnonzero(old != new):
            changed += 1
            assert (0 if at == 0 else int(old[at - 1]), int(new[at])) in known
    assert changed / len(ids.values) == pytest.approx(0.25, abs=0.04)


def test_at_a_temperature_of_one_the_divergence_is_the_usual_one_and_above_it_sees_unlikely_classes():
    rng = np.random.default_rng(0)
    weights, wanted = (torch.from_numpy(rng.normal(size=(5, 4)) * 3) for _ in range(2))
    wanted = wanted.softmax(-1)
    said = weights.log_softmax(-1).exp()
    usual = (wanted * (wanted / said).log()).sum(-1)
    np.testing.assert_allclose(divergence(weights, wanted, 1.0), usual, rtol=1e-9)
    sure, other = torch.tensor([[9.0, 0.0, 0.0]]), torch.tensor([[9.0, 0.0, -4.0]])
    assert divergence(other, sure.softmax(-1), 2.0) > 50 * divergence(other, sure.softmax(-1), 1.0)
    certain = torch.tensor([[1.0, 0.0, 0.0]])
    assert torch.isfinite(divergence(sure, certain, 2.0)).all()


def test_batches_hold_every_text_once_and_about_the_tokens_asked_for():
    rng = np.random.default_rng(0)
    lengths = np.append(rng.integers(1, 30, 500), 900)
    found = length_buckets(lengths, 200, rng)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.arange(501))
    for batch in found:
        assert len(batch) * lengths[batch].max() <= 200 or len(batch) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"layers": 0},
        {"layers": 1000},
        {"width": 0},
        {"decay": 1.0},
        {"decay": 0.0},
        {"replaced": 1.5},
        {"unknown": -0.1},
        {"learning_rate": 0.0},
        {"patience": 0},
    ],
    ids=str,
)
def test_wrong_settings_are_refused_at_once(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Linear(**wrong)


def test_one_text_is_too_few(news_model):
    with pytest.raises(InputError, match="at least two texts"):
        linear().extract(news_model, ["the senate votes"])


def test_a_column_that_is_the_same_for_all_words_seen_does_no_harm(news_model, headlines):
    """With vectors for every word seen, "has a vector" tells nothing; <unk> has none and must stay within reach."""
    texts = headlines.texts[:200]
    ids = news_model.encoder.encode(texts)
    places = choose_representatives(ids, np.zeros(len(ids.values), np.int32), 2, np.random.default_rng(0))
    counts = np.bincount(ids.values, minlength=len(news_model.encoder.vocabulary))
    inputs = word_inputs(news_model, places, newsroom.vectors(), counts, 50, QueryBudget())
    assert np.abs(inputs).max() <= 10


def test_few_words_have_no_more_components_than_they_differ_in(news_model, headlines):
    """Rounding errors, brought to variance 1, would be inputs as large as what tells the words apart."""
    ids = news_model.encoder.encode(headlines.texts[:200])
    places = choose_representatives(ids, np.zeros(len(ids.values), np.int32), 2, np.random.default_rng(0))
    counts = np.zeros(len(news_model.encoder.vocabulary), np.int64)
    counts[2:6] = 5
    assert word_inputs(news_model, places, None, counts, 50, QueryBudget()).shape[1] <= 3


def test_the_output_before_any_word_is_learned(news_model, headlines):
    rule = Linear(layers=2, width=4, factors=8, hidden=16, epochs=6, batch=128, learning_rate=0.02)
    wfa = extract(news_model, headlines, rule)
    np.testing.assert_allclose(wfa.predict_proba([""])[0], news_model.initial_output, atol=0.05)
