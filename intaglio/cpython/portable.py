"""Portable mode: whether code must rely only on what Python's documentation promises.

That is so on implementations other than CPython, and on free-threaded builds, whose objects have
another layout and whose reference counts other threads change at any time. `INTAGLIO_PORTABLE=1`
selects the same code on every build, so that it can be tested anywhere.
"""

from __future__ import annotations

import os
import sys

PORTABLE = (
    sys.implementation.name != "cpython"
    # `sysconfig` has it too, but its import takes ten milliseconds.
    or "free-threading build" in sys.version
    or bool(os.environ.get("INTAGLIO_PORTABLE"))
)
