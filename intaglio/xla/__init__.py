"""Graphs as XLA programs, through jax: on every device that jax has. Only this layer imports jax.

`INTAGLIO_BACKEND=xla`, or `intaglio.backend("xla")`, has functions with `jit_compile=True` compiled here. A
graph is carried out op by op on `jax.lax` while `jax.jit` traces (`evaluator`), its variables go in
and come back (`state`), and each combination of shapes has a program (`program`). docs/xla.md
lists what becomes of each op. jax is imported when the first program is made.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.xla.stand_ins import host_as, stand_ins

if TYPE_CHECKING:
    from intaglio.xla import collectives as collectives
    from intaglio.xla import placed as placed
    from intaglio.xla import sharding as sharding
    from intaglio.xla import transfers as transfers
    from intaglio.xla.compilation import compiled as compiled
    from intaglio.xla.meshes import accelerator_details as accelerator_details
    from intaglio.xla.meshes import accelerator_memory as accelerator_memory
    from intaglio.xla.modules import module_program as module_program
    from intaglio.xla.processes import AllGather as AllGather
    from intaglio.xla.processes import AllReduce as AllReduce
    from intaglio.xla.processes import join as join
    from intaglio.xla.stages import STAGES as STAGES
    from intaglio.xla.stages import exported as exported
    from intaglio.xla.stages import loaded as loaded
    from intaglio.xla.stages import text as text

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "AllGather": "intaglio.xla.processes:AllGather",
            "AllReduce": "intaglio.xla.processes:AllReduce",
            "STAGES": "intaglio.xla.stages:STAGES",
            "collectives": "intaglio.xla.collectives",
            "compiled": "intaglio.xla.compilation:compiled",
            "exported": "intaglio.xla.stages:exported",
            "join": "intaglio.xla.processes:join",
            "module_program": "intaglio.xla.modules:module_program",
            "sharding": "intaglio.xla.sharding",
            "loaded": "intaglio.xla.stages:loaded",
            "text": "intaglio.xla.stages:text",
            "transfers": "intaglio.xla.transfers",
            "placed": "intaglio.xla.placed",
            "accelerator_details": "intaglio.xla.meshes:accelerator_details",
            "accelerator_memory": "intaglio.xla.meshes:accelerator_memory",
        },
    )

INSTALL = 'XLA is reached through jax, which is not installed: pip install "intaglio[xla]"'


# Packages with which jax reaches other devices than the host.
PLUGINS = ("jax_plugins", "libtpu")


def accelerators() -> list[str]:
    """The types of jax' devices other than the host: jax is imported only where one can be."""
    if stand_ins():
        return stand_ins()
    if not (has_plugin() and is_installed()):
        return []
    return later.named("intaglio.xla.meshes:accelerator_kinds")()


@functools.cache
def has_plugin() -> bool:
    """Whether one of `PLUGINS` is there, looked for once: a block of `tf.device` asks for it."""
    return any([importlib.util.find_spec(p) is not None for p in PLUGINS])


def is_installed() -> bool:
    """Whether jax is there."""
    return importlib.util.find_spec("jax") is not None


def check_installed() -> None:
    """Raises ImportError, with the command that installs jax, if it is not there."""
    if not is_installed():
        raise ImportError(INSTALL, name="jax")


__all__ = [
    "INSTALL",
    "PLUGINS",
    "accelerators",
    "check_installed",
    "has_plugin",
    "host_as",
    "is_installed",
    "stand_ins",
]
