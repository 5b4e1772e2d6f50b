"""Beyond memory: files as blocks, a map over blocks on threads, processes or Ray, and results that merge.

Public names stand once, in `__init__.pyi`, and are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
