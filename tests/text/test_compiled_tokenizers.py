"""The compiled encoder gives what the tokenizers give, character by character."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wfalens.text import TextEncoder, Vocabulary

# much of what tokenizers look at, much else
pieces = st.one_of(
    st.sampled_from(
        ["<br />", "<BR />", "<br/>", "<bR /", "it's", "The", "the", "<unk>", "<pad>", '"', ";", "\x1c", "é", "İ"]
    ),
    st.text(st.characters(max_codepoint=127), max_size=4),
    st.text(max_size=3),
)
texts = st.lists(st.lists(pieces, max_size=12).map("".join), max_size=70)
WORDS = ["the", "it", "'", "s", "(", "!", "br", "<br", "/>", "é", "a", "b", "0", "The", "it's", '"']


@given(texts, st.sampled_from(["whitespace", "basic_english"]), st.sampled_from([None, 1, 3]))
def test_many_texts_are_encoded_as_one_by_one(found, tokenizer, max_length):
    encoder = TextEncoder(Vocabulary.of_words(WORDS), tokenizer, max_length)
    expected = encoder.vocabulary.encode([encoder.tokens(text) for text in found])
    assert encoder.vocabulary.table is not None  # once it is made, even a few texts use it
    got = encoder.encode(found)
    np.testing.assert_array_equal(got.offsets, expected.offsets)
    np.testing.assert_array_equal(got.values, expected.values)
    assert got.values.dtype == np.int32


@pytest.mark.parametrize("tokenizer", ["whitespace", "basic_english"])
def test_every_word_of_a_large_vocabulary_is_found(tokenizer):
    words = [f"word{number}" for number in range(50_000)]
    encoder = TextEncoder(Vocabulary.of_words(words), tokenizer)
    ids = encoder.encode([" ".join(words[start : start + 100]) for start in range(0, 50_000, 100)])
    np.testing.assert_array_equal(ids.values, np.arange(2, 50_002))
    assert set(encoder.encode(["absent words here"] * 64).values) == {1}
