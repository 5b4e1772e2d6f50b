"""wfalens: extract a weighted finite automaton from a sequence classifier and see what it has learned.

Public names stand once, in `__init__.pyi`. They are loaded on first use, so that a `.wfa` can be used without torch or
scikit-learn.
"""

from importlib.metadata import version

import lazy_loader

__version__ = version("wfalens")
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
