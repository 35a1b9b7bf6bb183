"""The native compiler's background thread, in tests that say when its work is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from intaglio.native import tiers

Work = Callable[[], None]


def at_once(patch: pytest.MonkeyPatch) -> None:
    """Lets what is to be done in the background be done before the next call."""

    def do(run: Any, work: Work) -> None:
        run.compiling = threading.current_thread()
        work()

    patch.setattr(tiers.Background, "_in_background", do)


def later(patch: pytest.MonkeyPatch) -> list[Work]:
    """The list of what is to be done in the background, none of which is done."""
    waiting: list[Work] = []

    def postpone(run: Any, work: Work) -> None:
        run.compiling = threading.current_thread()
        waiting.append(work)

    patch.setattr(tiers.Background, "_in_background", postpone)
    return waiting
