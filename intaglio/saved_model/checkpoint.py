"""`tf.train.Checkpoint`: the values of objects on disk, and the files that name the newest one.

Follows https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint and
https://www.tensorflow.org/guide/checkpoint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from intaglio.autodiff.python_functions import numpy_function
from intaglio.base import dtypes, errors, files
from intaglio.graphdef.declarations import as_text, parsed_text
from intaglio.graphdef.saved_messages import CheckpointState
from intaglio.opdef import convert
from intaglio.saved_model import bundle, names, object_graph, sharding
from intaglio.saved_model.checkpoint_status import (
    CheckpointLoadStatus,
    InitializationOnlyStatus,
    NameBasedSaverStatus,
)
from intaglio.saved_model.object_graph import ObjectGraph
from intaglio.state.tracking import AutoTrackable
from intaglio.state.variable import Variable
from intaglio.trace.scopes import init_scope, inside_function, name_scope

STATE_FILE = "checkpoint"


class Checkpoint(AutoTrackable):
    """Saves and restores the variables that the given objects lead to.

    Objects are given by keyword, and are attributes of the checkpoint; `root` is an object
    whose own attributes are saved instead. Raises ValueError for what cannot be tracked.

    >>> import tempfile
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = checkpoint.save(folder + "/c")
    ...     _ = v.assign(5.0)
    ...     _ = checkpoint.restore(path)
    >>> print(v.numpy())
    1.0
    """

    _names: list[str]
    _counter: Variable | None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        # A weak reference stays one: a root may hold the checkpoint itself.
        self._root_or_ref = root
        if root is not None:
            _trackable("root", self._root, wrapped=False)
        for name, value in sorted(kwargs.items()):
            setattr(self, name, _trackable(name, value() if _is_ref(value) else value))

    def __new__(cls, *_: Any, **__: Any) -> Self:
        # Classes of programs have parts without calling `__init__`.
        self = super().__new__(cls)
        vars(self).update(_names=list[str](), _counter=None, _root_or_ref=None)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name[:1] != "_" and name not in self._names and name != "save_counter":
            self._names.append(name)
        super().__setattr__(name, value)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        found = {n: v for n in self._names if _is_kept(v := getattr(self, n, None))}
        if self._counter is not None:
            found["save_counter"] = self._counter
        return found

    def _find(self, value: Any) -> dict[str, Any]:
        """The children of any object; the root has this checkpoint's besides its own."""
        if value is self._root:
            own = {**object_graph.children(value), "root": value}
            return {**own, **self._trackable_children()}
        return object_graph.children(value)

    @property
    def _root(self) -> Any:
        root = self._root_or_ref
        return root() if _is_ref(root) else root

    @property
    def _top(self) -> Any:
        return self if self._root is None else self._root

    @property
    def save_counter(self) -> Variable:
        """The number of `save` calls: an int64 variable."""
        counter = self._counter
        if counter is None:
            with init_scope(), name_scope(""):
                counter = self._counter = Variable(
                    np.int64(0), dtype=dtypes.int64, name="save_counter", trainable=False
                )
        return counter

    # -- writing -------------------------------------------------------------------------

    def write(self, file_prefix: Any, options: Any = None) -> Any:
        """Writes the values to files that begin with `file_prefix`; returns that.

        In a `tf.function` each call of it writes, and the result is a string tensor.
        """
        if inside_function():
            prefix = convert.to_tensor(file_prefix, dtypes.string)
            return numpy_function(
                lambda path: np.array(self._written(path, options), object), [prefix], dtypes.string
            )
        return self._written(file_prefix, options)

    def _written(self, file_prefix: Any, options: Any) -> str:
        prefix = os.fsdecode(file_prefix)
        graph = ObjectGraph(self._top, self._find)
        if not getattr(options, "experimental_skip_slot_variables", False):
            graph.add_slots()
        values: dict[str, Any] = {}
        for number, variable in graph.variables():
            of_graph = variable._resource is None  # its value is in the default session
            values[graph.key(number)] = variable.eval() if of_graph else variable._saved_value()
        for number, holder in graph.holders():
            found = holder._checkpoint_values()
            graph.value_names[number] = [*found]
            values.update({graph.key(number, n): v for n, v in found.items()})
        message = graph.message().SerializeToString()
        values[names.OBJECT_GRAPH_KEY] = np.array(message, object)
        files.make_folders(os.path.dirname(prefix))
        callback = getattr(options, "experimental_sharding_callback", None)
        with files.explained(prefix):
            if callback is None:
                bundle.write(prefix, values)
            else:
                owners = {graph.key(number): v for number, v in graph.variables()}
                bundle.write_shards(prefix, sharding.sharded(values, callback, owners))
        return prefix

    def save(self, file_prefix: Any, options: Any = None) -> str:
        """Writes a numbered checkpoint and makes it the newest; returns its prefix.

        Variables of a graph have their values in the default session, the number of saves too.
        Raises NotImplementedError in a function, whose graph cannot keep the number.
        """
        if inside_function():
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported: it keeps a number and the "
                "name of the newest checkpoint in Python. Use tf.train.Checkpoint.write() there, which keeps neither."
            )
        number = self._counted()
        prefix = os.fsdecode(file_prefix)
        path = self.write(f"{prefix}-{number}", options)
        write_state(os.path.dirname(path) or ".", path, [path])
        return path

    def _counted(self) -> int:
        """Adds one to the number of saves; returns it."""
        is_first = self._counter is None
        counter = self.save_counter
        if counter._resource is not None:
            counter.assign_add(1)
            return int(counter)
        # Nothing else initializes the counter, which no program sees before the first save.
        number = 1 if is_first else int(counter.eval()) + 1
        counter.load(np.int64(number))
        return number

    # -- reading -------------------------------------------------------------------------

    def read(self, save_path: Any, options: Any = None) -> Any:
        """Restores what `write` wrote; variables that come later are restored then.

        Raises NotFoundError if there is no checkpoint, DataLossError for damaged files,
        ValueError or InvalidArgumentError for values that do not fit.
        """
        prefix = _prefix_of(save_path)
        file = bundle.Bundle(prefix)
        if names.OBJECT_GRAPH_KEY not in file:
            return NameBasedSaverStatus(file, self._top, self._find)
        return CheckpointLoadStatus(prefix, self._top, self._find)

    def restore(self, save_path: Any, options: Any = None) -> Any:
        """Restores what `save` wrote, with the number of saves. None restores nothing.

        `save_path` may also be the folder of a saved model.
        """
        if save_path is None:
            return InitializationOnlyStatus()
        counter = self.save_counter
        before = None if counter._resource is None else int(counter)
        try:
            return self.read(save_path, options)
        except errors.NotFoundError as e:
            if before is not None:
                counter.assign(before)
            raise errors.NotFoundError(
                None,
                None,
                f"Error when restoring from checkpoint or SavedModel at {os.fsdecode(save_path)}: {e.message}\nPlease "
                "double-check that the path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                "'path/to/ckpt-1').",
            ) from None

    def sync(self) -> None:
        """Does nothing: checkpoints are complete when `save` returns."""


