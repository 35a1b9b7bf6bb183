"""Everything that knows how CPython and NumPy lay out objects, or counts references to them.

No other layer uses `ctypes.pythonapi`, reference counts, or `id()` as an address; machine code that
works on objects takes every offset, address and symbol from `layout`. Where `AVAILABLE` is false
nothing of this may be used but `is_sole_owner`, which then never says yes.
"""

from intaglio.cpython import layout as layout
from intaglio.cpython.layout import AVAILABLE as AVAILABLE
from intaglio.cpython.references import is_sole_owner as is_sole_owner

__all__ = ["AVAILABLE", "is_sole_owner", "layout"]
