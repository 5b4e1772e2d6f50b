"""From texts to word ids."""

import pytest

from tests.errors import raises
from wfalens.errors import InputError
from wfalens.text import TextEncoder, Vocabulary


def test_encoder_cuts_and_takes_any_callable():
    encoder = TextEncoder(Vocabulary.of_words("abc"), lambda text: list(text.lower()), 2)
    assert encoder.tokens("ABC") == ["a", "b"]
    assert encoder.tokenizer_name == "custom"
    assert encoder.count_cut(["a", "ab", "abc"]) == 1
    with raises("tokenizer"):
        TextEncoder(encoder.vocabulary, "custom").encode(["a"])
    with pytest.raises(InputError, match="unknown tokenizer 'nope'; choose one of basic_english"):
        TextEncoder(encoder.vocabulary, "nope")
    with pytest.raises(InputError, match="list of texts"):
        encoder.encode("abc")
