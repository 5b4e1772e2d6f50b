"""Coverage, features, detection and watching, on a readable automaton whose walks can be followed by hand."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.errors import raises
from tests.readable import readable
from wfalens.errors import InputError
from wfalens.models import RNNClassifier, RNNConfig
from wfalens.models.inference import final_outputs
from wfalens.monitoring import (
    FEATURES,
    Alarms,
    Detector,
    ReferenceStats,
    SynonymDefense,
    UsualTexts,
    Watcher,
    auroc,
    coverage,
    text_features,
    watch,
)
from wfalens.monitoring.features import Walks
from wfalens.monitoring.watcher import ATTACKED, decoded
from wfalens.ragged import Ragged
from wfalens.text.vocabulary import UNKNOWN

STAY, TO_BAD, TO_GOOD = np.eye(3), [[0, 1, 0]] * 3, [[0, 0, 1]] * 3
WORDS = (("the", "a"), ("awful", "dull"), ("fine", "great"))
TEXTS = [["the", "film", "awful"], ["a", "fine"], ["great", "the"], ["the", "dull", "fine"]]


@pytest.fixture(scope="module")
def made():
    texts = [[word for word in text if word != "film"] for text in TEXTS]
    return readable([STAY, TO_BAD, TO_GOOD], [[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]], WORDS, texts * 5)


@pytest.fixture(scope="module")
def model(made):
    config = RNNConfig(cell="gru", embedding=4, hidden=4, dropout=0.0)
    return RNNClassifier.untrained(config, made.wfa.encoder, made.wfa.class_names, 0)


def test_coverage_counts_what_the_texts_pass(made):
    found = coverage(made.wfa, ["the awful", "a a"])
    assert found.texts == 2
    assert found.state_visits.tolist() == [5, 1, 0]
    assert found.transition_visits[:, 0].tolist() == [3, 1, 0]
    assert (found.states.there, found.states.exercised) == (3, 2)
    visited = {(0, 0), (1, 0), (2, 0), (0, 2), (2, 1)}  # class and state, in the extraction texts
    assert found.transitions.there == len(visited)
    assert set(found.missing) == visited - {(0, 0), (1, 0)}
    assert found.pair_visits.sum() == 2
    assert 0 < found.pairs.value < 1
    assert "<table" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["states"]["exercised"] == 2
    assert len(found.to_dataframe()) == 3


def test_the_extraction_texts_cover_every_transition(made):
    found = coverage(made.wfa, [" ".join(text) for text in made.texts])
    assert found.transitions.value == found.states.value == 1
    assert found.missing == []
    with raises("no-words"):
        coverage(made.wfa, [""])


def test_texts_that_fill_gaps_exercise_them(made, model):
    texts = ["the awful the", "a a"]
    found = coverage(made.wfa, texts, model=model, fill=30)
    gaps = found.gaps
    assert len(gaps.texts) == 30
    passed = coverage(made.wfa, [each.words for each in gaps.texts])
    filled = set(found.missing) - set(passed.missing)
    assert len(filled) >= 2
    assert gaps.unreached == 1  # no text passes the good state
    assert 0 <= gaps.per_thousand <= 1000
    assert len(json.loads(json.dumps(gaps.to_dict()))["texts"]) == len(gaps.to_dataframe()) == 30


def test_the_mean_surprise_is_that_of_the_extraction_texts(made, model):
    stats = ReferenceStats(made.wfa)
    ids = made.wfa.ids([" ".join(text) for text in made.texts])
    features = text_features(stats, model, ids)
    assert features.shape == (len(ids), len(FEATURES))
    assert np.isfinite(features).all()
    of_extraction = (stats.visits * stats.surprise).sum() / stats.visits.sum()
    assert np.average(features[:, 0], weights=ids.lengths) == pytest.approx(of_extraction, abs=1e-6)


def test_what_a_text_would_be_without_a_word(made):
    ids = made.wfa.ids(["the awful fine", "great"])
    walks = Walks.of(made.wfa, ids)
    for text in range(2):
        for at in range(ids.lengths[text]):
            left = np.delete(ids[text], at)
            expected = made.wfa.weights(Ragged(left.astype(np.int32), np.array([0, len(left)])))[0]
            np.testing.assert_allclose(walks.without[ids.offsets[text] + at], expected, atol=1e-12)


def test_restoring_asks_the_network_for_texts_of_usual_words(made, model):
    vocabulary = made.wfa.encoder.vocabulary
    awful, dull = vocabulary.id_of("awful"), vocabulary.id_of("dull")
    defense = SynonymDefense(np.arange(len(vocabulary), dtype=np.int32))
    defense.usual[awful] = dull
    ids = made.wfa.ids(["the awful fine"])
    found = text_features(ReferenceStats(made.wfa), model, ids, defense)
    one, other = final_outputs(model, made.wfa.ids(["the awful fine", "the dull fine"]))
    expected = one.max() - other[one.argmax()]
    assert found[0, FEATURES.index("restored")] == pytest.approx(expected, abs=1e-6)
    assert found[0, FEATURES.index("restored word")] == pytest.approx(expected, abs=1e-6)


def test_a_detector_learns_what_differs_and_survives_its_file(tmp_path):
    rng = np.random.default_rng(0)
    clean, attacked = rng.normal(size=(200, len(FEATURES))), rng.normal(size=(200, len(FEATURES)))
    attacked[:, 3] += 2
    nothing = SynonymDefense(np.arange(9, dtype=np.int32))
    detector = Detector.trained(clean[:100], attacked[:100], nothing, false_alarms=0.1, about={"attack": "test"})
    assert auroc(detector.scores(clean[100:]), detector.scores(attacked[100:])) > 0.85
    assert np.mean(detector.scores(clean[:100]) > detector.threshold) <= 0.1
    detector.save(tmp_path / "d.json")
    again = Detector.load(tmp_path / "d.json")
    np.testing.assert_array_equal(again.scores(clean), detector.scores(clean))
    assert again.about == {"attack": "test"}
    with raises("few-texts"):
        Detector.trained(clean[:100], attacked[:3], nothing)
    content = json.loads((tmp_path / "d.json").read_text())
    bad = {"mean": [1], "features": ["x"], "bias": None, "scale": [0] * len(FEATURES), "usual": [9]}
    for name, value in bad.items():
        (tmp_path / "bad.json").write_text(json.dumps({**content, name: value}))
        with raises("detector-file"):
            Detector.load(tmp_path / "bad.json")


@pytest.fixture(scope="module")
def usual(made, model):
    return UsualTexts.of(made.wfa, model, [" ".join(text) for text in made.texts] * 6)


def test_a_watcher_tells_one_line_for_each_and_passes_over_bad_ones(made, model, usual):
    watcher = Watcher(made.wfa, model, usual, Alarms(window=3))
    lines = [b"the awful", b"\xff\xfe", b"", b"a fine", b"great", b"x" * (1 << 20 | 1), b"the dull"]
    results = watcher.read([decoded(line) for line in lines])
    outputs = [each for each in results if "window" not in each]
    assert [each["line"] for each in outputs] == [1, 2, 3, 4, 5, 6, 7]
    assert ["error" in each for each in outputs] == [False, True, True, False, False, True, False]
    assert outputs[0]["class"] in made.wfa.class_names
    assert {"p", "known_words", "agrees", "alarm", "probability"} <= outputs[0].keys()
    windows = [each["window"] for each in results if "window" in each]
    assert [each["texts"] for each in windows] == [3]
    assert watcher.summary()["texts"] == 1
    assert watcher.bad == 3
    assert json.dumps(results)


def test_a_stream_is_watched_to_its_end(made, model):
    lines = io.BytesIO(b"the awful\n\xff\n" + b"x" * (1 << 21) + b"\na fine")
    results = list(watch(made.wfa, model, lines, Alarms(window=1), reference=["the awful", "a fine"] * 60))
    assert [each["line"] for each in results if "line" in each] == [1, 2, 3, 4]
    assert [each["window"]["texts"] for each in results if "window" in each] == [1, 1]
    with raises("no-texts"):
        list(watch(made.wfa, model, io.BytesIO(b""), reference=["the awful", "a fine"] * 60))
    with raises("few-texts"):
        list(watch(made.wfa, model, io.BytesIO(b"a"), reference=["the awful"]))
    with raises("few-texts"):  # of which no text could ever raise an alarm
        list(watch(made.wfa, model, io.BytesIO(b"a"), Alarms(false_alarms=0.01), reference=["the awful"] * 98))


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("csv", b'\xef\xbb\xbfid,text\r\n1,"the, awful"\r\n2,"a ""fine"""\r\n3,"open\r\n4\r\n'),
        ("jsonl", b'{"id": 1, "text": "the, awful"}\n{"text": "a \\"fine\\""}\n{"text": 3}\n[' + b"[" * 5000 + b"\n"),
    ],
)
def test_rows_of_a_stream_have_their_text_in_a_column(made, model, form, content):
    given = {"reference": ["the awful", "a fine"] * 60}
    rows = list(watch(made.wfa, model, io.BytesIO(content), Alarms(format=form), **given))[:-1]
    texts = list(watch(made.wfa, model, ["the, awful", 'a "fine"'], **given))[:-1]
    assert rows[:2] == texts
    assert ["error" in each for each in rows] == [False, False, True, True]


