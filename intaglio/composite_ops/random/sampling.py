"""Shared parts of the random functions: ranges, means, dtypes, shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.dtypes import (
    DType,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint32,
    uint64,
)
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.tensor import Tensor

STATEFUL = (float16, bfloat16, float32, float64, int32, int64)
STATELESS = (*STATEFUL, uint32, uint64)


def check_dtype(dtype: DType, accepted: tuple[DType, ...]) -> None:
    """Raises ValueError unless the dtype is one of those accepted."""
    if dtype not in accepted:
        names = ", ".join(map(repr, accepted))
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are ({names})."
        )


def shape_tensor(shape: Any) -> Tensor:
    """A shape argument as an integer vector named "shape"."""
    if isinstance(shape, (list, tuple)) and not shape:
        return to_tensor(shape, int32, "shape")
    return to_tensor(shape, None, "shape")


def stretched(
    draw: Callable[[], Tensor], minval: Any, maxval: Any, dtype: DType, scope: str
) -> Tensor:
    """Floats of [0, 1) scaled to [minval, maxval)."""
    from_zero = type(minval) is int and minval == 0
    if from_zero and type(maxval) is int and maxval == 1:
        return draw()
    low, high = to_tensor(minval, dtype, "min"), to_tensor(maxval, dtype, "max")
    uniforms = draw()
    if from_zero:
        return raw.Mul(uniforms, high)
    return scaled(uniforms, raw.Sub(high, low, name="sub"), low, scope)


def scaled(numbers: Tensor, factor: Tensor, offset: Tensor, scope: str) -> Tensor:
    """drawn * factor + offset, the sum named after the scope."""
    return raw.AddV2(raw.Mul(numbers, factor, name="mul"), offset, name=scope)


def shifted(
    name: str, shape: Any, mean: Any, stddev: Any, kind: DType, draw: Callable[..., Any]
) -> Tensor:
    """Normals of `draw(shape)` with a mean and a standard deviation."""
    with door.level().scoped(name) as scope:
        dims = shape_tensor(shape)
        offset = to_tensor(mean, kind, "mean")
        factor = to_tensor(stddev, kind, "stddev")
        return scaled(draw(dims), factor, offset, scope)
