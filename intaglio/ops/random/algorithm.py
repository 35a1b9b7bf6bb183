"""The algorithms of random numbers by name."""

from __future__ import annotations

import enum
from typing import Any


class Algorithm(enum.Enum):
    """Which generator makes random numbers. Philox is the one that runs here."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_NAMES = {"philox": 1, "threefry": 2, "auto_select": 3}


def algorithm(value: Any) -> Any:
    """The number of an algorithm given as a name, `Algorithm`, number or tensor.

    Raises ValueError for a name that does not exist.
    """
    if isinstance(value, Algorithm):
        return value.value
    if isinstance(value, str):
        if value not in _NAMES:
            raise ValueError(
                f"Argument `alg` got unsupported value {value}. Supported values are philox for the "
                "Philox algorithm, threefry for the ThreeFry algorithm, and auto_select for auto-selection."
            )
        return _NAMES[value]
    return value
