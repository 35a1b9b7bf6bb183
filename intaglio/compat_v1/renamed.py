"""Functions of TensorFlow 1 that are TensorFlow 2's with parameters of other names and order.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

from intaglio.base import later

# A line is `namespace.name: parameters = function of TensorFlow 2`. A parameter `old>new` has another
# name there, `old-` none (it is accepted and not used), `p~name` a default of its own; `p=1` is no
# parameter, but what TensorFlow 2's function gets as `p`. One that is None is not passed on.
_REDUCTION = "input_tensor axis keepdims name reduction_indices>axis keep_dims>keepdims"
_COMPARISON = "x y data- summarize message name"
_ONE_SIDED = "x data- summarize message name"
_FOLD = "fn elems initializer parallel_iterations back_prop swap_memory name"
TABLE = (
    "\n".join(
        [
            *[
                f"{space}reduce_{name}: {_REDUCTION} = math.reduce_{name}"
                for name in ("all", "any", "logsumexp", "max", "mean", "min", "prod", "sum")
                for space in ("", "math.")
            ],
            *[
                f"{space}assert_{name}: {_COMPARISON} = debugging.assert_{name}"
                for name in (
                    "equal",
                    "greater",
                    "greater_equal",
                    "less",
                    "less_equal",
                    "none_equal",
                )
                for space in ("", "debugging.")
            ],
            *[
                f"{space}assert_{name}: {_ONE_SIDED} = debugging.assert_{name}"
                for name in ("negative", "non_negative", "non_positive", "positive")
                for space in ("", "debugging.")
            ],
            *[
                f"{space}assert_{name}: x rank{many} data- summarize message name = debugging.assert_{name}"
                for name, many in (("rank", ""), ("rank_at_least", ""), ("rank_in", "s"))
                for space in ("", "debugging.")
            ],
            *[
                f"{space}assert_integer: x message name = debugging.assert_integer"
                for space in ("", "debugging.")
            ],
            *[
                f"{space}{name}: {first} axis name {old}>axis output_type = math.{name}"
                for name, first, old in (
                    ("argmax", "input", "dimension"),
                    ("argmin", "input", "dimension"),
                )
                for space in ("", "math.")
            ],
            *[
                f"{space}{name}: logits axis name dim>axis = nn.{name}"
                for name in ("softmax", "log_softmax")
                for space in ("nn.", "math.")
            ],
            *[
                f"{space}norm: tensor ord axis keepdims name keep_dims>keepdims = norm"
                for space in ("", "linalg.")
            ],
            *[
                f"{space}in_top_k: predictions targets k name = math.in_top_k"
                for space in ("nn.", "math.")
            ],
            *[
                f"to_{n}: x name~To{n.capitalize()} = cast:{d}"
                for n, d in (("float", "float32"), ("double", "float64"))
            ],
            *[
                f"to_{n}: x name~To{label} = cast:{n}"
                for n, label in (
                    ("int32", "Int32"),
                    ("int64", "Int64"),
                    ("bfloat16", "BFloat16"),
                    ("complex64", "Complex64"),
                    ("complex128", "Complex128"),
                )
            ],
            *[f"{n}: {_FOLD} = {n}" for n in ("foldl", "foldr")],
        ]
    )
    + """
