"""Mutated files of every kind that wfalens opens: each is refused in one sentence or gives finite numbers.

`python -m tests.fuzz.fuzzer [--files N] [--first SEED] [KIND …]` prints what went wrong and a count. A file is made of
its kind and its number alone, so a finding is seen again with `--first NUMBER --files 1 KIND`. Files are opened in a
process with little memory, forked from one that has loaded all libraries; one that hangs or dies is a finding, too, and
another fork goes on behind it.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

MOST_MEMORY = (1 << 30) + (1 << 29)  # what a small file may take, and what libraries take that are loaded with it
MOST_SECONDS, HANGS = 10.0, 600.0  # of the processor for a file; of the clock before the child is given up
ODD = [
    *(None, True, False, 0, 1, -1, 2, 7, 0.5, -0.5, "", "x", [], {}, [1, "a"], {"a": {}}, "\ud800", "a\nb\x1b[31m"),
    *(1e-308, 1e308, float("nan"), float("inf"), 2**31, 2**53 + 1, 2**63, 2**64, 10**40, 10**9, 100_000, "Q" * 5000),
]

ODD_NUMBERS = [b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\x7f\x7f"]  # NaN, infinity …


def changed_json(rng: random.Random, value: Any) -> Any:
    """One entry, at any depth, is replaced, doubled or removed."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.15:
        return rng.choice(ODD)
    value = dict(value) if isinstance(value, dict) else list(value)
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    way = rng.random()
    if way < 0.1:
        del value[key]
    elif way < 0.15 and isinstance(value, list):
        value += value * rng.choice([1, 50])
    else:
        value[key] = changed_json(rng, value[key])
    return value


def changed_text(rng: random.Random, text: str) -> str:
    """A JSON document with one to three entries changed."""
    content = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        content = changed_json(rng, content)
    return json.dumps(content)


LONG = "Q" * 5000  # no sentence of ours has this letter in a row


def long_entries(value: Any) -> Iterator[Any]:
    """The content of a JSON document with each entry, and each name of one, replaced by a long text in turn."""
    yield from (LONG, "Q\n" * 2500)
    if isinstance(value, dict):
        for key, item in value.items():
            yield {name: each for name, each in value.items() if name != key} | {LONG: item}
            yield from ({**value, key: changed} for changed in long_entries(item))
    elif isinstance(value, list) and value:
        yield from ([changed, *value[1:]] for changed in long_entries(value[0]))


def long_files(kind: str, blob: bytes) -> Iterator[bytes]:
    """A file with a long text in each of its places."""
    if kind.endswith(".json"):
        yield from (json.dumps(changed).encode() for changed in long_entries(json.loads(blob)))
    elif kind.endswith((".wfa", ".rnn", ".safetensors")):
        header, inner, data = opened_safetensors(blob)
        yield from (packed_safetensors(changed, None, data) for changed in long_entries(header))
        yield from (packed_safetensors(header, changed, data) for changed in long_entries(inner))
    else:
        step = max(1, len(blob) // 40)
        yield from (blob[:at] + LONG.encode() + blob[at:] for at in range(0, len(blob), step))


def opened_safetensors(blob: bytes) -> tuple[Any, Any, bytes]:
    """The header, our JSON within it without its checksums, and the tensors."""
    size = int.from_bytes(blob[:8], "little")
    header, data = json.loads(blob[8 : 8 + size]), blob[8 + size :]
    inner = json.loads(header.get("__metadata__", {}).get("wfalens", "null"))
    if isinstance(inner, dict):
        inner = {name: value for name, value in inner.items() if name not in ("checksum", "checksums")}
    return header, inner, data


def packed_safetensors(header: Any, inner: Any, data: bytes) -> bytes:
    if inner is not None:
        header = {**header, "__metadata__": {"wfalens": json.dumps(inner)}}
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def changed_bytes(rng: random.Random, blob: bytes) -> bytes:
    """Some bytes are flipped, removed, doubled or overwritten."""
    data = bytearray(blob)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 8, 60])
        way = rng.randrange(5)
        if way == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            del data[at : at + length]
        elif way == 2:
            data[at:at] = data[at : at + length] * rng.choice([1, 3])
        elif way == 3:
            data[at : at + length] = rng.choice([b"\xff", b"\0", b"\x7f", b"\x80"]) * length
        else:
            data[at : at + length] = rng.randbytes(length)
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.05 else data)


def changed_safetensors(rng: random.Random, blob: bytes) -> bytes:
    """The header of tensors, its JSON within JSON, or the bytes; without checksums, so that readers must look."""
    header, inner, data = opened_safetensors(blob)
    way = rng.randrange(4)
    if way == 0:
        return changed_bytes(rng, blob)
    if way == 1 and inner:
        inner = json.loads(changed_text(rng, json.dumps(inner)))
    elif way == 2:
        tensors = {name: value for name, value in header.items() if name != "__metadata__"}
        changed = json.loads(changed_text(rng, json.dumps(tensors)))
        header = {**header, **changed} if isinstance(changed, dict) else {}
    else:
        data = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(0, max(1, len(data) - 8), 4)
            data[at : at + 4] = rng.choice(ODD_NUMBERS)
    return packed_safetensors(header, inner or None, bytes(data))


def changed_zip(rng: random.Random, blob: bytes) -> bytes:
    if rng.random() < 0.2:
        return changed_bytes(rng, blob)
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(parts))
    is_json = name.endswith(".json") and rng.random() < 0.8
    parts[name] = changed_text(rng, parts[name].decode()).encode() if is_json else changed_h5(rng, parts[name])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
    return out.getvalue()


