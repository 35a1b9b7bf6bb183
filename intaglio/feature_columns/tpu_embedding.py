"""`tf.tpu.experimental.embedding`: descriptions of embedding tables, and look-ups in them on the host.

Follows https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/embedding. Tables, features and optimizers
are described as in TensorFlow; `serving_embedding_lookup` looks rows up as a host does that serves a TPU's
model. The classes that hold tables on a TPU raise NotImplementedError.
"""

from __future__ import annotations

import enum
import math
from typing import Any

from intaglio.base import nest
from intaglio.base.dtypes import float32
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.nn.embeddings import embedding_lookup
from intaglio.feature_columns.embeddings import TruncatedNormal
from intaglio.opdef import raw
from intaglio.ragged.sparse_embeddings import embedding_lookup_sparse
from intaglio.ragged.tensor import RaggedTensor
from intaglio.sparse.tensor import SparseTensor

_COMBINERS = ("mean", "sum", "sqrtn")


class EmbeddingFeature(enum.Enum):
    """Which generation of embedding hardware a TPU has."""

    UNSUPPORTED = "UNSUPPORTED"
    V1 = "V1"
    V2 = "V2"


class HardwareFeature:
    """What the hardware of a TPU can do."""

    EmbeddingFeature = EmbeddingFeature


class _Optimizer:
    """Parameters of an optimizer, equal to another one's with the same."""

    def __init__(
        self,
        learning_rate: Any,
        use_gradient_accumulation: bool,
        clip_weight_min: float | None,
        clip_weight_max: float | None,
        weight_decay_factor: float | None,
        multiply_weight_decay_factor_by_learning_rate: bool | None,
        clipvalue: Any,
        slot_variable_creation_fn: Any = None,
        low_dimensional_packing_status: bool = False,
        **own: Any,
    ) -> None:
        self.slot_variable_creation_fn = slot_variable_creation_fn
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min = clip_weight_min
        self.clip_weight_max = clip_weight_max
        limits = (-clipvalue, clipvalue) if isinstance(clipvalue, (int, float)) else clipvalue
        self.clip_gradient_min, self.clip_gradient_max = limits or (None, None)
        self.weight_decay_factor = weight_decay_factor
        self.multiply_weight_decay_factor_by_learning_rate = (
            multiply_weight_decay_factor_by_learning_rate
        )
        self.low_dimensional_packing_status = low_dimensional_packing_status
        vars(self).update(own)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class SGD(_Optimizer):
    """Stochastic gradient descent."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        clipvalue: Any = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"], arguments["__class__"]
        super().__init__(**arguments)


class Adagrad(_Optimizer):
    """Adagrad (Duchi et al., 2011), as parameters only."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None,
        clipvalue: Any = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"], arguments["__class__"]
        super().__init__(**arguments)


class AdagradMomentum(_Optimizer):
    """Adagrad with momentum."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.0,
        use_nesterov: bool = False,
        exponent: float = 2,
        beta2: float = 1,
        epsilon: float = 1e-10,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None,
        clipvalue: Any = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"], arguments["__class__"]
        super().__init__(**arguments)


class FTRL(_Optimizer):
    """Follow the regularized leader."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        beta: float = 0.0,
        initial_accumulator_value: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None,
        clipvalue: Any = None,
        multiply_linear_by_learning_rate: bool = False,
        allow_zero_accumulator: bool = False,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"], arguments["__class__"]
        super().__init__(**arguments)


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2014), as parameters only."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-07,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
        weight_decay_factor: float | None = None,
        multiply_weight_decay_factor_by_learning_rate: bool | None = None,
        slot_variable_creation_fn: Any = None,
        clipvalue: Any = None,
        low_dimensional_packing_status: bool = False,
    ) -> None:
        arguments = dict(locals())
        del arguments["self"], arguments["__class__"]
        super().__init__(**arguments)


class QuantizationConfig:
    """How activations are quantized: to so many values between two limits."""

    def __init__(self, num_buckets: int, lower: float, upper: float) -> None:
        if num_buckets < 2:
            raise ValueError(f"num_buckets is {num_buckets}, must be at least 2.")
        self.num_buckets = num_buckets
        self.lower = lower
        self.upper = upper


