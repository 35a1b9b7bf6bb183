"""The stages of an iterator's pipeline as the message that `get_model_proto` returns.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/get_model_proto.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from intaglio.base import errors
from intaglio.data.iterators import IteratorResource
from intaglio.data.stage import Stage
from intaglio.graphdef.declarations import declare, message_class

declare(
    """
message ModelProto
  nodes = 1 map<int64,ModelProto.Node>
  output = 2 int64
  id_counter = 3 int64
  dataset_name = 7 string
message ModelProto.Node
  id = 1 int64
  name = 2 string
  autotune = 3 bool
  num_elements = 8 int64
  parameters = 11 *ModelProto.Node.Parameter
  inputs = 14 *int64
message ModelProto.Node.Parameter
  name = 1 string
  value = 2 double
  state_value = 3 double
  min = 4 double
  max = 5 double
  tunable = 6 bool
""",
    "pipeline_model",
)
ModelProto: Any = message_class("ModelProto")

# What the arguments of ops are called as parameters of their stages.
_PARAMETERS = {"buffer_size": "buffer_size", "num_parallel_calls": "parallelism"}


def model_of(resource: IteratorResource) -> Any:
    """The tree of the stages, and how many elements have come out of it.

    Raises NotFoundError for an iterator without a dataset.
    """
    if resource.stage is None:
        raise errors.NotFoundError(None, None, "The iterator has no dataset.")
    model = ModelProto(output=1)
    root = model.nodes[1]
    root.id, root.name, root.num_elements = 1, "Root", resource.count
    waiting = [(root, resource.stage)]
    number = 1
    while waiting:
        parent, stage = waiting.pop()
        number += 1
        parent.inputs.append(number)
        node = model.nodes[number]
        node.id, node.name = number, stage.name
        _add_parameters(node, stage)
        waiting += [(node, s) for s in reversed(list(_inputs(stage)))]
    model.id_counter = number + 1
    return model


def _parts(stage: Stage) -> dict[str, Any]:
    return {} if stage.recipe is None else stage.recipe[1]


def _add_parameters(node: Any, stage: Stage) -> None:
    for argument, name in _PARAMETERS.items():
        if argument in _parts(stage):
            value = float(_parts(stage)[argument])
            node.parameters.add(name=name, value=value, state_value=value, min=value, max=value)


def _inputs(stage: Stage) -> Iterator[Stage]:
    for value in _parts(stage).values():
        if isinstance(value, (list, tuple)):
            yield from [v for v in value if isinstance(v, Stage)]
        elif isinstance(value, Stage):
            yield value
