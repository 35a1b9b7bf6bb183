"""Fingerprints: whether two saved models are the same, from a small file beside them.

Follows https://www.tensorflow.org/guide/saved_model, "SavedModel Fingerprints". The numbers are
hashes of the parts of a model as they are written; TensorFlow takes them of a regularized form,
so that of one model saved by both the fingerprints differ.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.graphdef.declarations import parsed
from intaglio.graphdef.saved_messages import FingerprintDef
from intaglio.ops.text.hash_functions import fingerprints
from intaglio.saved_model import names

FILE = "fingerprint.pb"
PRODUCER = 4


class Fingerprint:
    """The fingerprint of a saved model: its hashes, each a number or None.

    `version` is the version of the format of fingerprints. Two are equal if all their hashes are.

    https://www.tensorflow.org/api_docs/python/tf/saved_model/experimental/Fingerprint

    >>> tf.saved_model.experimental.Fingerprint(1, 2, 3, 4, 5).singleprint()
    '2/3/4/5'
    """

    def __init__(
        self,
        saved_model_checksum: int | None = None,
        graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None,
        saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None,
        version: int | None = None,
    ) -> None:
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """The fingerprint that a FingerprintDef message holds. Raises ValueError for others."""
        if isinstance(proto, bytes):
            proto = parsed(FingerprintDef, proto, "the fingerprint")
        try:
            return cls(**{n: getattr(proto, n) for n in (*_HASHES, "version")})
        except AttributeError as e:
            raise ValueError(f"Given proto could not be deserialized as fingerprint. {e}") from None

    def singleprint(self) -> str:
        """The hashes but `saved_model_checksum`, which changes with what does not matter.

        Raises ValueError where one of them is missing.
        """
        parts = [getattr(self, n) for n in _HASHES[1:]]
        if None in parts:
            raise ValueError(
                f"A singleprint needs all hashes, and this fingerprint lacks some: {self!r}"
            )
        return "/".join(map(str, parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fingerprint) and all(
            getattr(self, n) == getattr(other, n) for n in _HASHES
        )

    def __hash__(self) -> int:
        return hash(tuple([getattr(self, n) for n in _HASHES]))

    def __repr__(self) -> str:
        return f"Fingerprint({', '.join([str(getattr(self, n)) for n in _HASHES])})"

    def __str__(self) -> str:
        lines = [f"  {n}: {getattr(self, n)}" for n in _HASHES]
        return "\n".join(["SavedModel Fingerprint", *lines])


_HASHES = (
    "saved_model_checksum",
    "graph_def_program_hash",
    "signature_def_hash",
    "saved_object_graph_hash",
    "checkpoint_hash",
)


def read_fingerprint(export_dir: Any) -> Fingerprint:
    """The fingerprint of the saved model in a folder.

    https://www.tensorflow.org/api_docs/python/tf/saved_model/experimental/read_fingerprint

    Raises:
      FileNotFoundError: there is none, or what is there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(tf.Module(), folder)
    ...     tf.saved_model.experimental.read_fingerprint(folder).version.producer
    4
    """
    folder = os.fsdecode(export_dir)
    try:
        with open(os.path.join(folder, FILE), "rb") as file:
            return Fingerprint.from_proto(file.read())
    except (OSError, ValueError) as e:
        raise FileNotFoundError(
            f"SavedModel Fingerprint Error: Could not find fingerprint in directory: {folder}\n{e}"
        ) from None


def write(folder: str, message: Any) -> None:
    """Writes the fingerprint of the model that a folder has, `message` its SavedModel."""
    meta_graph = message.meta_graphs[0]
    index = os.path.join(folder, names.VARIABLES, f"{names.VARIABLES}.index")
    with open(index, "rb") as file:
        checkpoint = file.read()
    signatures = b"".join(
        [
            key.encode() + meta_graph.signature_def[key].SerializeToString(deterministic=True)
            for key in sorted(meta_graph.signature_def)
        ]
    )
    parts: list[bytes] = [
        message.SerializeToString(deterministic=True),
        meta_graph.graph_def.SerializeToString(deterministic=True),
        signatures,
        meta_graph.object_graph_def.SerializeToString(deterministic=True),
        checkpoint,
    ]
    fingerprint = FingerprintDef()
    for name, value in zip(_HASHES, fingerprints(parts).tolist(), strict=True):
        setattr(fingerprint, name, value)
    fingerprint.version.producer = PRODUCER
    with open(os.path.join(folder, FILE), "wb") as file:
        file.write(fingerprint.SerializeToString(deterministic=True))
