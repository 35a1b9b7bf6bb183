"""How checkpoints are cut into files: policies, and the values that they assign.

Follows https://www.tensorflow.org/api_docs/python/tf/train/experimental/ShardingCallback.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from intaglio.base.device_spec import DeviceSpec
from intaglio.base.dtypes import DType, string
from intaglio.base.shapes import TensorShape
from intaglio.runtime.eager import from_array
from intaglio.saved_model import slices

# The tensors of a file: by their keys in the checkpoint, and by the slice as text.
Shard = MutableMapping[str, MutableMapping[Any, Any]]


@dataclasses.dataclass(frozen=True)
class ShardableTensor:
    """A value of a checkpoint that a `ShardingCallback` assigns to a file.

    `slice_spec` is empty for a whole tensor; `trackable` is the object that it is the value of.
    """

    _tensor_save_spec: Any
    tensor: Any
    dtype: DType
    device: DeviceSpec
    name: str
    shape: TensorShape
    slice_spec: Any
    checkpoint_key: str
    trackable: Any


class ShardingCallback(abc.ABC):
    """Puts the values of a checkpoint into files.

    Called with a list of `ShardableTensor`s it returns a list with a dict for each file, from the
    keys of values to dicts from slices to tensors: `{tensor.checkpoint_key: {tensor.slice_spec:
    tensor.tensor}}`. A slice of a value is named by the shape of the whole, and start and length
    along each axis: `"6 4 0,3:0,4"`. ValueError is raised where values are lost or changed.

    >>> class OneEach(tf.train.experimental.ShardingCallback):
    ...     description = "A file for each value."
    ...     def __call__(self, shardable_tensors):
    ...         return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors]
    >>> import os, tempfile
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=OneEach())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(folder + "/c", options)
    ...     sorted(os.listdir(folder))
    ['c.data-00000-of-00002', 'c.data-00001-of-00002', 'c.index']
    """

    @property
    @abc.abstractmethod
    def description(self) -> str:
        """What the policy is, in words."""

    @abc.abstractmethod
    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """The files' values."""


class ShardByTaskPolicy(ShardingCallback):
    """A file for the values of each task; there is one, the process itself.

    >>> tf.train.experimental.ShardByTaskPolicy().description
    'Split tensors into shards based on their device spec task.'
    """

    @property
    def description(self) -> str:
        """What the policy is, in words."""
        return "Split tensors into shards based on their device spec task."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """All values."""
        return [{t.checkpoint_key: {t.slice_spec: t.tensor} for t in shardable_tensors}]


class MaxShardSizePolicy(ShardingCallback):
    """Files of at most `max_shard_size` bytes; large values are cut along their first axes.

    A scalar, a tensor of strings and the description of the objects are never cut. Raises
    ValueError unless the size is a number above 0.

    >>> import os, tempfile
    >>> policy = tf.train.experimental.MaxShardSizePolicy(max_shard_size=1024)
    >>> options = tf.train.CheckpointOptions(experimental_sharding_callback=policy)
    >>> v = tf.Variable(tf.zeros([20, 32]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=v).write(folder + "/c", options)
    ...     len(os.listdir(folder))
    4
    """

    def __init__(self, max_shard_size: int) -> None:
        if not isinstance(max_shard_size, int) or max_shard_size < 1:
            raise ValueError(
                f"max_shard_size must be a number of bytes above 0, got {max_shard_size!r}"
            )
        self.max_shard_size = max_shard_size

    @property
    def description(self) -> str:
        """What the policy is, in words."""
        return "Split tensors into shards with a max shard size."

    def __call__(self, shardable_tensors: Sequence[ShardableTensor]) -> Sequence[Shard]:
        """The values, one after the other, in as many files as they need."""
        files = _Files(self.max_shard_size)
        for tensor in shardable_tensors:
            files.add(tensor)
        return files.shards


class _Files:
    """Files that are filled one after the other."""

    def __init__(self, most: int) -> None:
        self.shards: list[Shard] = [{}]
        self._most = self._bytes_left = most

    def add(self, tensor: ShardableTensor) -> None:
        """Puts a value into the file that is open, or into new ones."""
        dims = np.shape(tensor.tensor)
        if tensor.dtype is string:
            texts = np.asarray(tensor.tensor, object).reshape(-1)
            self._put(tensor, None, sum(map(len, texts)) + texts.size + 4)
            return
        left = [tuple([(0, d) for d in dims])]
        while left:
            region = left.pop()
            lengths = [length for _, length in region]
            size = tensor.dtype.size * int(np.prod(lengths, dtype=np.int64))
            axis = next((i for i, n in enumerate(lengths) if n > 1), None)
            if size <= self._most or axis is None:
                self._put(tensor, region, size)
                continue
            rows = max(self._bytes_left // (size // lengths[axis]), 1)
            start, length = region[axis]
            rest = (start + rows, length - rows)
            left.append((*region[:axis], rest, *region[axis + 1 :]))
            left.append((*region[:axis], (start, rows), *region[axis + 1 :]))

    def _put(self, tensor: ShardableTensor, region: slices.Slice | None, size: int) -> None:
        if size > self._bytes_left and self.shards[-1]:
            self.shards.append({})
            self._bytes_left = self._most
        dims = np.shape(tensor.tensor)
        spec, value = tensor.slice_spec, tensor.tensor
        if region is not None and region != tuple([(0, d) for d in dims]):
            spec, value = slices.text(dims, region), value[slices.bounds(region)]
        self.shards[-1].setdefault(tensor.checkpoint_key, {})[spec] = value
        self._bytes_left -= size


def sharded(
    values: Mapping[str, Any], callback: Any, trackables: Mapping[str, Any]
) -> list[dict[str, dict[str, Any]]]:
    """The arrays of each file, as assigned by a callback.

    Raises ValueError if the callback loses a value or gives one another dtype or shape.
    """
    device = DeviceSpec("localhost", 0, 0, "CPU", 0)
    tensors: dict[str, ShardableTensor] = {}
    for key, value in values.items():
        tensor = from_array(np.asarray(value))
        tensors[key] = ShardableTensor(
            None, tensor, tensor.dtype, device, key, tensor.shape, "", key, trackables.get(key)
        )
    shards = [
        {
            key: {str(spec): _checked(tensors, key, str(spec), x) for spec, x in s.items()}
            for key, s in shard.items()
        }
        for shard in callback([*tensors.values()])
    ]
    lost = sorted(tensors.keys() - {key for shard in shards for key in shard})
    if lost:
        raise ValueError(
            f"The sharding callback '{callback.description}' leaves out {', '.join(lost)}."
        )
    return shards


def _checked(tensors: Mapping[str, ShardableTensor], key: str, spec: str, value: Any) -> Any:
    """The array of a slice."""
    if key not in tensors:
        raise ValueError(f"The sharding callback gives '{key}', which is no value.")
    array, wanted = np.asarray(value), tensors[key]
    dims = np.shape(wanted.tensor)
    wanted_dims = dims
    if spec:
        whole, extents = slices.read(spec)
        wanted_dims = tuple(
            [d - s if n == slices.ALL else n for d, (s, n) in zip(whole, extents, strict=True)]
        )
        if whole != dims:
            wanted_dims = dims
    if array.dtype != wanted.dtype.numpy or array.shape != wanted_dims:
        raise ValueError(
            f"The sharding callback changes '{key}' {spec}: {array.dtype}{list(array.shape)} instead of "
            f"{wanted.dtype.name}{list(wanted_dims)}."
        )
    return array
