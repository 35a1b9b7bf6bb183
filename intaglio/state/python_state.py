"""Python objects in checkpoints: `tf.train.experimental.PythonState`."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

import numpy as np

from intaglio.state.tracking import Trackable


class PythonState(Trackable, abc.ABC):
    """A base class of objects that checkpoints save as bytes.

    A subclass returns its state in `serialize` (bytes or str), and restores it, from bytes, in
    `deserialize`.

    https://www.tensorflow.org/api_docs/python/tf/train/experimental/PythonState

    >>> import tempfile
    >>> class Words(tf.train.experimental.PythonState):
    ...     def __init__(self, words):
    ...         self.words = words
    ...     def serialize(self):
    ...         return " ".join(self.words)
    ...     def deserialize(self, string_value):
    ...         self.words = string_value.decode().split()
    >>> kept = tf.train.Checkpoint(words=Words(["a", "b"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = kept.save(folder + "/c")
    ...     kept.words.words = []
    ...     _ = kept.restore(path)
    >>> kept.words.words
    ['a', 'b']
    """

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The state to save: bytes or str."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Restores the state from a result of `serialize`, as bytes."""

    def _checkpoint_values(self) -> dict[str, Any]:
        text = self.serialize()
        data = text.encode() if isinstance(text, str) else bytes(text)
        return {"py_state": np.array(data, object)}

    def _restore_checkpoint_values(self, values: Mapping[str, Any]) -> None:
        self.deserialize(values["py_state"].item())

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}
