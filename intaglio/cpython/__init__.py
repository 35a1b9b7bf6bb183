"""All code that depends on the memory layout of CPython and NumPy objects, or on reference counts.

No other layer uses `ctypes.pythonapi`, reference counts, or `id()` as an address; machine code that
works on objects takes every offset, address and symbol from `layout`. Where `AVAILABLE` is false
nothing of this may be used but `is_sole_owner`, which is always False then, and `shared`.
"""

from intaglio.cpython import layout as layout
from intaglio.cpython.layout import AVAILABLE as AVAILABLE
from intaglio.cpython.references import is_sole_owner as is_sole_owner
from intaglio.cpython.references import shared as shared

__all__ = ["AVAILABLE", "is_sole_owner", "layout", "shared"]
