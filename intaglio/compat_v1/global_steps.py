"""The counter of training steps.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/get_or_create_global_step.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int64
from intaglio.compat_v1.variable_scopes import GraphKeys, get_default_graph
from intaglio.state.variable import Variable
from intaglio.trace import scopes


def get_global_step(graph: Any = None) -> Any:
    """The counter, or None. Raises RuntimeError if there are several."""
    found = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise RuntimeError("Multiple items found in collection global_step")
    return found[0] if found else None


def create_global_step(graph: Any = None) -> Any:
    """A new counter, 0. Raises ValueError if there is one."""
    home = graph or get_default_graph()
    if get_global_step(home) is not None:
        raise ValueError('"global_step" already exists.')
    with scopes.init_scope():
        created = Variable(0, trainable=False, name="global_step", dtype=int64)
    for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP):
        if not any(v is created for v in home.get_collection(name)):  # a graph has its own already
            home.add_to_collection(name, created)
    return created


def get_or_create_global_step(graph: Any = None) -> Any:
    """The counter; a new one if there is none."""
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The counter's value."""
    if sess is not None:
        return int(sess.run(global_step_tensor))
    return int(global_step_tensor)
