"""The documented TensorFlow API. `from intaglio import tf`.

Names that few programs use are imported on first access (`LATER`, at the end).
"""

from typing import TYPE_CHECKING

# Imported for the ops that they register.
import intaglio.data  # pyright: ignore[reportUnusedImport]  # for the ops that it registers
import intaglio.graphdef  # pyright: ignore[reportUnusedImport]  # for the ops that it registers
import intaglio.ops  # pyright: ignore[reportUnusedImport]  # for the ops that it registers
from intaglio.autodiff.python_functions import numpy_function, py_function
from intaglio.base import later
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.log import logger as get_logger
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.array import creation, indexing, rearranging, sorting
from intaglio.composite_ops.array.creation import *
from intaglio.composite_ops.array.indexing import *
from intaglio.composite_ops.array.rearranging import *
from intaglio.composite_ops.array.sorting import *
from intaglio.composite_ops.assertions import (
    Assert,
    assert_equal,
    assert_greater,
    assert_less,
    assert_rank,
)
from intaglio.composite_ops.math.arithmetic import linspace, realdiv, truncatediv, truncatemod
from intaglio.composite_ops.math.casting import bitcast, cast, complex, saturate_cast
from intaglio.composite_ops.math.clipping import clip_by_global_norm, clip_by_norm, clip_by_value
from intaglio.composite_ops.math.counting import histogram_fixed_width, histogram_fixed_width_bins
from intaglio.composite_ops.printing import print
from intaglio.composite_ops.strings import as_string
from intaglio.ir.graph import Node as Operation
from intaglio.opdef import raw as raw_ops
from intaglio.opdef.tensor import Tensor
from intaglio.tf import (
    autodiff,
    autograph,
    bitwise,
    config,
    control_flow,
    debugging,
    differentiation,
    dtypes,
    errors,
    experimental,
    io,
    linalg,
    math,
    nest,
    nn,
    random,
    strings,
    sysconfig,
    tracing,
    types,
    variables,
    version,
)
from intaglio.tf.control_flow import *
from intaglio.tf.differentiation import *
from intaglio.tf.dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    qint8,
    qint16,
    qint32,
    quint8,
    quint16,
    resource,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from intaglio.tf.linalg import einsum, matmul, norm, tensordot
from intaglio.tf.math import (
    abs,
    acos,
    acosh,
    add,
    add_n,
    argmax,
    argmin,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    cumsum,
    divide,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    pow,
    reduce_all,
    reduce_any,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    round,
    scalar_mul,
    sigmoid,
    sign,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    truediv,
)
from intaglio.tf.tensor_array import TensorArray, TensorArraySpec
from intaglio.tf.tracing import *
from intaglio.tf.variables import *
from intaglio.trace.graph import Graph
from intaglio.type_specs.type_spec import type_spec_of as type_spec_from_value

