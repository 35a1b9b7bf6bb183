"""`tf.graph_util`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from intaglio.graphdef import load


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the default graph, under the scope `name`.

    Args:
      graph_def: a GraphDef message (ours or TensorFlow's) or its bytes.
      input_map: tensors that replace the graph's, by name: `{"x:0": tensor}`.
      return_elements: names of operations (`"add"`) and tensors (`"add:0"`) to return.
      name: the scope, `"import"` if None; `""` for none.
      op_dict: accepted; TensorFlow does not use it either.
      producer_op_list: accepted; attributes that an op does not have are passed over anyway.

    Returns:
      What `return_elements` names, in order, or None.

    Raises:
      TypeError: `graph_def` is no GraphDef.
      ValueError: it contradicts itself, has an op that does not exist here, a name in
        `input_map` or `return_elements` is not in it, or no graph is open.

    Follows https://www.tensorflow.org/api_docs/python/tf/graph_util/import_graph_def.

    >>> with tf.Graph().as_default() as graph:
    ...     _ = tf.constant(3, name="three")
    >>> with tf.Graph().as_default() as other:
    ...     (three,) = tf.graph_util.import_graph_def(graph.as_graph_def(), return_elements=["three:0"])
    >>> three.name
    'import/three:0'
    """
    return load.import_graph_def(graph_def, input_map, return_elements, name)


__all__ = ["import_graph_def"]
