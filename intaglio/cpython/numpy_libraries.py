"""C functions of the libraries that NumPy's extension modules are linked with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

# The names of OpenBLAS' functions in NumPy's wheels and in systems' packages.
_OPENBLAS = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)


def openblas_thread_count() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """The functions that get and set OpenBLAS' number of threads; None if NumPy has another library."""
    try:
        # Looking up a name searches what the extension was linked with too.
        library = ctypes.PyDLL(np.linalg._umath_linalg.__file__)  # type: ignore[attr-defined]  # no other name leads to the library
    except (AttributeError, OSError):
        return None
    for name in _OPENBLAS:
        if hasattr(library, name.format("set")):
            return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None
