"""What `report` and `explore` look at: an automaton and what belongs to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wfalens import progress
from wfalens.cli.legacy import options as opt
from wfalens.cli.legacy.inputs import USUAL, Reader, dataset_of, open_vectors
from wfalens.cli.legacy.reference import Reference, extraction_texts
from wfalens.models.wrapping import wrap
from wfalens.text.datasets.catalogue import is_available

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.report import Study
    from wfalens.text.corpus import Corpus

COMPARISON = "Comparison"
Texts = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        "-c",
        metavar="TEXTS",
        help=f"The texts: {opt.CORPUS_HELP}",
        show_default="the test texts of the data set it was extracted from, if known",
    ),
]
Vectors = Annotated[
    str,
    typer.Option(
        "--vectors", metavar="VECTORS", help="Word vectors: wordllama, model, none, or a GloVe or word2vec file."
    ),
]
Compare = Annotated[
    Path | None,
    typer.Option("--compare", metavar="FILE", help="An earlier automaton to compare with.", rich_help_panel=COMPARISON),
]
CompareModel = Annotated[
    str | None,
    typer.Option(
        "--compare-model",
        metavar="MODEL",
        help="The classifier that the earlier one was extracted from.",
        rich_help_panel=COMPARISON,
    ),
]


def open_study(
    automaton: Path,
    model: str | None = None,
    corpus: str | None = None,
    *,
    vectors: str = "wordllama",
    compare: Path | None = None,
    compare_model: str | None = None,
    seed: int = 0,
    reader: Reader = USUAL,
) -> Study:
    """Everything that was named, opened and checked; texts of a known data set are found by themselves."""
    from wfalens.automaton import WFA
    from wfalens.report import Study

    wfa = WFA.load(automaton)
    classifier = None if model is None else wrap(model, vocab=wfa.encoder)
    texts = _usual_texts(wfa, reader) if corpus is None else reader.corpus(corpus, "test")
    if texts is None:
        progress.say("without --corpus there are no sentences, and nothing can be measured")
    if classifier is None:
        progress.say("without --model the network does not answer beside the automaton")
    fit_on = Reference(None)
    if classifier is not None and texts is not None:
        beside = (automaton.parent, *([] if corpus is None else [Path(corpus).parent]))
        fit_on = extraction_texts(wfa, reader, beside, seed)
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
        None if compare_model is None else wrap(compare_model, vocab=earlier.encoder if earlier else None),
        seed,
        fit_on.corpus,
        fit_on.missing,
    )


def _usual_texts(
    wfa: WFA,
    reader: Reader,
) -> Corpus | None:
    """The test texts of the data set that the automaton's provenance names, if it can be loaded here."""
    made_from = wfa.provenance.get("corpus")
    known = dataset_of(str(made_from.get("name", ""))) if isinstance(made_from, dict) else None
    if known is None or not is_available(known.name, reader.data):
        return None
    progress.say(f"texts: {known.name}:test")
    return reader.corpus(f"{known.name}:test", "test")
