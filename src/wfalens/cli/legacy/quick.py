"""Numba in half the time, for commands that are over in a moment."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

_BLAS = "scipy.linalg.cython_blas"


def load_numba() -> None:
    """Load what numba needs for kernels, without all of `scipy.linalg`.

    Numba imports `scipy.linalg.cython_blas` only to see that it is there. An empty module stands for it meanwhile; a
    kernel that needs BLAS would import the real one. Other threads must not import scipy at this time: call it from a
    command only, before its work.
    """
    if "numba" in sys.modules or _BLAS in sys.modules:
        return
    sys.modules[_BLAS] = ModuleType(_BLAS)
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules[_BLAS]
