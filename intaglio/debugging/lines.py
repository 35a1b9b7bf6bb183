"""Following the user's lines while Python runs them: which names get values, and where to stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from intaglio.base import origins

# Called with a frame of the user's program and "line" before a line runs, "return" at its end.
Follower = Callable[[FrameType, str], None]


@contextmanager
def followed(follower: Follower) -> Generator[None]:
    """Shows the follower each line that this thread runs in the block, but not those of this package.

    A debugger's or a coverage tool's own function for this goes on afterwards.
    """
    ours: dict[Any, bool] = {}

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event in ("line", "return"):
            follower(frame, event)
        return local

    def entered(frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        is_own = ours.get(code.co_filename)
        if is_own is None:
            is_own = ours[code.co_filename] = origins.is_ours(code)
        return None if is_own else local

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(before)
