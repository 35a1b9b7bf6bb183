"""The modules `tensorflow.core.*_pb2`: messages and enums, by the files that TensorFlow has them in.

Where the name `tensorflow` is Intaglio, the messages are declared in protobuf's default pool, and files
of TensorFlow's names stand for them there: generated modules of other libraries import these modules for
that, and refer to `tensorflow/core/framework/types.proto` by name.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import later
from intaglio.graphdef import declarations
from intaglio.graphdef.proto_file_names import SEPARATOR, TABLES, VALUES


def __getattr__(name: str) -> Any:
    """A name of a module: `framework__types____DT_FLOAT`."""
    place, _, wanted = name.partition(SEPARATOR)
    path = place.replace("__", "/")
    if not wanted or path not in TABLES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, names = TABLES[path]
    module = later.named(f"{__package__}.{home}")
    if wanted == "DESCRIPTOR":
        return declarations.file_under_name(f"tensorflow/core/{path}.proto", module.FILE)
    if wanted in names:
        return declarations.declared(wanted)
    return declarations.declared(VALUES[path][0]).Value(wanted)
