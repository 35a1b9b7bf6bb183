"""Whether nothing may be assumed of the interpreter but what Python's documentation says.

So it is on other Pythons than CPython, and on free-threaded builds, where objects are laid out
otherwise and what other threads do shows in the counts of references. `INTAGLIO_PORTABLE=1` has it
so everywhere: what runs there can be tested on any build.
"""

from __future__ import annotations

import os
import sys
import sysconfig

PORTABLE = (
    sys.implementation.name != "cpython"
    or bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    or bool(os.environ.get("INTAGLIO_PORTABLE"))
)
