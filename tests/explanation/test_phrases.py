"""Phrases that decide: counted on texts, ordered, safe to show, and negation found in a trained network."""

import csv
import json
import re
from io import StringIO

import numpy as np
import pytest

from tests.automata import linear_sample, sample
from tests.errors import raises
from tests.explanation.phrases_plain import contains
from tests.planted import class_of, polarity
from wfalens.automaton import WFA
from wfalens.errors import InputError
from wfalens.evaluation.comparison import wilson
from wfalens.explanation import deciding_phrases
from wfalens.extraction import Stochastic, extract
from wfalens.messages import percent
from wfalens.text import Corpus, load_dataset
from wfalens.text.datasets import opinions


@pytest.fixture(scope="module")
def opinions_wfa(once, opinions_model):
    extractor = Stochastic(states=20, abstraction="lookahead")
    return WFA.load(
        once("opinions.wfa", lambda path: extract(opinions_model, load_dataset("opinions"), extractor).save(path))
    )


@pytest.fixture(scope="module")
def found(opinions_wfa, opinions_model):
    return deciding_phrases(opinions_wfa, load_dataset("opinions", "test"), opinions_model)


def test_not_good_stands_above_good(found):
    phrases = list(found.phrases)
    assert phrases.index("not good") < phrases.index("good")
    assert phrases.index("not bad") < phrases.index("bad")
    assert found.class_names[found.labels[phrases.index("not good")]] == "negative"
    assert found.class_names[found.labels[phrases.index("not bad")]] == "positive"
    assert found.more_than_words[phrases.index("not good")]
    assert not found.more_than_words[phrases.index("good")]


def test_negated_opinions_are_turned_round_and_lead_the_list(found):
    truth = opinions.TRUTH
    first = [words for words in found.words[:10] if words[0] in truth.negators]
    assert len(first) >= 8
    for words, label in zip(found.words, found.labels, strict=True):
        if len(words) == 2 and words[0] in truth.negators and polarity(words[1]):
            assert class_of(" ".join(words)) == found.class_names[label]


def test_single_words_that_decide_are_the_planted_ones(found):
    for words, label in zip(found.words, found.labels, strict=True):
        if len(words) == 1:
            assert class_of(words[0]) == found.class_names[label]


@pytest.mark.slow
def test_support_and_precision_are_counted_on_texts(found, opinions_model):
    test = load_dataset("opinions", "test")
    said = opinions_model.predict_proba(list(test.texts)).argmax(1)
    low, high = found.interval
    for row in range(0, len(found), 7):
        holding = np.array([contains(text.split(), found.words[row], found.gap) for text in test.texts])
        label = found.labels[row]
        assert found.support[row] == holding.sum()
        assert found.hits[row] == (said[holding] == label).sum()
        assert found.true_precision[row] == pytest.approx(np.mean(test.labels[holding] == label))
        expected = wilson(int(found.hits[row]), int(found.support[row]))
        assert (found.precision[row], low[row], high[row]) == (expected.value, expected.low, expected.high)
        assert found.lift[row] == pytest.approx(found.precision[row] / np.mean(said == label))
        matched = [re.search(found.regexes[row], text) is not None for text in test.texts]
        assert matched == holding.tolist()
    assert np.all(low > found.base_rates[found.labels])


def test_phrases_that_say_more_come_first_by_interaction_the_others_by_effect(found):
    more = found.more_than_words
    assert more.any()
    assert not more.all()
    assert np.all(np.diff(more.astype(int)) <= 0)
    assert np.all(np.diff(found.interaction[more]) <= 0)
    assert np.all(np.diff(found.effect[~more]) <= 0)


def test_interaction_is_what_the_words_do_not_explain(found):
    single = {words[0]: row for row, words in enumerate(found.words) if len(words) == 1}
    pairs = [row for row, words in enumerate(found.words) if len(words) == 2 and set(words) <= set(single)]
    for row in pairs:
        alone = sum(found.effects[single[word]] for word in found.words[row])
        np.testing.assert_allclose(found.interactions[row], found.effects[row] - alone, atol=1e-12)
    np.testing.assert_allclose(found.interactions[list(single.values())], 0, atol=1e-12)


def test_top_and_classes_keep_the_order(found):
    best = found.top(2)
    assert len(best) == 8
    rows = [found.phrases.index(phrase) for phrase in best.phrases]
    assert rows == sorted(rows)
    assert set(found.of_class("negative").labels) == {0}
    with raises("option-value"):
        found.of_class("neutral")


