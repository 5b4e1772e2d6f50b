"""wfalens: extract a weighted finite automaton from a sequence classifier and see what it has learned."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wfalens.automaton import WFA, StochasticWFA, Walk
    from wfalens.corpus import (
        Corpus,
        TextEncoder,
        Vocabulary,
        WordVectors,
        load_dataset,
        read_corpus,
        read_vectors,
    )
    from wfalens.evaluation import Fidelity, measure_fidelity
    from wfalens.extraction import Augmentation, Extractor
    from wfalens.models import (
        CallableClassifier,
        ModelCard,
        RNNClassifier,
        RNNConfig,
        Trainer,
        export_onnx,
        load_onnx,
        load_transformer,
        open_model,
        wrap_keras,
        wrap_module,
        wrap_pipeline,
        wrap_transformer,
    )
    from wfalens.ragged import Ragged

    __version__: str

_HOME = {
    "WFA": "automaton",
    "StochasticWFA": "automaton",
    "Walk": "automaton",
    "Corpus": "corpus",
    "TextEncoder": "corpus",
    "Vocabulary": "corpus",
    "WordVectors": "corpus",
    "load_dataset": "corpus",
    "read_corpus": "corpus",
    "read_vectors": "corpus",
    "Fidelity": "evaluation",
    "measure_fidelity": "evaluation",
    "Augmentation": "extraction",
    "Extractor": "extraction",
    "CallableClassifier": "models",
    "ModelCard": "models",
    "RNNClassifier": "models",
    "RNNConfig": "models",
    "Trainer": "models",
    "export_onnx": "models",
    "load_onnx": "models",
    "load_transformer": "models",
    "open_model": "models",
    "wrap_keras": "models",
    "wrap_module": "models",
    "wrap_pipeline": "models",
    "wrap_transformer": "models",
    "Ragged": "ragged",
}

__all__ = [
    "WFA",
    "Augmentation",
    "CallableClassifier",
    "Corpus",
    "Extractor",
    "Fidelity",
    "ModelCard",
    "RNNClassifier",
    "RNNConfig",
    "Ragged",
    "StochasticWFA",
    "TextEncoder",
    "Trainer",
    "Vocabulary",
    "Walk",
    "WordVectors",
    "__version__",
    "export_onnx",
    "load_dataset",
    "load_onnx",
    "load_transformer",
    "measure_fidelity",
    "open_model",
    "read_corpus",
    "read_vectors",
    "wrap_keras",
    "wrap_module",
    "wrap_pipeline",
    "wrap_transformer",
]


def __getattr__(name: str) -> Any:
    """Public names are loaded on first use, so that a `.wfa` can be used without torch or scikit-learn."""
    if name == "__version__":
        from importlib.metadata import version

        return version("wfalens")
    if name in _HOME:
        return getattr(import_module(f"wfalens.{_HOME[name]}"), name)
    raise AttributeError(f"module 'wfalens' has no attribute {name!r}")