if TYPE_CHECKING:
    from keras._tf_keras import keras as keras
    from keras._tf_keras.keras import initializers as initializers
    from keras._tf_keras.keras import losses as losses
    from keras._tf_keras.keras import metrics as metrics
    from keras._tf_keras.keras import optimizers as optimizers

    from intaglio.base.device_spec import DeviceSpec as DeviceSpec
    from intaglio.composite_ops.array.space_paddings import (
        required_space_to_batch_paddings as required_space_to_batch_paddings,
    )
    from intaglio.composite_ops.array.space_paddings import timestamp as timestamp
    from intaglio.composite_ops.linalg.factorisations import eig as eig
    from intaglio.composite_ops.linalg.factorisations import eigvals as eigvals
    from intaglio.composite_ops.linalg.factorisations import sqrtm as matrix_square_root  # pyright: ignore[reportUnusedImport]  # its name here
    from intaglio.composite_ops.random.index_shuffles import (
        random_index_shuffle as random_index_shuffle,
    )
    from intaglio.composite_ops.random.initializers import (
        constant_initializer as constant_initializer,
    )
    from intaglio.composite_ops.random.initializers import ones_initializer as ones_initializer
    from intaglio.composite_ops.random.initializers import (
        random_normal_initializer as random_normal_initializer,
    )
    from intaglio.composite_ops.random.initializers import (
        random_uniform_initializer as random_uniform_initializer,
    )
    from intaglio.composite_ops.random.initializers import zeros_initializer as zeros_initializer
    from intaglio.data.element import NoneTensorSpec as NoneTensorSpec
    from intaglio.data.specs import OptionalSpec as OptionalSpec
    from intaglio.function.batch_functions import (
        nondifferentiable_batch_function as nondifferentiable_batch_function,
    )
    from intaglio.graphdef.tensor_protos import make_ndarray as make_ndarray
    from intaglio.graphdef.tensor_protos import make_tensor_proto as make_tensor_proto
    from intaglio.opdef.op_libraries import check_pinned as check_pinned
    from intaglio.opdef.op_libraries import load_library as load_library
    from intaglio.opdef.op_libraries import load_op_library as load_op_library
    from intaglio.ragged.api import RaggedTensor as RaggedTensor
    from intaglio.ragged.api import RaggedTensorSpec as RaggedTensorSpec
    from intaglio.sparse.api import SparseTensor as SparseTensor
    from intaglio.sparse.api import SparseTensorSpec as SparseTensorSpec
    from intaglio.sparse.edit_distances import edit_distance as edit_distance
    from intaglio.state.critical_section import CriticalSection as CriticalSection
    from intaglio.tensorflow_name import operator_names as __operators__
    from intaglio.tf import audio as audio
    from intaglio.tf import compat as compat
    from intaglio.tf import data as data
    from intaglio.tf import distribute as distribute
    from intaglio.tf import feature_column as feature_column
    from intaglio.tf import graph_util as graph_util
    from intaglio.tf import image as image
    from intaglio.tf import internal as __internal__
    from intaglio.tf import lookup as lookup
    from intaglio.tf import profiler as profiler
    from intaglio.tf import quantization as quantization
    from intaglio.tf import queue as queue
    from intaglio.tf import ragged as ragged
    from intaglio.tf import saved_model as saved_model
    from intaglio.tf import sets as sets
    from intaglio.tf import signal as signal
    from intaglio.tf import sparse as sparse
    from intaglio.tf import summary as summary
    from intaglio.tf import test as test
    from intaglio.tf import tpu as tpu
    from intaglio.tf import train as train
    from intaglio.tf import xla as xla
    from intaglio.tf.any_axes import fftnd as fftnd
    from intaglio.tf.any_axes import ifftnd as ifftnd
    from intaglio.tf.any_axes import irfftnd as irfftnd
    from intaglio.tf.any_axes import rfftnd as rfftnd
    from intaglio.tf.convolution_gradients import conv as conv
    from intaglio.tf.convolution_gradients import (
        conv2d_backprop_filter_v2 as conv2d_backprop_filter_v2,
    )
    from intaglio.tf.convolution_gradients import (
        conv2d_backprop_input_v2 as conv2d_backprop_input_v2,
    )
    from intaglio.tf.fingerprints import fingerprint as fingerprint
    from intaglio.tf.graph_util import import_graph_def as import_graph_def
    from intaglio.tf.math.incomplete import approx_top_k as approx_top_k
    from intaglio.tf.ragged.filling import ragged_fill_empty_rows as ragged_fill_empty_rows
    from intaglio.tf.ragged.filling import (
        ragged_fill_empty_rows_grad as ragged_fill_empty_rows_grad,
    )
    from intaglio.tf.volume_patches import extract_volume_patches as extract_volume_patches

__version__ = "2.21.0"
__git_version__ = "unknown"

__all__ = [
    "autograph",
    "Assert",
    "assert_equal",
    "assert_greater",
    "assert_less",
    "assert_rank",
    "DType",
    "Graph",
    "Operation",
    "Tensor",
    "TensorArray",
    "TensorArraySpec",
    "TensorShape",
    "as_dtype",
    "autodiff",
    "as_string",
    "bfloat16",
    "bool",
    "complex128",
    "complex64",
    "config",
    "debugging",
    "double",
    "dtypes",
    "errors",
    "experimental",
    "float16",
    "float32",
    "float64",
    "get_logger",
    "half",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "nest",
    "numpy_function",
    "print",
    "py_function",
    "nn",
    "matmul",
    "tensordot",
    "norm",
    "einsum",
    "linalg",
    "qint16",
    "qint32",
    "qint8",
    "quint16",
    "quint8",
    "random",
    "raw_ops",
    "resource",
    "string",
    "strings",
    "sysconfig",
    "types",
    "type_spec_from_value",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "variant",
    "version",
]
__all__ += [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cos",
    "cosh",
    "cumsum",
    "divide",
    "equal",
    "exp",
    "floor",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "round",
    "scalar_mul",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "truediv",
    "linspace",
    "realdiv",
    "truncatediv",
    "truncatemod",
    "bitcast",
    "cast",
    "complex",
    "saturate_cast",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "histogram_fixed_width",
    "histogram_fixed_width_bins",
    "math",
    "bitwise",
]
__all__ += rearranging.__all__
__all__ += creation.__all__
__all__ += indexing.__all__
__all__ += sorting.__all__
__all__ += tracing.__all__
__all__ += control_flow.__all__
__all__ += differentiation.__all__
__all__ += variables.__all__

