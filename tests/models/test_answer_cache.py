"""The cache of answers: nothing that was paid for is lost or asked twice, and no text can be read from the file."""

import numpy as np

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.models import AnswerCache, wrap

TEXTS = [f"film number {number}" for number in range(40)]


class Paid:
    """A function of texts that keeps what it was asked, and may fail."""

    def __init__(self, fails=lambda text: False):
        self.asked, self.fails = [], fails

    def __call__(self, texts: list[str]):
        if any(self.fails(text) for text in texts):
            raise RuntimeError("out of order")
        self.asked += texts
        share = np.array([(len(text) % 7 + 1) / 9 for text in texts])
        return np.stack([share, 1 - share], 1)


def wrapped(function, path=None, **options):
    model = wrap(function, texts=TEXTS, classes=("a", "b"), reads="text", name="paid", **options)
    model.cache = None if path is None else AnswerCache(path)
    return model


def test_what_was_asked_is_not_asked_again_by_another_model_object(tmp_path):
    first, second = Paid(), Paid()
    outputs = wrapped(first, tmp_path / "answers").predict_proba(TEXTS)
    assert sorted(first.asked) == sorted(TEXTS)
    again = wrapped(second, tmp_path / "answers")
    np.testing.assert_array_equal(again.predict_proba(TEXTS), outputs)
    np.testing.assert_array_equal(again.final(again.encode(TEXTS)), outputs)
    assert second.asked == []
    assert again.queries == 0


def test_answers_of_another_model_are_not_taken(tmp_path):
    function = Paid()
    wrapped(Paid(), tmp_path / "answers").predict_proba(TEXTS)
    other = wrap(function, texts=TEXTS, classes=("a", "b"), reads="text", name="another")
    other.cache = AnswerCache(tmp_path / "answers")
    other.predict_proba(TEXTS)
    assert len(function.asked) == len(TEXTS)


def test_what_was_answered_before_a_failure_is_kept(tmp_path):
    function = Paid(fails=lambda text: text == TEXTS[-1])
    model = wrapped(function, tmp_path / "answers", batch_size=8)
    with raises("model-fails", match=TEXTS[-1]):
        model.predict_proba(TEXTS)
    assert len(set(function.asked)) == len(function.asked) == len(TEXTS) - 1
    repaired = Paid()
    wrapped(repaired, tmp_path / "answers").predict_proba(TEXTS)
    assert repaired.asked == TEXTS[-1:]


def test_a_model_that_fails_on_large_batches_is_asked_in_smaller_ones():
    class Small(Paid):
        def __call__(self, texts: list[str]):
            if len(texts) > 3:
                raise MemoryError
            return super().__call__(texts)

    function = Small()
    outputs = wrapped(function).predict_proba(TEXTS)
    np.testing.assert_array_equal(outputs, wrapped(Paid()).predict_proba(TEXTS))
    assert sorted(function.asked) == sorted(TEXTS)


def test_the_text_with_a_bad_output_is_named():
    def once(texts: list[str]):
        outputs = np.full((len(texts), 2), 0.5)
        outputs[[text == TEXTS[5] for text in texts]] = np.nan
        return outputs

    with raises("output-not-finite", match=TEXTS[5]):
        wrapped(once).predict_proba(TEXTS)


def test_the_file_holds_no_text(tmp_path):
    wrapped(Paid(), tmp_path / "answers").predict_proba(TEXTS)
    assert b"number" not in (tmp_path / "answers").read_bytes()


def test_a_file_that_is_none_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no database " * 100)
    with raises("answer-cache"):
        AnswerCache(tmp_path / "notes.txt")


def test_damaged_answers_are_asked_again(tmp_path):
    cache = AnswerCache(tmp_path / "answers")
    cache.store("paid", TEXTS, np.full((len(TEXTS), 3), np.nan, np.float32))
    assert not cache.find("paid", TEXTS, 3)[0].any()
    assert not cache.find("paid", TEXTS, 2)[0].any()
    for damaged in (None, 7, "text", b"\x00\xff"):
        cache._run("update answers set outputs = ?", (damaged,))
        assert not cache.find("paid", TEXTS, 3)[0].any()


def test_a_damaged_file_is_refused_or_asked_again(tmp_path):
    """Each byte in turn is another: damaged keys and schemas are no errors of others."""
    path = tmp_path / "answers.sqlite"
    AnswerCache(path).store("model", TEXTS[:3], np.full((3, 2), 0.5, np.float32))
    blob, refused = path.read_bytes(), 0
    for at in (at for at, byte in enumerate(blob) if byte):
        for value in (0xFF, 0x81, blob[at] ^ 1):
            path.write_bytes(blob[:at] + bytes([value]) + blob[at + 1 :])
            try:
                known, outputs = AnswerCache(path).find("model", TEXTS[:3], 2)
            except InputError as error:
                refused += error.code == "answer-cache"
            else:
                assert np.isfinite(outputs[known]).all()
    assert refused > 100
