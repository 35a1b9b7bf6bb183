"""Functions of TensorFlow 1 that TensorFlow 2 has in another form, or no longer has.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import as_dtype, bfloat16, float32, int32, string
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1.partitioned_variables import PartitionedVariable
from intaglio.compat_v1.sparse_functions import merge_partitions
from intaglio.compat_v1.variable_scopes import (
    GraphKeys,
    get_collection,
    get_variable,
    variable_scope,
)
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.runtime import random_state
from intaglio.sparse.api import SparseTensor
from intaglio.trace import scopes

_NEW = "intaglio.tf:"


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: Any = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """`tf.nn.dropout`, by the part of the elements that stays or that goes. Raises ValueError for both."""
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'.")
    if keep_prob is None and rate is None:
        raise ValueError(f"`rate` must be provided. Received: rate={rate}")
    found: Any = rate if keep_prob is None else 1.0 - keep_prob
    return later.named(f"{_NEW}nn.dropout")(x, found, noise_shape, seed, name)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """x @ weights + biases."""
    with scopes.name_scope(name or "xw_plus_b") as scope:
        product = raw.MatMul(x, convert.to_tensor(weights))
        return raw.BiasAdd(product, convert.to_tensor(biases), name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """relu(x @ weights + biases)."""
    with scopes.name_scope(name or "relu_layer") as scope:
        return raw.Relu(xw_plus_b(x, weights, biases), name=scope)


_LEAST_EPSILON = 1.001e-5  # what some libraries require


def fused_batch_norm(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any = None,
    variance: Any = None,
    epsilon: float = 0.001,
    data_format: str = "NHWC",
    is_training: bool = True,
    name: str | None = None,
    exponential_avg_factor: float = 1.0,
) -> tuple[Any, Any, Any]:
    """Images normalized by the statistics of the batch, or by those given; and the statistics.

    Raises ValueError for statistics that are missing, or that training does not use.
    """
    missing = mean is None or variance is None
    if (not is_training or exponential_avg_factor != 1.0) and missing:
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` != 1.0."
        )
    none = convert.to_tensor(np.zeros([0], np.float32))
    normalized = raw.FusedBatchNormV3(
        convert.to_tensor(x, name="input"),
        convert.to_tensor(scale, float32),
        convert.to_tensor(offset, float32),
        none if mean is None else mean,
        none if variance is None else variance,
        epsilon=max(epsilon, _LEAST_EPSILON),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return normalized[0], normalized[1], normalized[2]


def ctc_loss(
    labels: Any,
    inputs: Any = None,
    sequence_length: Any = None,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    ignore_longer_outputs_than_inputs: bool = False,
    time_major: bool = True,
    logits: Any = None,
) -> Any:
    """The losses of labels without alignment; the last class is the blank. Raises TypeError for dense labels."""
    if not isinstance(labels, SparseTensor):
        raise TypeError("Expected argument `labels` to be a SparseTensor. Received " + repr(labels))
    scores = convert.to_tensor(logits if inputs is None else inputs)
    found: Any = raw.CTCLoss(
        scores if time_major else raw.Transpose(scores, [1, 0, 2]),
        labels.indices,
        labels.values,
        convert.to_tensor(sequence_length, int32),
        preprocess_collapse_repeated=preprocess_collapse_repeated,
        ctc_merge_repeated=ctc_merge_repeated,
        ignore_longer_outputs_than_inputs=ignore_longer_outputs_than_inputs,
    )
    return found[0]


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:
    """Rows of one table, or of one that several tensors share: id i is in tensor i % n with "mod".

    Raises ValueError for another strategy.
    """
    find = later.named(f"{_NEW}nn.embedding_lookup")
    if not isinstance(params, (list, tuple, PartitionedVariable)):
        return find(params, ids, max_norm, name)
    return find(*merge_partitions(params, ids, partition_strategy), max_norm, name)


def string_split(
    source: Any,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = None,
    result_type: str = "SparseTensor",
    name: str | None = None,
) -> Any:
    """The parts of texts, at each of the characters of `sep` (a space if None), as a sparse tensor."""
    mark = " " if sep is None and delimiter is None else (delimiter if sep is None else sep)
    with scopes.name_scope(name or "StringSplit"):
        texts = convert.to_tensor(source, string)
        parts = SparseTensor(
            *raw.StringSplit(texts, convert.to_tensor(mark, string), skip_empty=skip_empty)
        )
    return _as(parts, result_type)


def strings_split(
    input: Any = None,  # TensorFlow's name
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.strings.split`, as a sparse tensor by default."""
    texts = convert.to_tensor(source if input is None else input, string)
    if result_type == "SparseTensor" and texts.shape.rank == 0:
        texts = raw.Reshape(texts, [1])
    found = later.named(f"{_NEW}strings.split")(texts, sep, maxsplit, name)
    return found.to_sparse() if result_type == "SparseTensor" else found


