"""`tf.experimental.dtensor`: tensors sharded over meshes of devices. There is one device.

The module exists because libraries import it before they know whether they need it, and for
`isinstance` checks; asking it for another name is an AttributeError.
"""

from __future__ import annotations

from typing import Any

from intaglio.distribute.unsupported import DTensorDataset, DVariable

__all__ = ["DTensorDataset", "DVariable"]


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"tf.experimental.dtensor.{name} does not exist in Intaglio: tensors cannot be spread "
        "over a mesh of devices, since there is one device, the host."
    )