expand_dims: input axis name dim>axis = expand_dims
squeeze: input axis name squeeze_dims>axis = squeeze
shape: input name out_type = shape
size: input name out_type = size
ones_like: tensor>input dtype name optimize- = ones_like
zeros_like: tensor>input dtype name optimize- = zeros_like
gather: params indices validate_indices name axis batch_dims = gather
gather_nd: params indices name batch_dims bad_indices_policy = gather_nd
batch_gather: params indices name axis=-1 batch_dims=-1 = gather
manip.gather_nd: params indices name batch_dims bad_indices_policy = gather_nd
transpose: a perm name conjugate = transpose
pad: tensor paddings mode name constant_values = pad
boolean_mask: tensor mask name axis = boolean_mask
cond: pred true_fn false_fn strict- name fn1>true_fn fn2>false_fn = cond
scan: fn elems initializer parallel_iterations back_prop swap_memory infer_shape reverse name = scan
map_fn: fn elems dtype parallel_iterations back_prop- swap_memory- infer_shape- name fn_output_signature = map_fn
convert_to_tensor: value dtype name preferred_dtype>dtype_hint dtype_hint = convert_to_tensor
count_nonzero: input_tensor>input axis keepdims dtype name reduction_indices>axis keep_dims>keepdims input = math.count_nonzero
math.count_nonzero: input_tensor>input axis keepdims dtype name reduction_indices>axis keep_dims>keepdims input = math.count_nonzero
reverse_sequence: input seq_lengths seq_axis batch_axis name seq_dim>seq_axis batch_dim>batch_axis = reverse_sequence
substr: input pos len name unit = strings.substr
strings.substr: input pos len name unit = strings.substr
strings.length: input name unit = strings.length
string_to_number: string_tensor>input out_type name input = strings.to_number
strings.to_number: string_tensor>input out_type name input = strings.to_number
sparse_concat: axis sp_inputs name expand_nonconcat_dim- concat_dim>axis expand_nonconcat_dims = sparse.concat
sparse_add: a b threshold thresh>threshold = sparse.add
sparse_reduce_sum: sp_input axis keepdims reduction_axes>axis keep_dims>keepdims = sparse.reduce_sum
nn.moments: x axes shift name keep_dims>keepdims keepdims = nn.moments
nn.conv1d: value>input filters stride padding use_cudnn_on_gpu- data_format name input dilations = nn.conv1d
nn.conv2d: input filter>filters strides padding use_cudnn_on_gpu- data_format dilations name filters = nn.conv2d
nn.conv3d: input filter>filters strides padding data_format dilations name filters = nn.conv3d
nn.conv2d_transpose: value>input filter>filters output_shape strides padding data_format name input filters dilations = nn.conv2d_transpose
nn.conv3d_transpose: value>input filter>filters output_shape strides padding data_format name input filters dilations = nn.conv3d_transpose
nn.max_pool: value>input ksize strides padding data_format name input = nn.max_pool
nn.avg_pool: value>input ksize strides padding data_format name input = nn.avg_pool
nn.avg_pool2d: value>input ksize strides padding data_format name input = nn.avg_pool
nn.convolution: input filter>filters padding strides dilation_rate>dilations name data_format filters dilations = nn.convolution
nn.separable_conv2d: input depthwise_filter pointwise_filter strides padding rate>dilations name data_format dilations = nn.separable_conv2d
nn.depthwise_conv2d: input filter strides padding rate>dilations name data_format dilations = nn.depthwise_conv2d
nn.softmax_cross_entropy_with_logits: labels logits dim>axis name~softmax_cross_entropy_with_logits_sg axis = compat.v1.nn.softmax_cross_entropy_with_logits_v2
nn.softmax_cross_entropy_with_logits_v2: labels logits axis name dim>axis = nn.softmax_cross_entropy_with_logits
nn.sparse_softmax_cross_entropy_with_logits: labels logits name = nn.sparse_softmax_cross_entropy_with_logits
nn.sigmoid_cross_entropy_with_logits: labels logits name = nn.sigmoid_cross_entropy_with_logits
nn.weighted_cross_entropy_with_logits: labels logits pos_weight name targets>labels = nn.weighted_cross_entropy_with_logits
nn.leaky_relu: features alpha name = nn.leaky_relu
nn.depth_to_space: input block_size name data_format = nn.depth_to_space
nn.space_to_depth: input block_size name data_format = nn.space_to_depth
depth_to_space: input block_size name data_format = nn.depth_to_space
space_to_depth: input block_size name data_format = nn.space_to_depth
random.multinomial: logits num_samples seed name~multinomial output_dtype>dtype = random.categorical
multinomial: logits num_samples seed name~multinomial output_dtype>dtype = random.categorical
confusion_matrix: labels predictions num_classes dtype name weights = math.confusion_matrix
math.confusion_matrix: labels predictions num_classes dtype name weights = math.confusion_matrix
bincount: arr weights minlength maxlength dtype = math.bincount
scalar_mul: scalar x name = math.scalar_mul
math.scalar_mul: scalar x name = math.scalar_mul
floor_div: x y name = math.floordiv
py_func: func inp Tout stateful name = numpy_function
decode_raw: input_bytes out_type little_endian name bytes>input_bytes = io.decode_raw
parse_example: serialized features name example_names = io.parse_example
parse_single_example: serialized features name example_names- = io.parse_single_example
io.parse_example: serialized features name example_names = io.parse_example
io.parse_single_example: serialized features name example_names- = io.parse_single_example
verify_tensor_all_finite: t>x msg>message name x message = debugging.assert_all_finite
set_random_seed: seed = random.set_seed
random.set_random_seed: seed = random.set_seed
gradients: ys xs grad_ys name colocate_gradients_with_ops- gate_gradients aggregation_method stop_gradients unconnected_gradients = gradients
setdiff1d: x y index_dtype>out_idx name = raw_ops.ListDiff
constant: value dtype shape name verify_shape- = constant
arg_max: input dimension>axis output_type name = math.argmax
arg_min: input dimension>axis output_type name = math.argmin
assert_near: x y rtol atol data- summarize message name = debugging.assert_near
debugging.assert_near: x y rtol atol data- summarize message name = debugging.assert_near
assert_scalar: tensor name message = debugging.assert_scalar
debugging.assert_scalar: tensor name message = debugging.assert_scalar
assert_type: tensor tf_type message name = debugging.assert_type
debugging.assert_all_finite: t>x msg>message name x message = debugging.assert_all_finite
reduce_join: inputs axis keep_dims>keepdims separator name reduction_indices>axis keepdims = strings.reduce_join
strings.reduce_join: inputs axis keep_dims>keepdims separator name reduction_indices>axis keepdims = strings.reduce_join
string_to_hash_bucket: string_tensor>input num_buckets name input = strings.to_hash_bucket
strings.to_hash_bucket: string_tensor>input num_buckets name input = strings.to_hash_bucket
nn.crelu: features name axis = nn.crelu
nn.sufficient_statistics: x axes shift keep_dims>keepdims name keepdims = nn.sufficient_statistics
nn.weighted_moments: x axes frequency_weights name keep_dims>keepdims keepdims = nn.weighted_moments
nn.pool: input window_shape pooling_type padding dilation_rate>dilations strides name data_format dilations = nn.pool
nn.sampled_softmax_loss: weights biases labels inputs num_sampled num_classes num_true sampled_values remove_accidental_hits partition_strategy- name seed = nn.sampled_softmax_loss
nn.nce_loss: weights biases labels inputs num_sampled num_classes num_true sampled_values remove_accidental_hits partition_strategy- name = nn.nce_loss
nn.dilation2d: input filter strides rates padding name filters>filter dilations>rates = raw_ops.Dilation2D
nn.depthwise_conv2d_native: input filter strides padding data_format dilations name = raw_ops.DepthwiseConv2dNative
nn.conv2d_backprop_input: input_sizes filter out_backprop strides padding use_cudnn_on_gpu data_format dilations name filters>filter = raw_ops.Conv2DBackpropInput
nn.conv2d_backprop_filter: input filter_sizes out_backprop strides padding use_cudnn_on_gpu data_format dilations name = raw_ops.Conv2DBackpropFilter
nn.max_pool_with_argmax: input ksize strides padding data_format- Targmax name output_dtype>Targmax include_batch_in_index = raw_ops.MaxPoolWithArgmax
extract_image_patches: images ksizes strides rates padding name sizes>ksizes = raw_ops.ExtractImagePatches
image.extract_image_patches: images ksizes strides rates padding name sizes>ksizes = raw_ops.ExtractImagePatches
io.decode_raw: input_bytes out_type little_endian name bytes>input_bytes = io.decode_raw
image.crop_and_resize: image boxes box_ind>box_indices crop_size method extrapolation_value name box_indices = image.crop_and_resize
image.resize_bilinear: images size align_corners name half_pixel_centers = raw_ops.ResizeBilinear
image.resize_nearest_neighbor: images size align_corners name half_pixel_centers = raw_ops.ResizeNearestNeighbor
image.resize_bicubic: images size align_corners name half_pixel_centers = raw_ops.ResizeBicubic
image.resize_area: images size align_corners name = raw_ops.ResizeArea
random_poisson: lam shape dtype seed name = random.poisson
random.poisson: lam shape dtype seed name = random.poisson
math.bincount: arr weights minlength maxlength dtype = math.bincount
io.decode_csv: records record_defaults field_delim use_quote_delim name na_value select_cols = io.decode_csv
decode_csv: records record_defaults field_delim use_quote_delim name na_value select_cols = io.decode_csv
sparse.add: a b threshold thresh>threshold = sparse.add
sparse.concat: axis sp_inputs name expand_nonconcat_dim>expand_nonconcat_dims concat_dim>axis expand_nonconcat_dims = sparse.concat
sparse.reduce_sum: sp_input axis keepdims reduction_axes>axis keep_dims>keepdims = sparse.reduce_sum
sparse.reduce_max: sp_input axis keepdims reduction_axes>axis keep_dims>keepdims = sparse.reduce_max
sparse_reduce_max: sp_input axis keepdims reduction_axes>axis keep_dims>keepdims = sparse.reduce_max
sparse.split: sp_input num_split axis name split_dim>axis = sparse.split
sparse_split: sp_input num_split axis name split_dim>axis = sparse.split
sparse_segment_sum: data indices segment_ids name num_segments sparse_gradient = sparse.segment_sum
sparse_segment_mean: data indices segment_ids name num_segments sparse_gradient = sparse.segment_mean
sparse_segment_sqrt_n: data indices segment_ids name num_segments sparse_gradient = sparse.segment_sqrt_n
batch_to_space_nd: input block_shape crops name = raw_ops.BatchToSpaceND
manip.batch_to_space_nd: input block_shape crops name = raw_ops.BatchToSpaceND
quantize_v2: input min_range max_range T mode name round_mode narrow_range axis ensure_minimum_range = quantization.quantize
image.extract_glimpse: input size offsets centered normalized uniform_noise name = raw_ops.ExtractGlimpse
nn.batch_norm_with_global_normalization: t>input m>mean v>variance beta gamma variance_epsilon scale_after_normalization name input mean variance = nn.batch_norm_with_global_normalization
nn.conv3d_backprop_filter: input filter_sizes out_backprop strides padding data_format dilations name = raw_ops.Conv3DBackpropFilterV2
nn.conv3d_backprop_filter_v2: input filter_sizes out_backprop strides padding data_format dilations name = raw_ops.Conv3DBackpropFilterV2
nn.ctc_loss_v2: labels logits label_length logit_length logits_time_major unique blank_index name = nn.ctc_loss
nn.fractional_avg_pool: value pooling_ratio pseudo_random overlapping deterministic seed seed2 name = raw_ops.FractionalAvgPool
nn.fractional_max_pool: value pooling_ratio pseudo_random overlapping deterministic seed seed2 name = raw_ops.FractionalMaxPool
random.stateless_multinomial: logits num_samples seed output_dtype>dtype name = random.stateless_categorical
sparse.segment_sum: data indices segment_ids name num_segments sparse_gradient = sparse.segment_sum
sparse.segment_mean: data indices segment_ids name num_segments sparse_gradient = sparse.segment_mean
sparse.segment_sqrt_n: data indices segment_ids name num_segments sparse_gradient = sparse.segment_sqrt_n
hessians: ys xs name colocate_gradients_with_ops- gate_gradients aggregation_method = hessians
tuple: tensors name control_inputs = tuple
feature_column.categorical_column_with_vocabulary_file: key vocabulary_file vocabulary_size num_oov_buckets default_value dtype = feature_column.categorical_column_with_vocabulary_file
gfile.Copy: oldpath>src newpath>dst overwrite = io.gfile.copy
gfile.DeleteRecursively: dirname>path = io.gfile.rmtree
gfile.Exists: filename>path = io.gfile.exists
gfile.Glob: filename>pattern = io.gfile.glob
gfile.IsDirectory: dirname>path = io.gfile.isdir
gfile.ListDirectory: dirname>path = io.gfile.listdir
gfile.MakeDirs: dirname>path = io.gfile.makedirs
gfile.MkDir: dirname>path = io.gfile.mkdir
gfile.Remove: filename>path = io.gfile.remove
gfile.Rename: oldname>src newname>dst overwrite = io.gfile.rename
gfile.Stat: filename>path = io.gfile.stat
gfile.Walk: top in_order>topdown = io.gfile.walk
"""
)


@functools.cache
def _lines() -> dict[str, tuple[list[str], str]]:
    """name, with its namespace -> (parameters, target)."""
    found: dict[str, tuple[list[str], str]] = {}
    for line in filter(None, TABLE.splitlines()):
        name, _, rest = line.partition(": ")
        parameters, _, target = rest.partition(" = ")
        found[name] = (parameters.split(), target)
    return found


def names() -> list[str]:
    """The functions of the table, with their namespaces."""
    return list(_lines())


def _function(name: str) -> Any:
    entries, target = _lines()[name]
    order: list[str] = []
    new: dict[str, str] = {}
    fixed: dict[str, Any] = {}
    defaults: dict[str, str] = {}
    for entry in entries:
        entry, _, default = entry.partition("~")
        old, _, value = entry.partition("=")
        if value:
            fixed[old] = int(value)
            continue
        own, _, other = old.removesuffix("-").partition(">")
        order.append(own)
        new[own] = "" if old.endswith("-") else other or own
        if default:
            defaults[own] = default
    place, _, dtype = target.partition(":")
    if dtype:
        fixed["dtype"] = dtype

    def renamed(*args: Any, **kwargs: Any) -> Any:
        return later.named(f"intaglio.tf:{place}")(
            **{**defaults, **_moved(name, order, new, args, kwargs)}, **fixed
        )

    short = name.rpartition(".")[2]
    renamed.__name__ = renamed.__qualname__ = short
    renamed.__doc__ = f"`tf.{place}` with the parameters of TensorFlow 1: {', '.join(order)}."
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter(p, kind, default=defaults.get(p) if i else inspect.Parameter.empty)
        for i, p in enumerate(order)
    ]
    vars(renamed)["__signature__"] = inspect.Signature(parameters)
    return renamed


def _moved(
    name: str, order: list[str], new: dict[str, str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments under the names of TensorFlow 2. Raises TypeError or ValueError."""
    if len(args) > len(order):
        raise TypeError(
            f"{name}() takes {len(order)} arguments but {len(args)} were arguments: {', '.join(order)}"
        )
    arguments = dict(zip(order, args, strict=False))
    for key, value in kwargs.items():
        if key not in new:
            raise TypeError(f"{name}() got an unexpected keyword argument {key!r}")
        if key in arguments:
            raise TypeError(f"{name}() got multiple values for argument {key!r}")
        arguments[key] = value
    passed: dict[str, Any] = {}
    for key, value in arguments.items():
        there = new[key]
        if value is None or not there:
            continue
        if there in passed:
            raise ValueError(
                f"Cannot specify both {key!r} and its newer name {there!r} of {name}()."
            )
        passed[there] = value
    return passed


def __getattr__(name: str) -> Any:
    """A function of the table; the dots of its name are `__`."""
    if name.startswith("_") or name.replace("__", ".") not in _lines():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _function(name.replace("__", "."))
    return found
