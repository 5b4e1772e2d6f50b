"""What can be studied: the contract, the built-in networks and the adapters.

The torch-based ones are imported on first use, so that a saved automaton works without torch.
"""

from typing import TYPE_CHECKING, Any

from wfalens.models.callable import CallableClassifier
from wfalens.models.causality import check_causal
from wfalens.models.contract import EmbeddingClassifier, SteppableClassifier, StepwiseClassifier

if TYPE_CHECKING:
    from wfalens.models.rnn import RNNClassifier, RNNConfig
    from wfalens.models.torch_module import wrap_module
    from wfalens.models.training import Trainer, Training

__all__ = [
    "CallableClassifier",
    "EmbeddingClassifier",
    "RNNClassifier",
    "RNNConfig",
    "SteppableClassifier",
    "StepwiseClassifier",
    "Trainer",
    "Training",
    "check_causal",
    "wrap_module",
]

_TORCH = {
    "RNNClassifier": "rnn",
    "RNNConfig": "rnn",
    "Trainer": "training",
    "Training": "training",
    "wrap_module": "torch_module",
}


def __getattr__(name: str) -> Any:
    if name in _TORCH:
        from importlib import import_module

        return getattr(import_module(f"wfalens.models.{_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
