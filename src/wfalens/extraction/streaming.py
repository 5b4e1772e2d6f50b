"""Extraction from a corpus of any size: two passes over shards, memory that is bounded, and nothing done twice.

The first pass finds where shards begin and draws a sample of texts; on the sample all is decided that an extraction
decides: settings, states, representatives, fitted rows. The second counts the transitions of every text. Both keep what
they have in a folder of parts; a run that was stopped goes on there and ends in the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wfalens.automaton.stochastic import StochasticWFA
from wfalens.automaton.wfa import WFA
from wfalens.errors import InputError
from wfalens.extraction.completion.rules import asks_model
from wfalens.extraction.count_pass import count_stream
from wfalens.extraction.extractor import Extractor
from wfalens.extraction.finishing import finished
from wfalens.extraction.plan import Plan, check_plannable
from wfalens.extraction.provenance import origin
from wfalens.models.causality import check_causal
from wfalens.models.contract import StepwiseClassifier
from wfalens.passes.parts import PartsFolder
from wfalens.passes.stream import DEFAULT_SAMPLE, Stream
from wfalens.passes.survey import survey_stream
from wfalens.progress import SILENT, Progress
from wfalens.ragged import Ragged
from wfalens.threads import limit_model_threads

_PER_OUTPUT = 8  # words for every output that k-means sees


def extract_stream(extractor: Extractor, model: StepwiseClassifier, stream: Stream, progress: Progress = SILENT) -> WFA:
    """Extract an automaton from files of any size; `stream.folder` may be removed when the automaton is saved.

    A linear automaton is trained on the sample alone.
    """
    stream.check_start()
    if extractor.kind == StochasticWFA.kind:
        check_plannable(extractor, model)
    if stream.sample_tokens is None:
        stream = replace(stream, sample_tokens=_sample_tokens(extractor))
    folder = PartsFolder(stream.folder, _manifest(extractor, model, stream))
    take_back = limit_model_threads()
    try:
        return _extracted(extractor, model, stream, folder, progress)
    finally:
        take_back()
        folder.close()


def _extracted(
    extractor: Extractor, model: StepwiseClassifier, stream: Stream, folder: PartsFolder, progress: Progress
) -> WFA:
    files, journal = stream.files, stream.journal
    journal.write("start", files=len(files.paths), bytes=sum(files.sizes), resumed=folder.resumed)
    survey = survey_stream(stream, model.encoder, extractor.seed, folder, progress)
    ids = survey.sample.in_corpus_order()
    if len(ids) == 0:
        raise InputError(f"{files.name}: there is no text with a word in it to extract from")
    check_causal(model, ids)
    about = {"name": files.name, "files": len(files.paths), "sample": {"texts": len(ids), "tokens": len(ids.values)}}
    if extractor.kind != StochasticWFA.kind:
        wfa = extractor.extract(model, ids, progress, folder.path / "training")
        wfa.provenance["corpus"] |= about
        return wfa
    plan = _planned(extractor, model, ids, stream, folder, progress)
    parts = count_stream(stream, plan, model, survey.shards, folder, progress)
    provenance = {"corpus": about, **origin(extractor, model)}
    if plan.tuning is not None:
        provenance["tuning"] = plan.tuning
    wfa = finished(stream, plan, model, ids, parts, survey.unreadable, provenance, progress)
    journal.write("finish", **{name: wfa.provenance["corpus"][name] for name in ("texts", "tokens", "left_out")})
    return wfa


def _planned(
    extractor: Extractor,
    model: StepwiseClassifier,
    ids: Ragged[np.int32],
    stream: Stream,
    folder: PartsFolder,
    progress: Progress,
) -> Plan:
    stored = folder.read("plan")
    if stored is not None:
        return Plan.restored(stored, extractor, model)
    plan = Plan.made(extractor, model, ids, progress)
    folder.write("plan", *plan.stored())
    stream.journal.write("plan", states=len(plan.states), sample_texts=len(ids), sample_tokens=len(ids.values))
    stream.check_room()
    return plan


def _sample_tokens(extractor: Extractor) -> int:
    """How large a sample serves an extraction."""
    counts_only = extractor.kind == StochasticWFA.kind and not asks_model(extractor)
    if not counts_only or extractor.sample is None or extractor.is_open:
        return DEFAULT_SAMPLE
    return _PER_OUTPUT * extractor.sample * int(extractor.states)


def _manifest(extractor: Extractor, model: StepwiseClassifier, stream: Stream) -> dict[str, Any]:
    """All that the result depends on, and nothing else."""
    return {
        **origin(extractor, model),
        "files": stream.files.identity(),
        "text_column": stream.files.text_column,
        "encoding": stream.files.encoding,
        "sample_tokens": stream.sample_tokens,
        "block_bytes": stream.files.block_bytes,
    }
