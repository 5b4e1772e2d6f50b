"""What can be studied: the contract, the built-in networks and the adapters.

Those that need torch or an optional package are imported on first use, so that a saved automaton works without.
"""

from typing import TYPE_CHECKING, Any

from wfalens.models.adapters.callable import CallableClassifier
from wfalens.models.adapters.card import ModelCard
from wfalens.models.adapters.keras_model import wrap_keras
from wfalens.models.adapters.pipeline import wrap_pipeline
from wfalens.models.causality import check_causal
from wfalens.models.contract import EmbeddingClassifier, SteppableClassifier, StepwiseClassifier
from wfalens.models.embedding import model_vectors
from wfalens.models.onnx.model import load_onnx
from wfalens.models.opening import open_model

if TYPE_CHECKING:
    from wfalens.models.adapters.torch_module import wrap_module
    from wfalens.models.adapters.transformer import load_transformer, wrap_transformer
    from wfalens.models.onnx.export import export_onnx
    from wfalens.models.rnn import RNNClassifier, RNNConfig
    from wfalens.models.training import Trainer, Training

__all__ = [
    "CallableClassifier",
    "EmbeddingClassifier",
    "ModelCard",
    "RNNClassifier",
    "RNNConfig",
    "SteppableClassifier",
    "StepwiseClassifier",
    "Trainer",
    "Training",
    "check_causal",
    "export_onnx",
    "load_onnx",
    "load_transformer",
    "model_vectors",
    "open_model",
    "wrap_keras",
    "wrap_module",
    "wrap_pipeline",
    "wrap_transformer",
]

_TORCH = {
    "RNNClassifier": "rnn",
    "RNNConfig": "rnn",
    "Trainer": "training",
    "Training": "training",
    "export_onnx": "onnx.export",
    "load_transformer": "adapters.transformer",
    "wrap_module": "adapters.torch_module",
    "wrap_transformer": "adapters.transformer",
}


def __getattr__(name: str) -> Any:
    if name in _TORCH:
        from importlib import import_module

        return getattr(import_module(f"wfalens.models.{_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
