"""How many processors there are for the program."""

from __future__ import annotations

import os


def cores() -> int:
    """How many processors the program may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
