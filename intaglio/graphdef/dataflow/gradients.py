"""Gradients of loops, which keep what each iteration needs in stacks and in arrays of gradients.

They are not rewritten. Models that were trained have them beside what is wanted of them.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.log import logger
from intaglio.graphdef.dataflow.edges import LOOP_CONDITION, Nodes
from intaglio.graphdef.dataflow.loops import frames_of
from intaglio.graphdef.transitive_users import transitive_users

_PUSH = "StackPushV2"
_HISTORY = frozenset(
    [
        "StackV2",
        _PUSH,
        "StackPopV2",
        "StackCloseV2",
        "TensorArrayGradV3",
        "TensorArrayGradWithShape",
    ]
)


def without_gradients(nodes: Nodes) -> Nodes:
    """The graph without gradients of loops, and without what takes them or waits for them."""
    history = {name for name, node in nodes.items() if node.op in _HISTORY}
    if not history:
        return nodes
    pushes = {f"^{name}" for name in history if nodes[name].op == _PUSH}
    kept = {name: _without_controls(node, pushes) for name, node in nodes.items()}
    frames = frames_of(nodes)
    dropped: set[str] = set()
    more = history
    while more:
        dropped |= transitive_users(kept.values(), more)
        # Without its condition nothing else in a loop can run.
        ended = {frames[name] for name in dropped if nodes[name].op == LOOP_CONDITION}
        more = {name for name in nodes if frames[name] in ended} - dropped
    logger().warning(
        "Gradients of loops of TensorFlow 1 are not supported: %d nodes are left out, as %s.",
        len(dropped),
        ", ".join([f"'{name}'" for name in nodes if name in dropped][-3:]),
    )
    return {name: node for name, node in kept.items() if name not in dropped}


def _without_controls(node: Any, texts: set[str]) -> Any:
    """The node without some control dependencies: loops wait for their pushes, and do not need them."""
    if texts.isdisjoint(node.input):
        return node
    copy = type(node)()
    copy.CopyFrom(node)
    del copy.input[:]
    copy.input.extend([text for text in node.input if text not in texts])
    return copy