def _as(sparse: Any, result_type: str) -> Any:
    if result_type == "SparseTensor":
        return sparse
    if result_type == "RaggedTensor":
        return later.named(f"{_NEW}RaggedTensor").from_sparse(sparse)
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """A tensor with values at some indices."""
    values = convert.to_tensor(sparse_values)
    return raw.SparseToDense(
        sparse_indices,
        output_shape,
        values,
        convert.to_tensor(default_value, values.dtype),
        validate_indices=validate_indices,
        name=name,
    )


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """t, made smaller if its norm divided by the number of its elements is above `clip_norm`."""
    with scopes.name_scope(name or "clip_by_average_norm"):
        t = convert.to_tensor(t)
        count = raw.Cast(raw.Size(t), DstT=float32)
        axes = list(range(t.shape.rank or 0))
        inverse = raw.Rsqrt(raw.Sum(t * t, axes))
        return (
            t
            * clip_norm
            * raw.Minimum(inverse * count, raw.Reciprocal(convert.to_tensor(clip_norm, t.dtype)))
        )


_METHODS = (raw.ResizeBilinear, raw.ResizeNearestNeighbor, raw.ResizeBicubic, raw.ResizeArea)
_METHOD_NAMES = ("bilinear", "nearest", "bicubic", "area")


