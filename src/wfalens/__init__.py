"""wfalens: extract a weighted finite automaton from a sequence classifier and see what it has learned.

Public names stand once, in `__init__.pyi`. They are loaded on first use, so that a `.wfa` can be used without torch or
scikit-learn.
"""

from importlib.metadata import version
from typing import Any

import lazy_loader

from wfalens.errors import naming_extras

__version__ = version("wfalens")
_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with naming_extras():
        return _attribute(name)
