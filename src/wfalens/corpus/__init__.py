"""Text in: readers, tokenizers, vocabulary, word vectors and data sets by name."""

from wfalens.corpus.corpus import Corpus
from wfalens.corpus.datasets import DATASETS, load_dataset
from wfalens.corpus.encoder import TextEncoder
from wfalens.corpus.readers import read_corpus, read_groups
from wfalens.corpus.sources.files import TextFiles
from wfalens.corpus.tokenizers import allow_tokenizer
from wfalens.corpus.vectors import WordVectors, read_vectors
from wfalens.corpus.vocabulary import Vocabulary
from wfalens.corpus.wordllama import wordllama_vectors

__all__ = [
    "DATASETS",
    "Corpus",
    "TextEncoder",
    "TextFiles",
    "Vocabulary",
    "WordVectors",
    "allow_tokenizer",
    "load_dataset",
    "read_corpus",
    "read_groups",
    "read_vectors",
    "wordllama_vectors",
]
