"""From a finding to a better network: blamed training texts, likely label errors, a plan, and training again.

Public names stand once, in `__init__.pyi`, and are loaded on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
