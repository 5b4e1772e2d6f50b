"""Files of tensors as a stranger would make them: any header, any tensors, and no checksums that would tell."""

import copy
import json
import resource
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file


def contents(path):
    """Tensors and header of a file, without the checksums."""
    with safe_open(path, framework="numpy") as file:
        tensors = {name: file.get_tensor(name).copy() for name in file.keys()}  # noqa: SIM118
        header = json.loads(file.metadata()["wfalens"])
    return tensors, {name: value for name, value in header.items() if name not in ("checksum", "checksums")}


def write_contents(path, tensors, header):
    save_file(tensors, path, {"wfalens": json.dumps(header)})
    return path


def without_checksums(path):
    """The bytes of a file, had it been written without checksums."""
    return write_contents(path.with_name("bare"), *contents(path)).read_bytes()


@contextmanager
def little_memory(more=3 << 30):
    """Within it, no more than so many bytes of address space can be taken."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


ODD_VALUES = [
    *(None, True, False, 0, 1, -1, 2, 7, 0.5, 1.5, "", "x", [], {}, [1, "a"]),
    *(1e-308, 1e308, -1e-308, 5e-324, float("nan"), float("inf"), 2**31, 2**53 + 1, 2**63, 2**64, 10**40, 1 - 1e-16),
]
ODD_TYPES = ["u1", "u2", "u4", "u8", "i1", "i4", "i8", "f2", "f4", "f8", "?"]


def _of_header(draw, header):
    """Change one entry, at any depth."""
    where = header
    while True:
        name = draw(st.sampled_from(sorted(where) if isinstance(where, dict) else range(len(where))))
        inside = isinstance(where[name], dict | list) and where[name] and draw(st.booleans())
        if not inside:
            break
        where = where[name]
    if isinstance(where, dict) and draw(st.integers(0, 5)) == 0:
        del where[name]
    else:
        where[name] = draw(st.sampled_from(ODD_VALUES))


def _of_values(draw, tensors, name):
    array = tensors[name] = tensors[name].copy()
    if array.size:
        place = draw(st.integers(0, array.size - 1))
        odd = draw(st.sampled_from([0, 1, -1, 255, 2**31, 2**63 - 1, 1e-45, 1e38, -1e38, 1e300, np.nan, np.inf, 0.5]))
        with np.errstate(all="ignore"):
            many = slice(place, place + draw(st.sampled_from([1, 1, 3, array.size])))
            array.reshape(-1)[many] = np.array(odd).astype(array.dtype)


def _of_type(draw, tensors, name):
    with np.errstate(all="ignore"):
        tensors[name] = tensors[name].astype(draw(st.sampled_from(ODD_TYPES)))


def _of_shape(draw, tensors, name):
    array = tensors[name]
    ways = [
        *(array[:0], array[:-1], array[None], array.reshape(-1), array.T, np.concatenate([array, array])),
        *(array[..., :0], np.zeros((0, 4000), array.dtype), np.resize(array, (3, 5)), np.zeros((), array.dtype)),
    ]
    tensors[name] = np.ascontiguousarray(draw(st.sampled_from(ways)))


@st.composite
def changed_files(draw, originals):
    """Tensors and header of one of some files, changed in one to three ways."""
    tensors, header = copy.deepcopy(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(tensors)))
        way = draw(st.sampled_from([None, _of_values, _of_type, _of_shape, "drop"]))
        if way is None:
            _of_header(draw, header)
        elif way == "drop":
            del tensors[name]
        else:
            way(draw, tensors, name)
    return tensors, header
