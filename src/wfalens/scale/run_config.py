"""How files beyond memory are read: the options; importing them loads no numpy."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wfalens.errors import InputError
from wfalens.memory import parse_size
from wfalens.validation import Bounds, Options, option, whole

STOP, SKIP = ON_ERROR = ("stop", "skip")
LOCAL, SERIAL, THREADS, PROCESSES, RAY = ENGINES = ("local", "serial", "threads", "processes", "ray")
DEFAULT_SAMPLE = 300_000  # words: what a round of fitting reads
_COUNT = Bounds(whole, 1, 1 << 60, (None,))


@dataclass(frozen=True, kw_only=True)
class RunConfig(Options):
    """How files are read. Only `sample_tokens` and `on_error` have an effect on the result.

    Args:
        memory: bytes that this process and its workers on this machine may hold together, as a number or as "2GB".
        engine: where the work is done: serial (this process), threads, processes, local (threads or processes,
            whatever fits into memory), ray (a cluster), or None: serial, with `workers` local.
        workers: how many (None: one for each core).
        address: of a Ray cluster.
        checkpoints: folder that keeps finished blocks, so that a stopped run can continue (None: nothing is kept).
        block_bytes: text in a block of work, as a number or as "16MB" (None: 1 to 64 MB).
        sample_tokens: words of the sample on which states and settings are decided (None: 300,000, or what k-means
            needs where nothing else is decided).
        on_error: "stop" at a row that cannot be read or a block that fails, or "skip" and count it.
        model_file: where the model is stored, so that worker processes can load it.
        log: file that gets one JSON line for every block.

    Examples:
        >>> from wfalens import RunConfig
        >>> RunConfig(memory="16GB", workers=4).memory
        16000000000
    """

    memory: int | str | None = option(None)
    engine: str | None = option(None, allowed=ENGINES)
    workers: int | None = option(None, allowed=_COUNT)
    address: str | None = option(None)
    checkpoints: Path | None = option(None)
    block_bytes: int | str | None = option(None)
    sample_tokens: int | None = option(None, allowed=_COUNT)
    on_error: str = option(STOP, allowed=ON_ERROR)
    model_file: Path | None = option(None)
    log: Path | None = option(None)

    def __post_init__(self) -> None:
        for name in ("memory", "block_bytes"):
            value = getattr(self, name)
            value = parse_size(value) if isinstance(value, str) else value
            object.__setattr__(self, name, _COUNT.checked(name, value))
        for name in ("checkpoints", "model_file", "log"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else Path(value))
        super().__post_init__()
        if self.address is not None and self.engine != RAY:
            raise InputError("an address needs the engine ray", code="option-conflict")
