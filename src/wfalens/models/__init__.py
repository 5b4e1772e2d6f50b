"""What can be studied: the contract, the built-in networks and the adapters.

Public names stand once, in `__init__.pyi`, and are loaded on first use: a saved automaton works without torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
