"""Graphs as machine code, through LLVM. Imported when something is to be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.native.pipeline import compiled as compiled

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__, {"compiled": "intaglio.native.pipeline:compiled"}
    )
