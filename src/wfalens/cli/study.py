"""What `report` and `explore` look at: an automaton and what belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens.cli.common import CORPUS_HELP, MODEL_HELP, dataset_of, note, open_corpus, open_model, open_vectors
from wfalens.corpus.datasets import is_available

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.corpus.corpus import Corpus
    from wfalens.inspection import Study

ModelOption = Annotated[
    str | None, typer.Option("--model", "-m", help=f"The classifier that it was extracted from: {MODEL_HELP}")
]
TextsOption = Annotated[
    str | None,
    typer.Option(
        "--corpus", "-c", help=f"{CORPUS_HELP} Default: the test texts of the data set it was extracted from, if known."
    ),
]
VectorsOption = Annotated[
    str, typer.Option("--vectors", help="Word vectors: wordllama, model, none, or a GloVe or word2vec file.")
]
CompareOption = Annotated[Path | None, typer.Option("--compare", help="An earlier automaton to compare with.")]
CompareModelOption = Annotated[
    str | None, typer.Option("--compare-model", help="The classifier that the earlier one was extracted from.")
]


def open_study(
    automaton: Path,
    model: str | None,
    corpus: str | None,
    vectors: str,
    compare: Path | None,
    compare_model: str | None,
    seed: int,
    data: Path | None,
    text_column: str,
    label_column: str | None,
    encoding: str,
) -> Study:
    """Everything that was named, opened and checked; texts of a known data set are found by themselves."""
    from wfalens.automaton import WFA
    from wfalens.inspection import Study

    wfa = WFA.load(automaton)
    classifier = None if model is None else open_model(model, wfa.encoder)
    texts = (
        _usual_texts(wfa, data)
        if corpus is None
        else open_corpus(corpus, "test", data, text_column, label_column, encoding)
    )
    if texts is None:
        note("without --corpus there are no sentences, and nothing can be measured")
    if classifier is None:
        note("without --model the network does not answer beside the automaton")
    known = None if vectors == "none" else open_vectors(vectors, wfa.encoder.vocabulary.words[2:], classifier)
    earlier = None if compare is None else WFA.load(compare)
    return Study(
        automaton.name,
        wfa,
        classifier,
        texts,
        known,
        earlier,
        "" if compare is None else compare.name,
        None if compare_model is None else open_model(compare_model, earlier.encoder if earlier else None),
        seed,
    )


def _usual_texts(wfa: WFA, data: Path | None) -> Corpus | None:
    """The test texts of the data set that the automaton's provenance names, if it can be loaded here."""
    made_from = wfa.provenance.get("corpus")
    known = dataset_of(str(made_from.get("name", ""))) if isinstance(made_from, dict) else None
    if known is None or not is_available(known.name, data):
        return None
    note(f"texts: {known.name}:test")
    return open_corpus(f"{known.name}:test", "test", data)