def changed_h5(rng: random.Random, blob: bytes) -> bytes:
    """The configuration, the shape or the values of a weight, or the bytes."""
    import h5py
    import numpy as np

    stream = io.BytesIO(blob)
    try:
        with h5py.File(stream, "r+") as file:
            if "model_config" in file.attrs and rng.random() < 0.5:
                file.attrs["model_config"] = changed_text(rng, file.attrs["model_config"])
                file.flush()
            elif rng.random() < 0.5:
                names: list[str] = []
                file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
                name = rng.choice(names)
                array = file[name][()]
                del file[name]
                shape = rng.choice([(0,), (1, 1), array.shape[::-1], (*array.shape, 1), (10**5, 10**5), (10**9,)])
                if rng.random() < 0.5:
                    file.create_dataset(name, shape, rng.choice(["f4", "f8", "i8", "u1"]), chunks=True)
                else:
                    file[name] = np.full(array.shape, rng.choice([np.nan, np.inf, 1e38, -1e38, 0]), array.dtype)
            else:
                return changed_bytes(rng, blob)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, IndexError):
        return changed_bytes(rng, blob)
    return stream.getvalue()


def changed_gzip(rng: random.Random, blob: bytes) -> bytes:
    if rng.random() < 0.3:
        return changed_bytes(rng, blob)
    return gzip.compress(changed_bytes(rng, gzip.decompress(blob)), 1)


def write_originals(folder: Path) -> None:
    """A small file of every kind."""
    import numpy as np

    from tests.automata import carrier, linear_sample, sample
    from tests.fuzz.seeds import write_seeds

    sample("empirical", 1).wfa.save(folder / "empirical.wfa")
    sample("fit", 4).wfa.save(folder / "fit.wfa")
    linear_sample(2).wfa.save(folder / "linear.wfa")
    carrier(2).save(folder / "readable.wfa")
    write_seeds(folder, np.random.default_rng(0))


def change(kind: str) -> Callable[[random.Random, bytes], bytes]:
    ending = kind.rpartition(".")[2]
    ways: dict[str, Callable[[random.Random, bytes], bytes]] = {
        **dict.fromkeys(("wfa", "rnn", "safetensors"), changed_safetensors),
        **{"h5": changed_h5, "keras": changed_zip, "gz": changed_gzip},
        "json": lambda rng, blob: (
            changed_text(rng, blob.decode()).encode() if rng.random() < 0.8 else changed_bytes(rng, blob)
        ),
    }
    return ways.get(ending, changed_bytes)


def check(path: Path) -> str:
    """Open a file and use it; -> "refused" or "used". Whatever else is raised is a finding."""
    from tests.fuzz.seeds import use
    from wfalens.errors import WfalensError
    from wfalens.messages import LONGEST_REASON

    try:
        use(path)
    except WfalensError as error:
        message = str(error)
        assert "\n" not in message
        assert message.isprintable()
        assert message.count("Q") <= LONGEST_REASON, f"{message.count('Q')} characters of the file"
        return "refused"
    return "used"


def child(results: Connection, seeds: Path, kind: str, first: int, files: int) -> None:
    """Send the number of each file and its outcome."""
    warnings.simplefilter("ignore")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    with tempfile.TemporaryDirectory() as folder:
        for each in seeds.iterdir():
            shutil.copy(each, folder)
        path = Path(folder) / kind
        blob, outcome = path.read_bytes(), check(path)  # loads what memory is needed for, before it is limited
        assert outcome == "used", "a file that is not changed is refused"
        status = Path("/proc/self/status").read_text()
        used = 1024 * int(next(line for line in status.splitlines() if line.startswith("VmData")).split()[1])
        resource.setrlimit(resource.RLIMIT_DATA, (used + MOST_MEMORY, resource.RLIM_INFINITY))
        for number in range(first, first + files):
            path.write_bytes(change(kind)(random.Random(f"{kind} {number}"), blob))  # noqa: S311
            began = time.process_time()
            try:
                outcome = check(path)
            except BaseException as error:  # that is what is looked for
                outcome = f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
            seconds = time.process_time() - began
            results.send((number, outcome + ("" if seconds < MOST_SECONDS else f" after {seconds:.0f} s")))


def run(seeds: Path, kind: str, first: int, files: int) -> tuple[dict[str, int], list[str]]:
    """Outcomes with their counts, and findings."""
    os.environ.update(OMP_NUM_THREADS="1", WFALENS_THREADS="1", KERAS_BACKEND="torch")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["keras", "onnxruntime", "transformers", "tests.fuzz.seeds"])
    counts, findings, end = {"refused": 0, "used": 0}, list[str](), first + files
    while first < end:
        results, sent = context.Pipe(duplex=False)
        process = context.Process(target=child, args=(sent, seeds, kind, first, end - first))
        process.start()
        sent.close()
        ended = False
        while not ended and results.poll(HANGS):
            try:
                number, outcome = results.recv()
            except EOFError:
                ended = True
                continue
            first = number + 1
            if outcome in counts:
                counts[outcome] += 1
            else:
                findings.append(f"{kind} {number}: {outcome}")
        if not ended:
            process.kill()
        process.join()
        if first < end:
            findings.append(f"{kind} {first}: {'dies' if ended else 'hangs'} ({process.exitcode})")
            first += 1
    return counts, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("kinds", nargs="*")
    given = parser.parse_args()
    from tests.fuzz.seeds import KINDS

    failed = total = 0
    with tempfile.TemporaryDirectory() as seeds:
        write_originals(Path(seeds))
        for kind in given.kinds or KINDS:
            counts, findings = run(Path(seeds), kind, given.first, given.files)
            total, failed = total + given.files, failed + len(findings)
            print(f"{kind}: {counts}, {len(findings)} findings", *findings[:40], sep="\n  ", flush=True)
    print(f"{total:,} files, {failed} findings")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
