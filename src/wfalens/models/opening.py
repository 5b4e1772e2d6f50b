"""A model by the name of its file or folder."""

from __future__ import annotations

from pathlib import Path

from wfalens.errors import InputError
from wfalens.models.contract import PrefixClassifier
from wfalens.text.encoder import TextEncoder

HUGGING_FACE = "hf:"
_IN_PYTHON = {
    ".pkl": "loading a pickle runs code that is in it; load it yourself in Python and use wfalens.wrap_pipeline",
    ".pickle": "loading a pickle runs code that is in it; load it yourself in Python and use wfalens.wrap_pipeline",
    ".joblib": "loading a pickle runs code that is in it; load it yourself in Python and use wfalens.wrap_pipeline",
    ".pt": "load it in Python and use wfalens.wrap_module",
    ".pth": "load it in Python and use wfalens.wrap_module",
}


def reads_texts(spec: str | Path) -> bool:
    """Whether a model reads texts of any words, so that the words of its automaton must be told."""
    return str(spec).startswith(HUGGING_FACE)


def open_model(spec: str | Path, encoder: TextEncoder | None = None) -> PrefixClassifier:
    """Open a model as the command line does.

    Args:
        spec: a checkpoint (.rnn), an ONNX graph (.onnx) or a Keras file (.h5, .keras), each of the last two with a
            card beside it; a Hugging Face model (hf:FOLDER or hf:NAME); or a folder with net.json and
            net.safetensors.
        encoder: tells a model that reads texts its words; the others bring their own.

    Examples:
        >>> from wfalens import open_model
        >>> network.save("films.rnn")
        >>> open_model("films.rnn").class_names
        ('neg', 'pos')
    """
    if reads_texts(spec):
        from wfalens.models.transformer import load_transformer

        if encoder is None:
            raise InputError(f"{spec} reads texts of any words; give the words that its automaton shall have")
        return load_transformer(str(spec).removeprefix(HUGGING_FACE), encoder)
    path = Path(spec)
    ending = path.suffix.lower()
    if ending in _IN_PYTHON:
        raise InputError(f"{path}: {_IN_PYTHON[ending]}")
    if path.is_dir():
        from wfalens.models.rnn.symbol_network import is_symbol_network, load_symbol_network

        if is_symbol_network(path):
            return load_symbol_network(path)
        raise InputError(f"{path} is a folder; if it holds a Hugging Face classifier, give {HUGGING_FACE}{path}")
    if ending == ".onnx":
        from wfalens.models.onnx.onnx_model import load_onnx

        return load_onnx(path)
    if ending in (".h5", ".hdf5", ".keras"):
        from wfalens.models.keras.recurrent import load_keras

        return load_keras(path)
    from wfalens.models.rnn.classifier import RNNClassifier

    return RNNClassifier.load(path)