# Names that are imported on first access, and where they are: a module of
# `intaglio.tf`, or a name in one. Each is under TYPE_CHECKING as well.
LATER: dict[str, str] = {
    "__internal__": "intaglio.tf.internal",
    "__operators__": "intaglio.tensorflow_name.operator_names",
    "compat": "intaglio.tf.compat",
    "distribute": "intaglio.tf.distribute",
    "approx_top_k": "intaglio.tf.math.incomplete:approx_top_k",
    "conv": "intaglio.tf.convolution_gradients:conv",
    "nondifferentiable_batch_function": "intaglio.function.batch_functions:nondifferentiable_batch_function",
    "random_index_shuffle": "intaglio.composite_ops.random.index_shuffles:random_index_shuffle",
    "conv2d_backprop_filter_v2": "intaglio.tf.convolution_gradients:conv2d_backprop_filter_v2",
    "conv2d_backprop_input_v2": "intaglio.tf.convolution_gradients:conv2d_backprop_input_v2",
    "DeviceSpec": "intaglio.base.device_spec:DeviceSpec",
    "required_space_to_batch_paddings": "intaglio.composite_ops.array.space_paddings:required_space_to_batch_paddings",
    "timestamp": "intaglio.composite_ops.array.space_paddings:timestamp",
    "check_pinned": "intaglio.opdef.op_libraries:check_pinned",
    "load_library": "intaglio.opdef.op_libraries:load_library",
    "load_op_library": "intaglio.opdef.op_libraries:load_op_library",
    "fftnd": "intaglio.tf.any_axes:fftnd",
    "ifftnd": "intaglio.tf.any_axes:ifftnd",
    "irfftnd": "intaglio.tf.any_axes:irfftnd",
    "rfftnd": "intaglio.tf.any_axes:rfftnd",
    "fingerprint": "intaglio.tf.fingerprints:fingerprint",
    "extract_volume_patches": "intaglio.tf.volume_patches:extract_volume_patches",
    "constant_initializer": "intaglio.composite_ops.random.initializers:constant_initializer",
    "ones_initializer": "intaglio.composite_ops.random.initializers:ones_initializer",
    "random_normal_initializer": "intaglio.composite_ops.random.initializers:random_normal_initializer",
    "random_uniform_initializer": "intaglio.composite_ops.random.initializers:random_uniform_initializer",
    "zeros_initializer": "intaglio.composite_ops.random.initializers:zeros_initializer",
    "matrix_square_root": "intaglio.composite_ops.linalg.factorisations:sqrtm",
    "eig": "intaglio.composite_ops.linalg.factorisations:eig",
    "eigvals": "intaglio.composite_ops.linalg.factorisations:eigvals",
    "NoneTensorSpec": "intaglio.data.element:NoneTensorSpec",
    "audio": "intaglio.tf.audio",
    "feature_column": "intaglio.tf.feature_column",
    "image": "intaglio.tf.image",
    "signal": "intaglio.tf.signal",
    "RaggedTensor": "intaglio.ragged.api:RaggedTensor",
    "RaggedTensorSpec": "intaglio.ragged.api:RaggedTensorSpec",
    "profiler": "intaglio.tf.profiler",
    "quantization": "intaglio.tf.quantization",
    "queue": "intaglio.tf.queue",
    "CriticalSection": "intaglio.state.critical_section:CriticalSection",
    "ragged": "intaglio.tf.ragged",
    "SparseTensor": "intaglio.sparse.api:SparseTensor",
    "SparseTensorSpec": "intaglio.sparse.api:SparseTensorSpec",
    "edit_distance": "intaglio.sparse.edit_distances:edit_distance",
    "lookup": "intaglio.tf.lookup",
    "sets": "intaglio.tf.sets",
    "sparse": "intaglio.tf.sparse",
    "ragged_fill_empty_rows": "intaglio.tf.ragged.filling:ragged_fill_empty_rows",
    "ragged_fill_empty_rows_grad": "intaglio.tf.ragged.filling:ragged_fill_empty_rows_grad",
    "OptionalSpec": "intaglio.data.specs:OptionalSpec",
    "data": "intaglio.tf.data",
    "graph_util": "intaglio.tf.graph_util",
    "import_graph_def": "intaglio.tf.graph_util:import_graph_def",
    "make_ndarray": "intaglio.graphdef.tensor_protos:make_ndarray",
    "make_tensor_proto": "intaglio.graphdef.tensor_protos:make_tensor_proto",
    "saved_model": "intaglio.tf.saved_model",
    "summary": "intaglio.tf.summary",
    "test": "intaglio.tf.test",
    "train": "intaglio.tf.train",
    "tpu": "intaglio.tf.tpu",
    "xla": "intaglio.tf.xla",
}
__all__ += [*LATER]

# What the extra `keras` brings, which need not be installed: in no `__all__`.
KERAS = ("initializers", "keras", "losses", "metrics", "optimizers")
# Names that TensorFlow has without documenting or listing them: qkeras, tf-agents.
_UNDOCUMENTED = {"enable_v2_behavior": "intaglio.compat_v1.behavior:enable_v2_behavior"}
_OF_KERAS = {name: f"intaglio.tensorflow_name.package:{name}" for name in KERAS}

if not TYPE_CHECKING:
    _find, __dir__ = later.attributes(__name__, {**LATER, **_OF_KERAS})

    def __getattr__(name):
        """A name that is imported on first access, or one that libraries know all the same."""
        return later.named(_UNDOCUMENTED[name]) if name in _UNDOCUMENTED else _find(name)

    later.advise(__name__, "intaglio.opdef.absent_names:advice")