def _is_kept(value: Any) -> bool:
    return value is not None and object_graph.is_trackable(value)


def _is_ref(value: Any) -> bool:
    return type(value).__name__ == "ReferenceType"


def _trackable(name: str, value: Any, wrapped: bool = True) -> Any:
    """The value; `wrapped` lets lists and dicts count as trackable."""
    plain = isinstance(value, (list, tuple, dict))
    if not object_graph.is_trackable(value) or (plain and not wrapped):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from `Trackable`), got {value}. If "
            "you believe this object should be trackable (i.e. it is part of the TensorFlow Python API and manages state), "
            "please open an issue."
        )
    return value


def _prefix_of(save_path: Any) -> str:
    path = os.fsdecode(save_path)
    if os.path.isfile(os.path.join(path, names.MODEL)):
        return os.path.join(path, names.VARIABLES, names.VARIABLES)
    return path


# -- which checkpoint is newest --------------------------------------------------------------


def write_state(
    folder: str,
    newest: str,
    paths: Sequence[str],
    times: Sequence[float] = (),
    preserved: float | None = None,
) -> None:
    """Writes the file that names the newest checkpoint, by paths relative to the folder."""
    state = CheckpointState(model_checkpoint_path=os.path.relpath(newest, folder))
    state.all_model_checkpoint_paths.extend([os.path.relpath(p, folder) for p in paths])
    state.all_model_checkpoint_timestamps.extend(times)
    if preserved is not None:
        state.last_preserved_timestamp = preserved
    files.write(os.path.join(folder, STATE_FILE), as_text(state).encode())


