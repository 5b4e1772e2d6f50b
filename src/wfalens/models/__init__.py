"""What can be studied: the contract, the built-in networks and the adapters.

Public names stand once, in `__init__.pyi`, and are loaded on first use: a saved automaton works without torch.
"""

from typing import Any

import lazy_loader

from wfalens.errors import naming_extras

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with naming_extras():
        return _attribute(name)
