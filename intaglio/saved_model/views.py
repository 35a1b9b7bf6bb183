"""Looking at what is saved: the objects of a checkpoint, and those below a live one.

Follows https://www.tensorflow.org/api_docs/python/tf/train/CheckpointView and
https://www.tensorflow.org/api_docs/python/tf/train/TrackableView.
"""

from __future__ import annotations

import os
from typing import Any

from intaglio.graphdef.declarations import parsed
from intaglio.graphdef.saved_messages import TrackableObjectGraph
from intaglio.saved_model import names, object_graph
from intaglio.saved_model.bundle import Bundle
from intaglio.saved_model.object_graph import ObjectGraph


class TrackableView:
    """The objects that saving reaches from `root`.

    https://www.tensorflow.org/api_docs/python/tf/train/TrackableView

    >>> module = tf.Module()
    >>> module.v = tf.Variable(5.0)
    >>> [*tf.train.TrackableView(module).children(module)]
    ['v']
    """

    def __init__(self, root: Any) -> None:
        _check(root)
        self._root = root

    @property
    def root(self) -> Any:
        """The object that all others are reached from."""
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The objects directly below `obj`, by the names of attributes and elements."""
        return object_graph.children(obj, save_type, **kwargs)

    def descendants(self) -> list[Any]:
        """All objects, the root first, nearer ones before farther ones."""
        return ObjectGraph(self._root, self.children).objects


class CheckpointView:
    """The objects of a checkpoint, by their numbers; 0 is the root.

    Raises NotFoundError (tf.errors) if there is no checkpoint at `save_path`.

    https://www.tensorflow.org/api_docs/python/tf/train/CheckpointView

    >>> import tempfile
    >>> module = tf.Module()
    >>> module.v = tf.Variable(5.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     view = tf.train.CheckpointView(tf.train.Checkpoint(m=module).save(folder + "/c"))
    >>> view.children(0)
    {'m': 1, 'save_counter': 2}
    >>> [*view.match(tf.train.Checkpoint(m=module))]
    [0, 1, 3]
    """

    def __init__(self, save_path: Any) -> None:
        prefix = os.fsdecode(save_path)
        data = Bundle(prefix).array(names.OBJECT_GRAPH_KEY)
        self._nodes = parsed(TrackableObjectGraph, data.item(), prefix).nodes

    def children(self, node_id: int) -> dict[str, int]:
        """The numbers of the objects directly below one, by name. Raises IndexError."""
        return {c.local_name: c.node_id for c in self._nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The numbers of all objects, nearer ones before farther ones."""
        found = dict.fromkeys([0])
        work = [0]
        for number in work:
            new = [n for n in self.children(number).values() if n not in found]
            found.update(dict.fromkeys(new))
            work += dict.fromkeys(new)
        return [*found]

    def match(self, obj: Any) -> dict[int, Any]:
        """The objects below `obj` that the checkpoint has under the same names, by number.

        Raises ValueError for an object that cannot be saved.
        """
        _check(obj)
        found: dict[int, Any] = {0: obj}
        work = [0]
        for number in work:
            numbers = self.children(number)
            for name, child in object_graph.children(found[number]).items():
                other = numbers.get(name)
                if other is not None and other not in found:
                    found[other] = child
                    work.append(other)
        return dict(sorted(found.items()))

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """(what `match` returns, numbers of the checkpoint alone, objects below `obj` alone)."""
        both = self.match(obj)
        known = {id(v) for v in both.values()}
        live = TrackableView(obj).descendants()
        return (
            both,
            [n for n in self.descendants() if n not in both],
            [v for v in live if id(v) not in known],
        )


def _check(obj: Any) -> None:
    if not object_graph.is_trackable(obj) or isinstance(obj, (list, tuple, dict)):
        raise ValueError(f"Expected a Trackable, got {obj!r} of type {type(obj)}.")
