"""Untrusted text before it reaches a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from wfalens.messages import LONGEST_REASON, listed, percent, printable, sentence, visible


def test_what_moves_the_cursor_is_replaced():
    assert printable("a\x1b[31mb\u202ec\x00\udc80") == "a�[31mb�c��"
    assert printable("👩\u200d👧 naïve") == "👩\u200d👧 naïve"


def test_many_long_names_are_cut_to_what_a_sentence_may_echo():
    assert listed(["a", "b"]) == "a, b"
    assert len(listed(["x" * 100] * 50)) == LONGEST_REASON
    assert listed([]) == "none"


def test_a_sentence_is_one_line():
    assert sentence("one\ntwo\tthree\r\n") == "one two three  "


def test_a_long_sentence_keeps_its_beginning_and_its_end():
    told = sentence("begin " + "x" * 10**6 + " end")
    assert told.startswith("begin xxx")
    assert told.endswith("xxx end")
    assert " … " in told
    assert len(told) == 1000


@given(st.text(max_size=300), st.integers(10, 200))
def test_a_sentence_is_printable_and_bounded(text, longest):
    told = sentence(text, longest)
    assert len(told) <= longest
    assert all(char.isprintable() or char in "\u200c\u200d" for char in told)
    if text.isprintable() and len(text) <= longest:
        assert told == text


def test_a_share_is_never_called_impossible_or_certain_unless_it_is():
    shares = (0, 0.001, 0.005, 0.5, 0.996, 1)
    assert [percent(share) for share in shares] == ["0 %", "< 1 %", "< 1 %", "50 %", "> 99 %", "100 %"]
    assert percent(1 - 1e-16) == "100 %"
    assert [percent(share, 1) for share in (0.0004, 0.0006, 0.9996)] == ["< 0.1 %", "0.1 %", "> 99.9 %"]


def test_every_character_of_a_word_can_be_seen():
    assert visible("a b\x96é\u200b") == "a␣b[U+0096]é[U+200B]"
