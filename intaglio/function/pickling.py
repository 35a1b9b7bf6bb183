"""How a traced function is pickled: by name, where its module has it under its name."""

from __future__ import annotations

import operator
import sys
from typing import Any


def is_named(function: Any, python_function: Any) -> bool:
    """Whether the Python function's module has `function` under its name, as a pickle needs it.

    So it is for what a decorator made: pickles name it, and the other process imports it. Anything else
    is pickled by its Python function.
    """
    module = sys.modules.get(getattr(python_function, "__module__", None) or "")
    name = getattr(python_function, "__qualname__", "")
    try:
        return operator.attrgetter(name)(module) is function
    except AttributeError:
        return False
