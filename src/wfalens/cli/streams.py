"""Corpora in shards: when they are read so, with what engine, and where what is done is kept until the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from wfalens.cli.inputs import dataset_of
from wfalens.cli.options import SKIP, STOP
from wfalens.cli.stopping import resumable, undisturbed
from wfalens.corpus.sources.files import is_pattern
from wfalens.errors import InputError
from wfalens.memory import parse_size
from wfalens.models.opening import reads_texts
from wfalens.progress import Progress

if TYPE_CHECKING:
    from wfalens.automaton import WFA
    from wfalens.corpus.corpus import Corpus
    from wfalens.corpus.sources.files import TextFiles
    from wfalens.evaluation import Fidelity
    from wfalens.extraction import Extractor
    from wfalens.models.contract import StepwiseClassifier
    from wfalens.passes.engines import Engine
    from wfalens.passes.stream import Stream


@dataclass(frozen=True, kw_only=True)
class Shards:
    """The options about corpora in shards, as they are given; `docs/scale.md` explains them."""

    memory: str | None = None
    engine: str | None = None
    workers: int | None = None
    address: str | None = None
    shard: str | None = None
    on_bad: str = STOP
    log: Path | None = None

    def __post_init__(self) -> None:
        if self.on_bad not in (STOP, SKIP):
            raise InputError(f"--on-bad must be {STOP} or {SKIP}, not {self.on_bad!r}")

    def wanted_for(self, corpus: str) -> bool:
        """Whether a corpus is to be read in shards; where it is not, options about shards are refused."""
        if self.memory is not None or self.engine is not None or (dataset_of(corpus) is None and is_pattern(corpus)):
            return True
        for field in fields(self):
            if getattr(self, field.name) != field.default:
                option = field.name.replace("_", "-")
                raise InputError(f"--{option} is about corpora in shards; give --memory or --engine too")
        return False

    @contextmanager
    def opened_engine(self) -> Iterator[Engine]:
        """The engine; ask for it when the model is loaded."""
        from wfalens.passes.engines import open_engine

        with undisturbed():
            engine = open_engine(self.engine or "local", self.workers, self._memory, self.address)
        try:
            yield engine
        finally:
            engine.close()

    @contextmanager
    def opened_stream(self, files: TextFiles, folder: Path, model: str) -> Iterator[Stream]:
        """The files as a stream that keeps in `folder` what is done."""
        from wfalens.journal import NO_JOURNAL, FileJournal
        from wfalens.passes.stream import Stream

        journal = NO_JOURNAL if self.log is None else FileJournal(self.log)
        try:
            with resumable(folder), self.opened_engine() as engine:
                yield Stream(
                    files=files,
                    folder=folder,
                    engine=engine,
                    memory=self._memory,
                    shard_bytes=None if self.shard is None else parse_size(self.shard),
                    skips_bad=self.on_bad == SKIP,
                    model_file=None if reads_texts(model) else Path(model),
                    journal=journal,
                )
        finally:
            journal.close()

    @property
    def _memory(self) -> int:
        from wfalens.passes.stream import DEFAULT_MEMORY

        return DEFAULT_MEMORY if self.memory is None else parse_size(self.memory)


NO_SHARDS = Shards()


def extract_in_shards(
    extractor: Extractor,
    model: str,
    classifier: StepwiseClassifier,
    files: TextFiles,
    out: Path,
    shards: Shards,
    progress: Progress,
) -> WFA:
    """Extract from files and save to `out`; what is done is kept beside it until then."""
    from wfalens.extraction.streaming import extract_stream

    parts = out.with_name(f"{out.name}.parts")
    with shards.opened_stream(files, parts, model) as stream:
        wfa = extract_stream(extractor, classifier, stream, progress)
        wfa.save(out)
        shutil.rmtree(parts)
    return wfa


def measure_in_shards(
    wfa: WFA,
    model: str,
    classifier: StepwiseClassifier,
    files: TextFiles,
    parts: Path,
    shards: Shards,
    label_column: str | None,
    reference: Corpus | None,
    progress: Progress,
) -> Fidelity:
    """Measure fidelity on files; `parts` holds what is done, and may be removed when the result is safe."""
    from wfalens.evaluation.streaming import measure_stream_fidelity

    with shards.opened_stream(files, parts, model) as stream:
        return measure_stream_fidelity(
            wfa, classifier, stream, label_column=label_column, reference=reference, progress=progress
        )