def get_checkpoint_state(checkpoint_dir: Any, latest_filename: str | None = None) -> Any:
    """The CheckpointState of a folder with full paths, or None if it has none.

    `latest_filename` is the name of the file that lists checkpoints, "checkpoint" by default.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/c")
    ...     tf.train.get_checkpoint_state(folder).model_checkpoint_path == path
    True
    """
    folder = os.fsdecode(checkpoint_dir)
    path = os.path.join(folder, latest_filename or STATE_FILE)
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        state = parsed_text(CheckpointState, file.read(), path)
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {folder}")
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    paths = [os.path.join(folder, p) for p in state.all_model_checkpoint_paths]
    if state.model_checkpoint_path not in paths:
        paths.append(state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = paths
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str | None = None) -> str | None:
    """The prefix of a folder's newest checkpoint, or None.

    `latest_filename` is the name of the file that lists checkpoints, "checkpoint" by default.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(folder + "/c")
    ...     tf.train.latest_checkpoint(folder) == path
    True
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not os.path.isfile(f"{state.model_checkpoint_path}.index"):
        return None
    return state.model_checkpoint_path


# -- reading values by name ---------------------------------------------------------------


class CheckpointReader:
    """The values of a checkpoint by their names."""

    def __init__(self, prefix: str) -> None:
        self._bundle = bundle.Bundle(prefix)

    def has_tensor(self, tensor_str: str) -> bool:
        """True if there is a value of that name."""
        return tensor_str in self._bundle

    def get_tensor(self, tensor_str: str) -> Any:
        """The value. Raises NotFoundError if there is none."""
        array = self._bundle.array(tensor_str)
        return array if array.ndim else array[()]

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The shapes by name."""
        return {n: list(self._bundle.dims(n)) for n in self._bundle}

    def get_variable_to_dtype_map(self) -> dict[str, dtypes.DType]:
        """The dtypes by name."""
        return {n: self._bundle.dtype(n) for n in self._bundle}

    def debug_string(self) -> bytes:
        """A line for each value: its name, dtype and shape."""
        lines = [
            f"{name} (DT_{self._bundle.dtype(name).kernel_name.upper()}) "
            f"[{','.join(map(str, self._bundle.dims(name)))}]\n"
            for name in sorted(self._bundle)
        ]
        return "".join(lines).encode()


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A reader of the checkpoint with that prefix, or of a folder's newest.

    Raises ValueError for a folder without one, NotFoundError if there is no such file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(1.5)).save(folder + "/c")
    ...     print(tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE"))
    1.5
    """
    path = os.fsdecode(ckpt_dir_or_file)
    if os.path.isdir(path):
        newest = latest_checkpoint(path)
        if newest is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = newest
    return CheckpointReader(path)


# -- several checkpoints ------------------------------------------------------------------


class CheckpointManager:
    """Keeps the newest checkpoints of a folder and deletes others.

    Of those that would be deleted, one every `keep_checkpoint_every_n_hours` stays. With
    `step_counter` and `checkpoint_interval`, `save` does something only every so many steps.

    >>> import tempfile
    >>> checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    ...     paths = [manager.save() for _ in range(3)]
    ...     manager.checkpoints == paths[1:]
    True
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Any = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fsdecode(directory)
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._max_to_keep = max_to_keep
        self._hours = keep_checkpoint_every_n_hours
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._times: dict[str, float] = {}
        self._latest: str | None = None
        self._preserved = time.time()
        self._recover()

    def _recover(self) -> None:
        """Goes on where another manager of the folder left off."""
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        self._latest = state.model_checkpoint_path
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        if len(times) != len(paths):
            times = [time.time()] * len(paths)
        else:
            self._preserved = min(state.last_preserved_timestamp, time.time())
        self._times = dict(zip(paths, times, strict=True))

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The number of steps between checkpoints, or None."""
        return self._interval

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are kept, oldest first."""
        return list(self._times)

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> str | None:
        """Writes a checkpoint and deletes what is too old.

        None if it is not time yet: with a `checkpoint_interval`, before so many steps have passed,
        or without `check_interval` at the step of the last one.
        """
        step = None if self._step_counter is None else int(self._step_counter)
        if self._interval is not None and self._last_step is not None:
            assert step is not None
            early = step - self._last_step < self._interval
            if early if check_interval else step == self._last_step:
                return None
        counter = self._checkpoint.save_counter
        counter.assign_add(1)
        number = counter if checkpoint_number is None else checkpoint_number
        number = int(convert.to_tensor(number)._array)
        path = self._checkpoint.write(f"{self._prefix}-{number}", options)
        self._last_step = step
        self._times.pop(path, None)
        self._times[path] = time.time()
        self._latest = path
        every = dict(self._times)
        removed = self._too_old()
        if removed:  # a process that is killed leaves a list of what is still to be removed
            self._write_state(path, every)
        for prefix in removed:
            _delete(prefix)
        self._write_state(path, self._times)
        return path

    def _write_state(self, newest: str, times: Mapping[str, float]) -> None:
        write_state(self._directory, newest, [*times], [*times.values()], self._preserved)

    def _too_old(self) -> list[str]:
        removed: list[str] = []
        while self._max_to_keep is not None and len(self._times) > self._max_to_keep:
            prefix, written = next(iter(self._times.items()))
            del self._times[prefix]
            hours = self._hours
            if hours is not None and written - hours * 3600 >= self._preserved:
                self._preserved = written
            else:
                removed.append(prefix)
        return removed

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint, or calls `init_fn`; returns the prefix, if any."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._step_counter is not None:
                self._last_step = int(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Does nothing: checkpoints are complete when `save` returns."""


def _delete(prefix: str) -> None:
    folder, base = os.path.split(prefix)
    found = [
        n for n in os.listdir(folder or ".") if n.startswith((f"{base}.index", f"{base}.data-"))
    ]
    for name in sorted(found, reverse=True):  # without an index it is no checkpoint
        os.unlink(os.path.join(folder, name))
