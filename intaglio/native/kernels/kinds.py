"""The table of kernels for large arrays, for eager and traced calls; modules are imported on first
use.

The first call of a program waits only for the modules that emit its kernel.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.base import later
from intaglio.native import fallback
from intaglio.native.llvm import background

Run = Callable[..., Any]
FLOAT, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Kind(NamedTuple):
    """A function that selects a kernel, as `later.named` finds it, and its first arguments."""

    target: str
    first: tuple[Any, ...] = ()

    def __call__(self, *description: Any) -> Run | None:
        select: Callable[..., Run | None] = later.named(f"intaglio.native.kernels.{self.target}")
        return select(*self.first, *description)


KINDS = {
    "batch normalization": Kind("batch_normalization:forward"),
    "batch normalization gradient": Kind("batch_normalization:gradient"),
    "checksums": Kind("checksums:checksums"),
    "colors": Kind("colors:conversion"),
    "convolution": Kind("selection:forward"),
    "convolution filter gradient": Kind("selection:filter_gradient"),
    "convolution input gradient": Kind("selection:input_gradient"),
    "double convolution": Kind("selection:doubled_forward"),
    "double convolution filter gradient": Kind("selection:doubled_filter_gradient"),
    "double convolution input gradient": Kind("selection:doubled_input_gradient"),
    "elementwise": Kind("elementwise:elementwise"),
    "exact elementwise": Kind("elementwise:exact"),
    "fourier": Kind("fourier:transform"),
    "function": Kind("elementwise:function", (FLOAT,)),
    "integer products": Kind("narrow_matmul:integer_products"),
    "jpeg colors": Kind("jpeg_colors:smoothing"),
    "maximum": Kind("selection:pooled_windows", ("maximum",)),
    "product": Kind("matmul:product_of", (FLOAT,)),
    "double product": Kind("matmul:product_of", (DOUBLE,)),
    "permutation": Kind("random_bits:permutation"),
    "random": Kind("random_bits:generator"),
    "products": Kind("matmul:products_of", (FLOAT,)),
    "double products": Kind("matmul:products_of", (DOUBLE,)),
    "maximum gradient": Kind("selection:pooled_windows", ("maximum_gradient",)),
    "loops": Kind("restricted_python:loops"),
    "mean": Kind("selection:pooled_windows", ("mean",)),
    "mean gradient": Kind("selection:pooled_windows", ("mean_gradient",)),
    "exact reduction": Kind("reductions:reduction_of"),
    "reduction": Kind("reductions:reduction_of", (FLOAT,)),
    "double reduction": Kind("reductions:reduction_of", (DOUBLE,)),
    "resampling": Kind("resampling:resampling"),
    "sampling": Kind("projection:sampling"),
    "series": Kind("elementwise:function", (FLOAT,)),
    "double series": Kind("elementwise:function", (DOUBLE,)),
    "sparse product": Kind("sparse_product:product", (np.float32,)),
    "double sparse product": Kind("sparse_product:product", (np.float64,)),
    "segments": Kind("segments:reduction"),
    "softmax": Kind("softmax:eager_softmax", (FLOAT,)),
    "double softmax": Kind("softmax:eager_softmax", (DOUBLE,)),
    "small matrices": Kind("small_matrices:batched"),
    "texts": Kind("strings:texts"),
    "depthwise": Kind("selection:depthwise_forward"),
    "depthwise filter gradient": Kind("selection:depthwise_filter_gradient"),
    "depthwise input gradient": Kind("selection:depthwise_input_gradient"),
}


# Kinds that exist for 16-bit floats, under the dtype's name and their own.
_SHORT = {
    "convolution": "selection:short_forward",
    "convolution filter gradient": "selection:short_filter_gradient",
    "convolution input gradient": "selection:short_input_gradient",
    "product": "narrow_matmul:product_of",
    "products": "narrow_matmul:products_of",
    "reduction": "reductions:reduction_of",
    "softmax": "softmax:eager_softmax",
}
KINDS.update(
    {
        f"{dtype.name} {kind}": Kind(target, (dtype,))
        for dtype in (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
        for kind, target in _SHORT.items()
    }
)


@functools.lru_cache(maxsize=1024)
def select(kind: str, *description: Any) -> Run | None:
    """The kernel of a kind for a description: shapes of arrays, and the axes of windows.

    None if there is none, or the compiler failed, of which one warning is given for the kind.
    """
    try:
        return KINDS[kind](*description)
    except background.NotCompiled:  # the caller asks again at a later call
        raise
    except Exception as e:
        fallback.failed(f"The kernel {kind!r}", e, "is NumPy's")
        return None
