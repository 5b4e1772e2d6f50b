"""Checkpoints of the built-in networks (.rnn) and folders with a network over symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from wfalens.errors import InputError
from wfalens.models.adapter_registry import WrapArguments, adapter
from wfalens.models.contract import PrefixClassifier

_PICKLE = "loading a pickle runs code that is in it; load it yourself in Python and wrap the object"
_IN_PYTHON = {
    **dict.fromkeys((".pkl", ".pickle", ".joblib"), _PICKLE),
    **dict.fromkeys((".pt", ".pth"), "load it in Python and wrap the module"),
}


@adapter
class NetworkFileAdapter:
    """A file or folder that no other adapter accepts."""

    kind = "a checkpoint (.rnn) or a folder with net.json and net.safetensors"
    is_general = True

    def accepts(self, model: Any) -> bool:
        return isinstance(model, str | Path)

    def wrap(self, model: str | Path, given: WrapArguments) -> PrefixClassifier:
        path = Path(model)
        if path.suffix.lower() in _IN_PYTHON:
            raise InputError(f"{path}: {_IN_PYTHON[path.suffix.lower()]}", code="load-in-python")
        if path.is_dir():
            from wfalens.models.rnn.symbol_network import is_symbol_network, load_symbol_network  # needs torch

            if is_symbol_network(path):
                return load_symbol_network(path)
            raise InputError(
                f"{path} is a folder; if it holds a Hugging Face classifier, give hf:{path}", code="unknown-model"
            )
        from wfalens.models.rnn.classifier import RNNClassifier  # needs torch

        return RNNClassifier.load(path, given.tokenizer)
