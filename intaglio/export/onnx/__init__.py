"""ONNX in both directions. Only this folder imports the package `onnx`.

`exporting` finds a function and writes the file; `lowering` takes its graph node by node, by the rules in
`rules`, by the op's elementwise expression (`scalars`) or by its expression in simpler ops; `builder` writes
ONNX' nodes. `loading` is the other direction.
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.export.onnx.description import described as described
    from intaglio.export.onnx.exporting import converted as converted
    from intaglio.export.onnx.exporting import exported as exported
    from intaglio.export.onnx.exporting import write as write
    from intaglio.export.onnx.loading.loaded import loaded as loaded

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "described": "intaglio.export.onnx.description:described",
            "converted": "intaglio.export.onnx.exporting:converted",
            "exported": "intaglio.export.onnx.exporting:exported",
            "loaded": "intaglio.export.onnx.loading.loaded:loaded",
            "write": "intaglio.export.onnx.exporting:write",
        },
    )

INSTALL = 'ONNX files are read and written by the package onnx, which is not installed: pip install "intaglio[onnx]"'


def is_installed() -> bool:
    """Whether the package onnx is there."""
    return importlib.util.find_spec("onnx") is not None


def check_installed() -> None:
    """Raises ImportError, with the command that installs onnx, if it is not there."""
    if not is_installed():
        raise ImportError(INSTALL, name="onnx")
