"""Parts of speech of single words, by a tagger where one is installed."""

from __future__ import annotations

from collections.abc import Callable

from wfalens.errors import InputError


def installed_tagger() -> Callable[[str], str]:
    """NLTK's tagger as a function from a word to its tag."""
    try:
        import nltk
    except ImportError:
        raise InputError("no part-of-speech tagger is installed; install one with: pip install nltk") from None
    try:
        nltk.pos_tag(["word"])
    except LookupError:
        raise InputError(
            "nltk has no tagger yet; get it with: python -m nltk.downloader averaged_perceptron_tagger_eng"
        ) from None

    def tag(word: str) -> str:
        return str(nltk.pos_tag([word])[0][1])[:2]  # NN and NNS are both nouns

    return tag