def texts_of(wfa, count=400, seed=0):
    rng = np.random.default_rng(seed)
    words = wfa.encoder.vocabulary.words[2:]
    return [" ".join(rng.choice(words, rng.integers(1, 5))) for _ in range(count)]


@pytest.mark.parametrize("kind", ["probe", "null", "linear"])
def test_without_a_model_the_automaton_is_the_judge(kind):
    wfa = linear_sample(2).wfa if kind == "linear" else sample(kind, 4, alpha=0.0).wfa
    texts = texts_of(wfa)
    found = deciding_phrases(wfa, texts, min_support=3, min_effect=0.0)
    assert (found.reference, found.unit, found.texts) == ("automaton", wfa.unit, len(texts))
    assert found.true_hits is None
    assert len(found) > 0
    said = wfa.predict_indices(texts)
    assert (kind == "null") == (said < 0).any()  # undecided texts are of no class
    for words, label, support, hits in zip(found.words, found.labels, found.support, found.hits, strict=True):
        holding = [contains(text.split(), words, found.gap) for text in texts]
        assert (support, hits) == (sum(holding), sum(said[holding] == label))


def test_texts_without_words_are_left_out():
    wfa = sample("probe", 4, alpha=0.0).wfa
    texts = texts_of(wfa)
    labels = ["c0"] * len(texts)
    whole = deciding_phrases(wfa, Corpus.of(texts, labels, wfa.class_names), min_support=3, min_effect=0.0)
    assert len(whole) > 0
    padded = Corpus.of(["", *texts, " "], ["c1", *labels, "c1"], wfa.class_names)
    assert deciding_phrases(wfa, padded, min_support=3, min_effect=0.0).to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"min_support": 0}, "option-value"),
        ({"longest": 5}, "option-value"),
        ({"gap": -1}, "option-value"),
        ({"min_effect": float("nan")}, "option-value"),
        ({"min_support": 1000}, "no-frequent-word"),
    ],
)
def test_bad_options_are_refused(options, code):
    wfa = sample("probe", 4, alpha=0.0).wfa
    with raises(code):
        deciding_phrases(wfa, texts_of(wfa), **options)


def test_texts_and_models_that_do_not_fit_are_refused(opinions_model):
    wfa = sample("probe", 4, alpha=0.0).wfa
    with raises("no-words"):
        deciding_phrases(wfa, ["", " "])
    with pytest.raises(InputError, match="are not the model's"):
        deciding_phrases(wfa, ["w1"], opinions_model)


HOSTILE = ("<script>alert(1)</script>", "\u202eabc", "x" * 10_000, '"a,\n', "=1+1", "\x1b[31m", "…")


@pytest.fixture(scope="module")
def hostile(found):
    rows = np.arange(len(HOSTILE))
    part = found.subset(rows)
    return type(part)(**{**part.__dict__, "words": tuple((word, None, "b") for word in HOSTILE)})


def test_hostile_words_are_harmless_in_html_and_whole_in_json_and_csv(hostile):
    page = hostile.to_html()
    assert "<script>" not in page
    assert len(page) < 10_000
    for sign in "\u202e\x1b":
        assert sign not in page
    again = json.loads(json.dumps(hostile.to_dict()))
    assert [row["phrase"] for row in again["phrases"]] == list(hostile.phrases)
    table = StringIO(hostile.to_dataframe().to_csv(index=False), newline="")
    assert [row["phrase"] for row in csv.DictReader(table)] == list(hostile.phrases)


def test_the_table_and_the_json_say_the_same(found):
    rows = found.to_dict()["phrases"]
    table = found.to_dataframe()
    assert table["phrase"].tolist() == [row["phrase"] for row in rows]
    assert table["effect"].tolist() == [row["effect"] for row in rows]
    assert table["true precision"].tolist() == [row["true precision"] for row in rows]
    assert json.dumps(rows)


def test_the_printed_table_fits_eighty_columns(found):
    ((_, rows),) = found.tables().items()
    assert len(rows) == len(found)
    widest = [max(len(name), *(len(row[name]) for row in rows)) for name in rows[0]]
    assert sum(widest) + 3 * len(widest) + 1 <= 80
    for row, whole in zip(rows, found.rows(), strict=True):
        assert row["precision"].startswith(percent(whole["precision"]))
        assert row["phrase"] == whole["phrase"]
