"""Files of tensors as a stranger would make them: any header, any tensors, and no checksums that would tell."""

import json

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