class TableConfig:
    """A table: its size, first values, optimizer, and how several rows of an example are combined.

    Raises ValueError for a size that is not positive, an unknown combiner or an initializer that is no function.
    """

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        initializer: Any = None,
        optimizer: Any = None,
        combiner: Any = "mean",
        name: str | None = None,
        quantization_config: Any = None,
        layout: Any = None,
        dtype: Any = float32,
    ) -> None:
        if not isinstance(vocabulary_size, int) or vocabulary_size < 1:
            raise ValueError(
                f"Argument `vocabulary_size` must be an int and must be >= 1. Received: {vocabulary_size}"
            )
        if not isinstance(dim, int) or dim < 1:
            raise ValueError(
                f"Argument `dim` (embedding dimension) must be an int and must be >= 1. Received: {dim}"
            )
        if initializer is not None and not callable(initializer):
            raise ValueError(
                f"Argument `initializer` must be a callable (or None). Received: {initializer}"
            )
        if isinstance(combiner, str) and combiner not in _COMBINERS:
            raise ValueError(
                f"String argument `combiner` must be in {_COMBINERS}. Received: {combiner}"
            )
        self.vocabulary_size = vocabulary_size
        self.dim = dim
        self.initializer = initializer or TruncatedNormal(stddev=1 / math.sqrt(dim))
        self.optimizer = optimizer
        self.combiner = combiner
        self.name = name
        self.quantization_config = quantization_config
        self.layout = layout
        self.dtype = dtype

    def __repr__(self) -> str:
        initializer = self.initializer
        if isinstance(initializer, TruncatedNormal):
            initializer = None
        return (
            f"TableConfig(vocabulary_size={self.vocabulary_size!r}, dim={self.dim!r}, initializer={initializer!r}, "
            f"optimizer={self.optimizer!r}, combiner={self.combiner!r}, name={self.name!r}, "
            f"quantization_config={self.quantization_config!r})"
        )


class FeatureConfig:
    """A feature: its table, and how long its sequences are where rows are not combined."""

    def __init__(
        self,
        table: TableConfig,
        max_sequence_length: int = 0,
        validate_weights_and_indices: bool = True,
        output_shape: Any = None,
        name: str | None = None,
    ) -> None:
        self.table = table
        self.max_sequence_length = max_sequence_length
        self.name = name
        self.output_shape = TensorShape(output_shape)
        self.validate_weights_and_indices = validate_weights_and_indices

    def __repr__(self) -> str:
        return (
            f"FeatureConfig(table={self.table!r}, max_sequence_length={self.max_sequence_length!r}, "
            f"validate_weights_and_indices={self.validate_weights_and_indices!r}, "
            f"output_shape={self.output_shape!r}, name={self.name!r})"
        )


class SparseCoreEmbeddingConfig:
    """Options of tables on a TPU's sparse cores, by name."""

    def __init__(self, **options: Any) -> None:
        vars(self).update(options)


class TPUEmbedding:
    """Tables on a TPU. Raises NotImplementedError: there is none."""

    def __init__(self, feature_config: Any, optimizer: Any = None, *_: Any, **__: Any) -> None:
        raise NotImplementedError(
            "tf.tpu.experimental.embedding.TPUEmbedding needs a TPU: use tf.nn.embedding_lookup, or "
            "tf.tpu.experimental.embedding.serving_embedding_lookup on the host."
        )


class TPUEmbeddingV0(TPUEmbedding):
    """Tables on a TPU of the first generation. Raises NotImplementedError: there is none."""


class TPUEmbeddingV2(TPUEmbedding):
    """Tables on a TPU with sparse cores. Raises NotImplementedError: there is none."""


class TPUEmbeddingForServing(TPUEmbedding):
    """Tables of a TPU on its host. Raises NotImplementedError: there is none."""


def serving_embedding_lookup(inputs: Any, weights: Any, tables: Any, feature_config: Any) -> Any:
    """Rows of tables for dense, sparse and ragged ids, in the structure of `feature_config`.

    A sparse or ragged feature combines the rows of an example, or with `max_sequence_length` has
    them one after the other, with zeros where there are none. `tables` are variables by TableConfig.

    Raises ValueError for weights of a dense feature.
    """
    features = nest.flatten(feature_config)
    ids = nest.flatten(inputs)
    factors = nest.flatten(weights) if weights is not None else [None] * len(ids)
    found = [
        _looked_up(one, factor, feature, tables[feature.table])
        for one, factor, feature in zip(ids, factors, features, strict=True)
    ]
    return nest.pack_sequence_as(feature_config, found)


def _looked_up(ids: Any, weight: Any, feature: FeatureConfig, table: Any) -> Any:
    if isinstance(ids, RaggedTensor):
        ids = ids.to_sparse()
        weight = weight.to_sparse() if isinstance(weight, RaggedTensor) else weight
    if not isinstance(ids, SparseTensor):
        if weight is not None:
            raise ValueError("Weight specified for a dense feature, which is not supported.")
        return embedding_lookup(table, ids)
    if not feature.max_sequence_length:
        return embedding_lookup_sparse(table, ids, weight, combiner=feature.table.combiner)
    rows = embedding_lookup(table, ids.values)
    kept = raw.Less(
        raw.GatherV2(ids.indices, 1, 1),
        raw.Cast(feature.max_sequence_length, DstT=ids.indices.dtype),
    )
    where = raw.Reshape(raw.Where(kept), [-1])
    size = [ids.dense_shape[0], feature.max_sequence_length, feature.table.dim]
    return raw.ScatterNd(
        raw.GatherV2(ids.indices, where, 0),
        raw.GatherV2(rows, where, 0),
        raw.Pack([raw.Cast(n, DstT=ids.indices.dtype) for n in size], axis=0),
    )