def resize_images(
    images: Any,
    size: Any,
    method: Any = 0,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """Images of another size; pixels are points, where `tf.image.resize` takes them for areas."""
    if preserve_aspect_ratio:
        raise NotImplementedError("resize_images(preserve_aspect_ratio=True): use tf.image.resize")
    number = _METHOD_NAMES.index(method) if method in _METHOD_NAMES else int(method)
    images = convert.to_tensor(images)
    single = images.shape.rank == 3
    wanted = convert.to_tensor(size)
    known = scopes.executing_eagerly() or not hasattr(wanted, "node")
    batch = raw.ExpandDims(images, 0) if single else images
    if known and TensorShape(wanted.numpy().tolist()) == batch.shape[1:3]:
        return images
    with scopes.name_scope(name or "resize"):
        resized = _METHODS[number](batch, wanted, align_corners=align_corners)
    return raw.Squeeze(resized, axis=[0]) if single else resized


def resize_image_with_pad(
    image: Any, target_height: int, target_width: int, method: Any = 0, align_corners: bool = False
) -> Any:
    """Images of a size, with their proportions: zeros are around them."""

    def resized(images: Any, size: Any, *_: Any, **__: Any) -> Any:
        return resize_images(images, size, method, align_corners)

    return later.named("intaglio.composite_ops.image.resizing:padded_to")(
        image, target_height, target_width, resized
    )


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """A random window of an image, as begin, size and box, that covers part of one of the boxes."""
    own = {
        "aspect_ratio_range": aspect_ratio_range,
        "area_range": area_range,
        "max_attempts": max_attempts,
        "use_image_if_no_bounding_boxes": use_image_if_no_bounding_boxes,
    }
    return raw.SampleDistortedBoundingBoxV2(
        image_size,
        bounding_boxes,
        min_object_covered,
        seed=seed or 0,
        seed2=seed2 or 0,
        name=name,
        **{key: value for key, value in own.items() if value is not None},
    )


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> tuple[list[SparseTensor], Any]:
    """The best labelings of sequences of scores, and their log probabilities."""
    found: Any = raw.CTCBeamSearchDecoder(
        inputs,
        sequence_length,
        beam_width=beam_width,
        top_paths=top_paths,
        merge_repeated=merge_repeated,
    )
    parts = zip(found[0], found[1], found[2], strict=True)
    return [SparseTensor(*part) for part in parts], found[3]


def erosion2d(
    value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Any:
    """The erosion of images: `tf.nn.erosion2d`."""
    return later.named(f"{_NEW}nn.erosion2d")(value, kernel, strides, padding, "NHWC", rates, name)


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Any:
    """Images with boxes drawn on them; without colors in those of the op."""
    return later.named(f"{_NEW}image.draw_bounding_boxes")(images, boxes, colors, name)


def _blocks(block_size: Any, block_shape: Any) -> Any:
    """The sizes of blocks of two dimensions; `block_shape` is the newer name of a size."""
    size = block_shape if block_size is None else block_size
    return convert.to_tensor(np.array([size, size], np.int64))


def space_to_batch(
    input: Any,  # TensorFlow's name
    paddings: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Any:
    """Blocks of space moved to the batch. A `block_size` is that of two dimensions."""
    return raw.SpaceToBatchND(input, _blocks(block_size, block_shape), paddings, name=name)


def batch_to_space(
    input: Any,  # as above
    crops: Any,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: Any = None,
) -> Any:
    """The inverse of `space_to_batch`."""
    return raw.BatchToSpaceND(input, _blocks(block_size, block_shape), crops, name=name)


def sparse_matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """a @ b as float32, of matrices of float32 or bfloat16."""
    left, right = (raw.Cast(convert.to_tensor(x), DstT=float32) for x in (a, b))
    return raw.MatMul(left, right, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The variable's value, which then is one larger. Raises OutOfRangeError at the limit."""
    return ref.count_up_to(limit)


def assert_variables_initialized(var_list: Any = None) -> Any:
    """An operation that fails if a variable has no value."""
    if var_list is None:
        var_list = [
            *get_collection(GraphKeys.GLOBAL_VARIABLES),
            *get_collection(GraphKeys.LOCAL_VARIABLES),
        ]
    return raw.Pack([raw.Rank(v.read_value()) for v in var_list], axis=0) if var_list else None


def convert_to_tensor_or_indexed_slices(
    value: Any, dtype: Any = None, name: str | None = None
) -> Any:
    """A tensor, or IndexedSlices as they are. Raises ValueError for another dtype of these."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and value.dtype != as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}"
            )
        return value
    return convert.to_tensor(value, dtype, name=name)


@contextlib.contextmanager
def container(container_name: str) -> Generator[str]:
    """A block whose resources have a container; all share one here."""
    yield container_name


@contextlib.contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Generator[str]:
    """`name_scope`, with the order of its parameters in earlier versions."""
    with scopes.name_scope(name or default_name or "") as scope:
        yield scope


def get_loss_reduction() -> Any:
    """How losses of replicas become one: their sum."""
    return later.named(f"{_NEW}distribute.ReduceOp.SUM")


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError for a counter of steps that is no integer scalar."""
    kind = global_step_tensor.dtype
    if not kind.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {kind}')
    rank = global_step_tensor.shape.rank
    if rank not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The two seeds of a random op: of the program or graph, and of the op."""
    if op_seed is None and random_state.global_seed() is None:
        return None, None
    return random_state.op_seeds(op_seed)


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Any = None,
    ps_strategy: Any = None,
) -> Any:
    """None: the function that would place variables on parameter servers, for `tf.device`.

    Raises NotImplementedError where there are such servers.
    """
    if ps_tasks or (cluster is not None and "ps" in getattr(cluster, "jobs", cluster)):
        raise NotImplementedError(
            "tf.compat.v1.train.replica_device_setter: there are no parameter servers; use "
            "tf.distribute.MultiWorkerMirroredStrategy()."
        )
    return None


def disable_mixed_precision_graph_rewrite() -> None:
    """Nothing is rewritten."""


def cross_replica_sum(x: Any, group_assignment: Any = None, name: str | None = None) -> Any:
    """The sum over replicas: of the strategy's, if a replica calls it, else the tensor itself."""
    context = later.named(f"{_NEW}distribute.get_replica_context")()
    if context is None or context.strategy.num_replicas_in_sync == 1:
        return raw.Identity(convert.to_tensor(x), name=name)
    return context.all_reduce(later.named(f"{_NEW}distribute.ReduceOp.SUM"), x)


@contextlib.contextmanager
def bfloat16_scope(name: str | None = None) -> Generator[Any]:
    """A variable scope whose variables of bfloat16 are kept as float32."""

    def getter(inner: Any, *args: Any, **options: Any) -> Any:
        wanted = options.get("dtype")
        if wanted is not None and as_dtype(wanted) is bfloat16:
            return raw.Cast(inner(*args, **{**options, "dtype": float32}), DstT=bfloat16)
        return inner(*args, **options)

    with variable_scope(name or "", custom_getter=getter, auxiliary_name_scope=bool(name)) as scope:
        yield scope


def output_all_intermediates(state: Any) -> None:
    """Accepted: gradients of branches get what they need, whatever is set."""


def error_code_from_exception_type(cls: Any) -> int:
    """The code of a class of `tf.errors`. Raises KeyError for another class."""
    for code, found in _errors().items():
        if found is cls:
            return code
    raise KeyError(f"{cls} has no error code")


def exception_type_from_error_code(error_code: int) -> Any:
    """The class of `tf.errors` of a code."""
    return _errors()[error_code]


def _errors() -> dict[int, Any]:
    errors = later.named(f"{_NEW}errors")
    codes = [name for name in dir(errors) if name.isupper()]
    classes = {
        "".join(c for c in cls.removesuffix("Error").upper()): getattr(errors, cls)
        for cls in dir(errors)
        if cls.endswith("Error") and cls != "OpError"
    }
    classes["CANCELLED"] = errors.CancelledError
    return {
        getattr(errors, code): classes[code.replace("_", "")]
        for code in codes
        if code.replace("_", "") in classes
    }


def get_local_variable(name: str, *args: Any, **options: Any) -> Any:
    """`get_variable`, of the local variables of the graph, which are not trained or saved."""
    options.pop("trainable", None)
    collections = [*(options.pop("collections", None) or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, *args, trainable=False, collections=collections, **options)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables of the current graph of which averages are kept."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss."""


def summary_iterator(path: Any) -> Iterator[Any]:
    """The Events of an event file."""
    event = later.named("intaglio.graphdef.event_messages:Event")
    records = later.named("intaglio.tensorflow_name.record_iterator:tf_record_iterator")
    for record in records(path):
        yield event.FromString(record)
