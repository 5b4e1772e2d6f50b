"""Text in: readers, tokenizers, vocabulary, word vectors and data sets by name."""

from wfalens.text.corpus import Corpus, as_texts
from wfalens.text.datasets.catalogue import DATASETS, load_dataset
from wfalens.text.encoder import TextEncoder
from wfalens.text.files import TextFiles, read_corpus, read_groups
from wfalens.text.tokenizers import allow_tokenizer
from wfalens.text.vocabulary import Vocabulary
from wfalens.text.word_vectors import WordVectors, read_vectors, wordllama_vectors

__all__ = [
    "DATASETS",
    "Corpus",
    "TextEncoder",
    "TextFiles",
    "Vocabulary",
    "WordVectors",
    "allow_tokenizer",
    "as_texts",
    "load_dataset",
    "read_corpus",
    "read_groups",
    "read_vectors",
    "wordllama_vectors",
]