def test_a_stream_without_the_column_is_refused(made, model):
    with raises("column"):
        list(watch(made.wfa, model, io.BytesIO(b"a,b\n1,2"), Alarms(format="csv"), reference=["the awful"] * 120))


def test_results_do_not_depend_on_how_lines_arrive(made, model, usual):
    lines = [" ".join(text) for text in made.texts]
    lines = [line for pair in zip(lines, ["", InputError("bad")] * len(lines), strict=False) for line in pair]
    whole = Watcher(made.wfa, model, usual, Alarms(window=7)).read(lines)
    one = Watcher(made.wfa, model, usual, Alarms(window=7))
    single = [each for line in lines for each in one.read([line])]
    assert json.dumps(whole) == json.dumps(single)


def test_attacked_texts_raise_alarms(made, model, usual):
    always = Detector(
        np.zeros(len(FEATURES)),
        np.ones(len(FEATURES)),
        np.zeros(len(FEATURES)),
        0.0,
        0.4,
        SynonymDefense(np.arange(len(made.wfa.word_counts), dtype=np.int32)),
        {},
    )
    (result, *_) = Watcher(made.wfa, model, usual, Alarms(), always).read(["awful awful awful awful"])
    assert ATTACKED in result["alarm"]
    assert result["attacked"] == 0.5
    other = replace(always, defense=SynonymDefense(np.arange(3, dtype=np.int32)))
    with raises("other-automaton"):
        Watcher(made.wfa, model, usual, Alarms(), other)


def test_words_that_nobody_knows_are_unseen_although_unknown_words_were_read_in_extraction(made, model, usual):
    counts = np.array(made.wfa.word_counts)
    counts[UNKNOWN] = 10
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made.wfa, "word_counts", counts)
        known, foreign = Watcher(made.wfa, model, usual).read(["the awful", "qwertz the uiop"])
    assert known["known_words"] == 1
    assert foreign["known_words"] == pytest.approx(1 / 3, abs=1e-4)
    assert known["alarm"] == []
    assert foreign["alarm"] == ["unknown words"]


def test_shares_may_be_percentages():
    assert Alarms(false_alarms="2.5%").false_alarms == 0.025
    for wrong in ("0%", "x%", "2", 1.0, True):
        with raises("option-value"):
            Alarms(false_alarms=wrong)
