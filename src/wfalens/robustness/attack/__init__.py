"""Adversarial examples: candidates × constraints × search, and the paper's attacks as recipes.

Public names stand once, in `__init__.pyi`, and are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
