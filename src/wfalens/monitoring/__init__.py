"""Monitoring a network with its automaton: what texts exercise, which are unusual or attacked, what has drifted.

Public names stand once, in `__init__.pyi`, and are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
