"""Graphs as XLA programs, through jax: on every device that jax has. Only this layer imports jax.

`INTAGLIO_BACKEND=xla`, or `intaglio.backend("xla")`, has functions with `jit_compile=True` compiled here. A
graph is carried out op by op on `jax.lax` while `jax.jit` traces (`evaluator`), its variables go in
and come back (`state`), and each combination of shapes has a program (`program`). docs/xla.md
lists what becomes of each op. jax is imported when the first program is made.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.xla import collectives as collectives
    from intaglio.xla import sharding as sharding
    from intaglio.xla.compilation import compiled as compiled
    from intaglio.xla.processes import join as join
    from intaglio.xla.stages import STAGES as STAGES
    from intaglio.xla.stages import exported as exported
    from intaglio.xla.stages import loaded as loaded
    from intaglio.xla.stages import text as text

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "STAGES": "intaglio.xla.stages:STAGES",
            "collectives": "intaglio.xla.collectives",
            "compiled": "intaglio.xla.compilation:compiled",
            "exported": "intaglio.xla.stages:exported",
            "join": "intaglio.xla.processes:join",
            "sharding": "intaglio.xla.sharding",
            "loaded": "intaglio.xla.stages:loaded",
            "text": "intaglio.xla.stages:text",
        },
    )

INSTALL = 'XLA is reached through jax, which is not installed: pip install "intaglio[xla]"'


def is_installed() -> bool:
    """Whether jax is there."""
    return importlib.util.find_spec("jax") is not None


def check_installed() -> None:
    """Raises ImportError, with the command that installs jax, if it is not there."""
    if not is_installed():
        raise ImportError(INSTALL, name="jax")
