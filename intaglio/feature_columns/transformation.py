"""How columns get at features and at their variables, and what they make of sparse inputs."""

from __future__ import annotations

import collections
from contextlib import nullcontext
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int32, int64, string
from intaglio.compat_v1.sparse_functions import convert_to_tensor_or_sparse_tensor
from intaglio.compat_v1.variable_scopes import get_variable
from intaglio.composite_ops.assertions import assert_positive
from intaglio.feature_columns.column import FeatureColumn
from intaglio.opdef import convert, raw
from intaglio.ragged.core import Ragged
from intaglio.sparse.api import SparseTensor, as_sparse, is_sparse
from intaglio.state.tracking import Trackable
from intaglio.trace.scopes import control_dependencies


class FeatureTransformationCache:
    """The features of a batch, and what columns made of them: each is computed once."""

    def __init__(self, features: Any) -> None:
        self._features = dict(features)
        self._tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any, training: Any = None) -> Any:
        """The tensor of a feature's name or of a column.

        Features of rank 1 get a dimension of size 1. Raises ValueError for a name that is no
        feature, or a column that makes nothing; TypeError for another key.
        """
        if key in self._tensors:
            return self._tensors[key]
        if isinstance(key, str):
            if key not in self._features:
                raise ValueError(f"Feature {key} is not in features dictionary.")
            found = _with_examples(key, self._features[key])
        elif isinstance(key, FeatureColumn):
            try:
                found = key.transform_feature(self, state_manager, training=training)  # type: ignore[call-arg]  # columns of programs may take it
            except TypeError:
                found = key.transform_feature(self, state_manager)
            if found is None:
                raise ValueError(f"Column {key.name} is not supported.")
        else:
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {key}')
        self._tensors[key] = found
        return found


def _with_examples(key: str, feature: Any) -> Any:
    """A feature as a tensor of at least two dimensions, of which the first are the examples."""
    found = feature if isinstance(feature, Ragged) else convert_to_tensor_or_sparse_tensor(feature)
    rank = found.shape.rank
    if rank == 0:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {found}")
    if isinstance(found, Ragged) or (rank is not None and rank > 1):
        return found
    sparse = isinstance(found, SparseTensor)
    dims = found.dense_shape if sparse else raw.Shape(found)
    if rank is None:
        message = f"Feature (key: {key}) cannot have rank 0. Given: {found}"
        count = raw.Size(dims)
        with _after(assert_positive(count, message=message)):
            missing = raw.ExpandDims(raw.Cast(raw.Equal(count, 1), DstT=int32), 0)
            dims = raw.ConcatV2([dims, raw.Fill(missing, np.ones((), dims.dtype.numpy))], 0)
    else:
        dims = raw.ConcatV2([dims, np.ones(1, dims.dtype.numpy)], 0)
    if sparse:
        return SparseTensor(*_reshaped(found, dims))
    return raw.Reshape(found, dims) if rank is None else raw.ExpandDims(found, -1)


def _reshaped(sparse: SparseTensor, dims: Any) -> tuple[Any, Any, Any]:
    indices, shape = raw.SparseReshape(sparse.indices, sparse.dense_shape, dims)
    return indices, sparse.values, shape


def _after(check: Any) -> Any:
    """What the block records runs after a check, which has run already in eager execution."""
    return nullcontext() if check is None else control_dependencies([check])


class StateManager:
    """The variables of columns, which are weights of a layer."""

    def __init__(self, layer: Any, trainable: bool) -> None:
        self._layer = layer
        self._trainable = trainable
        self._cols_to_vars_map: Any = collections.defaultdict(dict)
        self._cols_to_resources_map: Any = collections.defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """A weight of the layer, under `name` of the column. Raises ValueError if it has one."""
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        layer = self._layer
        tracks = getattr(layer, "_manual_tracking", True)
        layer._manual_tracking = False
        try:
            found = layer.add_weight(
                name=name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                trainable=self._trainable and trainable,
                use_resource=use_resource,
                getter=get_variable,
            )
        finally:
            layer._manual_tracking = tracks
        if isinstance(found, Trackable):
            layer._track_trackable(found, f"{feature_column.name}/{name}")
        self._cols_to_vars_map[feature_column][name] = found
        return found

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """The variable under `name` of the column. Raises ValueError if there is none."""
        if name in self._cols_to_vars_map[feature_column]:
            return self._cols_to_vars_map[feature_column][name]
        raise ValueError("Variable does not exist.")

    def add_resource(self, feature_column: Any, resource_name: str, resource: Any) -> None:
        """Keeps a table of the column, which is saved with the layer."""
        self._cols_to_resources_map[feature_column][resource_name] = resource
        if isinstance(resource, Trackable) and self._layer is not None:
            self._layer._track_trackable(resource, f"{feature_column.name}/{resource_name}")

    def has_resource(self, feature_column: Any, resource_name: str) -> bool:
        """True if the column has such a table."""
        return resource_name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column: Any, resource_name: str) -> Any:
        """A table of the column. Raises ValueError if there is none."""
        if self.has_resource(feature_column, resource_name):
            return self._cols_to_resources_map[feature_column][resource_name]
        raise ValueError("Resource does not exist.")


def sparse_input(value: Any, ignored: Any = None) -> SparseTensor:
    """A tensor as a sparse one without the elements `ignored`: "" and -1 if None."""
    if isinstance(value, Ragged):
        whole: Any = value
        return whole.to_sparse()
    if is_sparse(value):
        return as_sparse(value)
    dense = convert.to_tensor(value)
    if ignored is None:
        ignored = b"" if dense.dtype is string else -1
    indices = raw.Where(raw.NotEqual(dense, convert.to_tensor(ignored, dense.dtype)))
    return SparseTensor(indices, raw.GatherNd(dense, indices), raw.Shape(dense, out_type=int64))


def lengths(sparse: SparseTensor, numbers: int = 1) -> Any:
    """How many steps each example of a sparse matrix has, `numbers` elements being a step: int64."""
    rows, columns = sparse.indices[:, 0], sparse.indices[:, 1]
    last = raw.SegmentMax(raw.AddV2(columns, np.ones((), np.int64)), rows)
    steps = raw.Ceil(raw.Div(raw.Cast(last, DstT=float32), np.float32(numbers)))
    found = raw.Cast(steps, DstT=int64)
    missing = raw.Sub(sparse.dense_shape[0], raw.Shape(found, out_type=int64)[0])
    none = raw.Fill(raw.ExpandDims(missing, 0), np.zeros((), np.int64))
    return raw.ConcatV2([found, none], 0)


def step_by_step(sparse: SparseTensor) -> SparseTensor:
    """[examples, steps] as [examples, steps, 1]; sequences of several categories stay."""
    if sparse.shape.rank not in (None, 2):
        return sparse
    shape = raw.ConcatV2([sparse.dense_shape, np.array([1], np.int64)], 0)
    return SparseTensor(*_reshaped(sparse, shape))
