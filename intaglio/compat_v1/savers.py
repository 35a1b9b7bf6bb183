"""`tf.compat.v1.train.Saver`: variables by their names, in TensorFlow's files.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/Saver. What a session holds is read and
assigned by the session; there are no ops for it in the graph.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors, files, nest
from intaglio.compat_v1 import checkpoints, logging, meta_graphs
from intaglio.compat_v1.global_steps import global_step as step_of
from intaglio.compat_v1.variable_scopes import GraphKeys, get_collection, global_variables
from intaglio.graphdef.declarations import parsed
from intaglio.graphdef.saved_messages import SaverDef, TrackableObjectGraph
from intaglio.saved_model import bundle, names
from intaglio.state.variable import Variable
from intaglio.trace import scopes


class Saver:
    """Saves and restores variables, and keeps the newest checkpoints.

    Args:
      var_list: variables, or a dict of them by the names in the file; all of the graph if None.
      reshape: a value of another shape with as many elements is restored too.
      max_to_keep: how many checkpoints stay; None or 0 for all of them.
      keep_checkpoint_every_n_hours: one for so many hours stays for ever.
      defer_build: accepted: nothing is built.
      allow_empty: without variables, `save` and `restore` do nothing.
      pad_step_number: file names have the step in eight digits.
      save_relative_paths: the file that names the checkpoints says where they are beside it.

    The other arguments change how TensorFlow's ops work, and have no effect. Raises ValueError if there are no
    variables, or two of one name; RuntimeError eagerly without `var_list`.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = 2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if scopes.executing_eagerly() and var_list is None:
            raise RuntimeError(
                "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
            )
        self._var_list = var_list
        self._reshape = reshape
        self._allow_empty = allow_empty
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._every_s = 3600.0 * keep_checkpoint_every_n_hours
        self._preserve_after = time.time() + self._every_s
        self._last: list[tuple[str, float]] = []
        self._variables: dict[str, Any] | None = None
        self.saver_def = saver_def or SaverDef(
            max_to_keep=max_to_keep or 0,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            sharded=sharded,
            version=write_version,
        )
        if not defer_build:
            self.build()

    def build(self) -> None:
        """Finds the variables. Raises ValueError as the constructor does."""
        found = self._var_list
        if found is None and not scopes.executing_eagerly():
            found = global_variables() + get_collection(GraphKeys.SAVEABLE_OBJECTS)
        self._variables = by_name(found or ())
        if not self._variables and not self._allow_empty:
            raise ValueError("No variables to save")

    def _named(self) -> dict[str, Any]:
        if self._variables is None:
            self.build()
        return self._variables or {}

    def as_saver_def(self) -> Any:
        """The SaverDef message."""
        return self.saver_def

    to_proto = as_saver_def

    @staticmethod
    def from_proto(saver_def: Any, import_scope: str | None = None) -> Saver:
        """A saver with the options of a SaverDef message."""
        return Saver(saver_def=saver_def)

    # -- which checkpoints there are -----------------------------------------------------

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of the checkpoints that have not been removed, the oldest first."""
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Takes these for the checkpoints so far."""
        self._last = [(path, np.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: Sequence[tuple[str, float]]
    ) -> None:
        """Takes these, with the times of writing, for the checkpoints so far."""
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Takes those of the checkpoints that exist for the checkpoints so far."""
        known = [p for p in checkpoint_paths if checkpoints.checkpoint_exists(p)]
        self._last = list(zip(known, checkpoints.get_checkpoint_mtimes(known), strict=True))

    def _keep(self, path: str, suffix: str) -> None:
        self._last = [(p, t) for p, t in self._last if p != path]
        self._last.append((path, time.time()))
        limit = self.saver_def.max_to_keep
        if limit <= 0 or len(self._last) <= limit:
            return
        oldest, written = self._last.pop(0)
        if written > self._preserve_after and written != np.inf:
            self._preserve_after += self._every_s
            return
        checkpoints.remove_checkpoint(oldest, meta_graph_suffix=suffix)

    # -- writing and reading ---------------------------------------------------------------

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes the variables, and the graph beside them.

        Args:
          sess: the session; None eagerly.
          save_path: the prefix of the files, to which `-global_step` is added.
          global_step: a number, a variable or tensor.

        Returns:
          The prefix, or None if there are no variables.

        Raises:
          TypeError: `sess` is no session.
          ValueError: the folder and the one that it is in do not exist, or `latest_filename` is a path.
        """
        self._check_session(sess)
        latest = latest_filename or "checkpoint"
        if os.path.split(latest)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = os.fsdecode(save_path)
        if global_step is not None:
            step = global_step
            if not isinstance(step, (int, np.integer)):
                step = step_of(sess, step)
            path = f"{path}-{step:08d}" if self._pad_step_number else f"{path}-{step}"
        variables = self._named()
        if not variables:
            return None
        folder = os.path.dirname(path)
        if not os.path.isdir(
            os.path.dirname(folder) or "."
        ):  # TensorFlow makes one folder, not two
            raise ValueError(f"Parent directory of {path} doesn't exist, can't save.")
        files.make_folders(folder)
        bundle.write(path, _values(sess, variables))
        if write_state:
            self._keep(path, meta_graph_suffix)
            self._write_state(folder, path, latest)
        if write_meta_graph and not scopes.executing_eagerly():
            with sess.graph.as_default():
                self.export_meta_graph(f"{path}.{meta_graph_suffix}")
        return path

    def _write_state(self, folder: str, newest: str, latest: str) -> None:
        paths = self.last_checkpoints
        if self._save_relative_paths:
            newest, *paths = [os.path.relpath(p, folder or ".") for p in (newest, *paths)]
        state = checkpoints.generate_checkpoint_state_proto(folder, newest, paths)
        checkpoints.write_state(folder, state, latest)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Assigns what a checkpoint holds to the variables, by their names.

        Also reads checkpoints of `tf.train.Checkpoint`, by the names that variables had. Raises ValueError if
        there is no such checkpoint, NotFoundError for a variable that it does not have,
        InvalidArgumentError for a value of another shape or dtype.
        """
        variables = self._named()
        if not variables:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        self._check_session(sess)
        prefix = os.fsdecode(save_path)
        if not checkpoints.checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        logging.info("Restoring parameters from %s", prefix)
        file = bundle.Bundle(prefix)
        keys = _keys(file, variables)
        values = {n: self._fitting(n, v, file.array(keys[n])) for n, v in variables.items()}
        for name, variable in variables.items():
            variable.load(values[name], sess)

    def _fitting(self, name: str, variable: Any, value: np.ndarray) -> np.ndarray:
        wanted = variable.dtype.base_dtype.numpy
        if value.dtype != wanted:
            raise errors.InvalidArgumentError(
                None, None, f"Expected {name} to be {wanted}, and the checkpoint has {value.dtype}."
            )
        if variable.shape.is_compatible_with(value.shape):
            return value
        if self._reshape and variable.shape.num_elements() == value.size:
            return value.reshape(variable.shape.as_list())
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Assign requires shapes of both tensors to match. {name} has shape {variable.shape.as_list()}, and its "
            f"value in the checkpoint {list(value.shape)}. Please check that you have not changed the graph "
            "between saving and restoring, or say reshape=True.",
        )

    def _check_session(self, sess: Any) -> None:
        if not scopes.executing_eagerly() and not hasattr(sess, "run"):
            raise TypeError(f"'sess' must be a Session. Received: {sess!r}")

    def export_meta_graph(
        self,
        filename: Any = None,
        collection_list: Iterable[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The current graph as a MetaGraphDef, also written to a file if there is a name."""
        proto = meta_graphs.export_meta_graph(
            collection_list=collection_list, clear_devices=clear_devices, saver_def=self.saver_def
        )
        meta_graphs.add_saver(proto, self._named())
        if filename:
            meta_graphs.write(filename, proto, as_text)
        return proto


def by_name(var_list: Any) -> dict[str, Any]:
    """Variables by the names that files have for them.

    Raises ValueError for two of one name, TypeError for what is no variable.
    """
    if isinstance(var_list, Mapping):
        pairs = list(var_list.items())
    else:
        pairs = [(None, v) for v in nest.flatten(list(var_list))]
    found: dict[str, Any] = {}
    for name, variable in pairs:
        if not isinstance(variable, Variable):
            raise TypeError(f"Variable to save is not a Variable: {variable!r}")
        own = variable._shared_name if name is None else name
        if own in found:
            raise ValueError(f"At least two variables have the same name: {own}")
        found[own] = variable
    return found


def _values(sess: Any, variables: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if scopes.executing_eagerly():
        return {name: v._saved_value() for name, v in variables.items()}
    return {name: _stored(v) for name, v in sess.run(dict(variables)).items()}


def _stored(value: Any) -> np.ndarray:
    return np.asarray(value, dtype=object if isinstance(value, (bytes, str)) else None)


def _keys(file: bundle.Bundle, variables: Mapping[str, Any]) -> dict[str, str]:
    """Where the file has each variable. Raises NotFoundError for one that it does not have."""
    missing = [name for name in variables if name not in file]
    keys = {name: name for name in variables}
    if missing and names.OBJECT_GRAPH_KEY in file:
        data = file.array(names.OBJECT_GRAPH_KEY).item()
        graph = parsed(TrackableObjectGraph, data, file.prefix)
        stored = {a.full_name: a.checkpoint_key for n in graph.nodes for a in n.attributes}
        keys |= {name: stored[name] for name in missing if name in stored}
        missing = [name for name in missing if name not in stored]
    if missing:
        raise errors.NotFoundError(
            None,
            None,
            f"Restoring from checkpoint failed. This is most likely due to a Variable name or other graph key that "
            f"is missing from the checkpoint. Key {missing[0]} not found in checkpoint {file.prefix}",
        )
    return keys


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> Saver | None:
    """Adds the graph of a MetaGraphDef, or of a file of one, to the current graph.

    Returns a saver for the variables that the file's saver had, or for all; None if there are none. Raises
    RuntimeError eagerly, OSError for a file that is not there, ValueError for a message that contradicts itself.
    """
    if scopes.executing_eagerly():
        raise RuntimeError(
            "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager "
            "execution is enabled."
        )
    proto = meta_graphs.read(meta_graph_or_file)
    if clear_devices:
        for node in proto.graph_def.node:
            node.device = ""
    variables = meta_graphs.imported(proto, import_scope, kwargs.get("input_map"))
    if not variables:
        return None
    named = {v._shared_name: v for v in variables.values()}
    if import_scope:
        named = {name.removeprefix(f"{import_scope}/"): v for name, v in named.items()}
    saved = meta_graphs.saved_names(proto)
    if saved is not None and all(name in named for name in saved):
        named = {name: named[name] for name in saved}
    return Saver(named, saver_def=proto.saver_def if proto.HasField("saver_def") else None)
