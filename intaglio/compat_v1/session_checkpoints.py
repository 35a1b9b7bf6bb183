"""Checkpoints of objects in sessions, and first values of variables from checkpoints.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Checkpoint and
https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/init_from_checkpoint.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from intaglio.base import log
from intaglio.compat_v1.sessions import get_default_session
from intaglio.compat_v1.variable_scopes import GraphKeys, VariableScope, get_collection
from intaglio.opdef import convert, raw
from intaglio.saved_model import checkpoint
from intaglio.saved_model.checkpoint import CheckpointReader, load_checkpoint
from intaglio.state.variable import Variable
from intaglio.trace import scopes


def new_checkpoint_reader(filepattern: Any) -> CheckpointReader:
    """A reader of the checkpoint with that prefix; `tf.train.load_checkpoint` takes folders too.

    Raises DataLossError for what is no prefix but a file or a folder, NotFoundError if there is nothing.
    """
    return CheckpointReader(os.fsdecode(filepattern))


class Checkpoint(checkpoint.Checkpoint):
    """`tf.train.Checkpoint` that also takes the session that has the values."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(None, **kwargs)

    def write(  # type: ignore[override]  # TensorFlow 1 has a session where TensorFlow 2 has options
        self, file_prefix: Any, session: Any = None
    ) -> str:
        """Writes the values to files that begin with `file_prefix`; returns that."""
        with nullcontext() if session is None else session.as_default():
            return super().write(file_prefix)

    def save(  # type: ignore[override]  # as above
        self, file_prefix: Any, session: Any = None
    ) -> str:
        """Writes a numbered checkpoint and makes it the newest; returns its prefix.

        Raises RuntimeError for a plain graph without a session.
        """
        if scopes.executing_eagerly():
            return super().save(file_prefix)
        home = get_default_session() if session is None else session
        if home is None:
            raise RuntimeError("Checkpoint.save needs a session in a plain graph.")
        created = self._counter is None
        counter = self.save_counter
        if created:
            home.run(counter.initializer)
        number = int(home.run(counter.assign_add(1)))
        path = self.write(f"{os.fsdecode(file_prefix)}-{number}", home)
        checkpoint.write_state(os.path.dirname(path) or ".", path, [path])
        return path


def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """From now on variables begin with values of a checkpoint, eagerly at once.

    Args:
      ckpt_dir_or_file: a checkpoint, or a folder whose newest one is taken.
      assignment_map: names in the checkpoint to variables or their names, scopes ("a/") to scopes; or pairs.

    Raises ValueError for a name that the checkpoint, or the graph, does not have, and for other shapes.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    pairs: list[tuple[Any, Any]] = list(
        assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    )
    for stored, current in sorted(pairs, key=lambda pair: str(pair[0])):
        if isinstance(current, Variable):
            _begin_with(reader, ckpt_dir_or_file, stored, current)
        elif isinstance(current, (list, tuple)) and all(isinstance(v, Variable) for v in current):
            raise NotImplementedError("init_from_checkpoint of variables in parts is not supported")
        else:
            scope: str = current.name if isinstance(current, VariableScope) else current  # type: ignore[assignment]  # a name, by now
            _begin_scope_with(reader, ckpt_dir_or_file, stored, scope)


def _own_variables() -> dict[str, Variable]:
    return {v.op.name: v for v in get_collection(GraphKeys.GLOBAL_VARIABLES)}


def _begin_scope_with(reader: CheckpointReader, path: Any, stored: str, scope: str) -> None:
    own = _own_variables()
    if scope in own:
        _begin_with(reader, path, stored, own[scope])
        return
    inside = scope.rpartition("/")[0] if "/" in scope else scope
    if stored[-1:] != "/":
        raise ValueError(
            f"Assignment map with scope only name {inside} should map to scope only {stored}. Should be 'scope/': "
            "'other_scope/'."
        )
    prefix = f"{inside}/" if inside else ""
    found = {name: v for name, v in own.items() if name.startswith(prefix)}
    if not found:
        raise ValueError(f"No variables in the scope {scope!r}.")
    for name, variable in found.items():
        _begin_with(reader, path, stored.lstrip("/") + name[len(prefix) :], variable)


def _begin_with(reader: CheckpointReader, path: Any, stored: str, variable: Variable) -> None:
    if not reader.has_tensor(stored):
        raise ValueError(
            f"Tensor {stored} is not found in {os.fsdecode(path)} checkpoint {reader.get_variable_to_shape_map()}"
        )
    value = reader.get_tensor(stored)
    if not variable.shape.is_compatible_with(value.shape):
        raise ValueError(
            f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of tensor {stored} "
            f"({list(value.shape)}) from checkpoint reader."
        )
    if variable._resource is not None:
        variable.assign(value)
        return
    with variable.graph.as_default(), scopes.name_scope(""):
        first = convert.to_tensor(value, variable.dtype)
        raw.AssignVariableOp(
            variable.handle, first, name=f"checkpoint_initializer/{variable.op.name}"
        )
        variable._initial_value, variable._initializer = first, variable.graph.nodes[-1]
    log.logger().info("Initialize variable %s from checkpoint with %s", variable.name, stored)
