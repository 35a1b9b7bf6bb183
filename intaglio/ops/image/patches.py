"""Patches: every window of an image or volume, laid out as channels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import COMPLEX, FLOATING, INTEGRAL, DType, bool_
from intaglio.base.errors import OutOfRangeError, ShapeError, UnimplementedError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.nn import windows


def _check(name: str, values: Sequence[int], rank: int) -> tuple[int, ...]:
    """The spatial numbers of an attribute. Raises the runtime's errors for others."""
    if len(values) < rank:
        raise invalid_argument(
            f"Length for attr '{name}' of {len(values)} must be at least minimum {rank}"
        )
    if len(values) != rank:
        raise invalid_argument(f"Sliding window {name} field must specify {rank} dimensions")
    if values[0] != 1 or values[-1] != 1:
        raise UnimplementedError(None, None, f"Only support {name} across space.")
    if min(values) <= 0:
        raise OutOfRangeError(None, None, f"{name} is out of range.")
    return tuple(values[1:-1])


class Patches(Op):
    """Windows of images or volumes: [n, ..., window * channels]."""

    rank: int = 4
    batching = "examples"

    def spec(self, x: Spec, plan: tuple[Any, Any, Any], padding: str) -> Spec:
        """The spec of the patches."""
        if x.rank not in (None, self.rank):
            raise ShapeError(
                f"Shape must be rank {self.rank} but is rank {x.rank}",
                f"input must be {self.rank}-dimensional{list(x.shape or ())}",
            )
        dims = x.shape or (None,) * self.rank
        out = [
            windows.out_size(n, k, s, r, padding)
            for n, k, s, r in zip(dims[1:-1], *plan, strict=True)
        ]
        depth = None if dims[-1] is None else dims[-1] * int(np.prod(plan[0]))
        return Spec(x.dtype, (dims[0], *out, depth))

    def patches(self, x: Any, plan: tuple[Any, Any, Any], padding: str) -> np.ndarray:
        """The patches of an array."""
        if x.ndim != self.rank:
            raise invalid_argument(f"input must be {self.rank}-dimensional{list(x.shape)}")
        windows.check_padding(padding, windows.PADDINGS[:2])
        try:
            along = windows.axes(x.shape[1:-1], *plan, padding)
        except ShapeError as e:
            raise invalid_argument(str(e)) from None
        out = [a.out for a in along]
        dims = (len(x), *out, *[a.window for a in along], x.shape[-1])
        check_allocated(dims, x.dtype.itemsize, "Patches of images")
        seen = windows.patches(windows.padded(x, along), along)
        return seen.reshape(len(x), *out, math.prod(plan[0]) * x.shape[-1])

    def scattered(self, d: Any, x: Any, plan: tuple[Any, Any, Any], padding: str) -> Any:
        """The gradient of patches: that of a convolution whose filters pick one element each."""
        ksizes, strides, rates = plan
        spec, count, space = spec_of(x), int(np.prod(ksizes)), self.rank - 2
        batch, *sizes, depth = _dims(shape_of(spec), self.rank)
        out = _dims(shape_of(spec_of(d)), self.rank)[1:-1]
        split = raw.Reshape(d, _vector([batch, *out, count, depth]))
        order = [0, self.rank, *range(1, self.rank)]
        planes = _vector([_times(batch, depth)])
        each = raw.Reshape(
            raw.Transpose(split, order), raw.ConcatV2([planes, _vector([*out, count])], 0)
        )
        picks = np.eye(count, dtype=d.dtype.numpy).reshape(*ksizes, 1, count)
        whole = raw.ConcatV2([planes, _vector([*sizes, 1])], 0)
        scatter = raw.Conv2DBackpropInput if space == 2 else raw.Conv3DBackpropInputV2
        back = scatter(
            whole, picks, each, strides=[1, *strides, 1], dilations=[1, *rates, 1], padding=padding
        )
        apart = raw.Reshape(back, _vector([batch, depth, *sizes]))
        return raw.Transpose(apart, [0, *range(2, self.rank), 1])


def _dims(shape: Any, rank: int) -> list[Any]:
    if isinstance(shape, np.ndarray):
        return [int(n) for n in shape]
    return list(raw.Unpack(shape, num=rank, axis=0))


def _vector(dims: list[Any]) -> Any:
    if all(isinstance(d, int) for d in dims):
        return np.asarray(dims, np.int32)
    return raw.Pack([np.asarray(d, np.int32) if isinstance(d, int) else d for d in dims])


def _times(a: Any, b: Any) -> Any:
    return a * b if isinstance(a, int) and isinstance(b, int) else raw.Mul(a, b)


@op
class ExtractImagePatches(Patches):
    """The windows of images."""

    signature = (
        "images: T; ksizes: list(int), strides: list(int), rates: list(int),"
        " padding: str -> patches: T"
    )
    T: tuple[DType, ...] = (*FLOATING, *INTEGRAL, *COMPLEX, bool_)
    data_inputs = ("images",)

    @staticmethod
    def plan(ksizes: Any, strides: Any, rates: Any) -> tuple[Any, Any, Any]:
        """The checked attributes of the two spatial dimensions."""
        return (
            _check("ksizes", ksizes, 4),
            _check("strides", strides, 4),
            _check("rates", rates, 4),
        )

    def infer(self, images: Spec, ksizes, strides, rates, padding) -> Spec:
        return self.spec(images, self.plan(ksizes, strides, rates), padding)

    def kernel(self, images, ksizes, strides, rates, padding):
        return self.patches(images, self.plan(ksizes, strides, rates), padding)

    def gradient(self, images: Spec, dpatches, ksizes, strides, rates, padding) -> Any:
        plan = self.plan(ksizes, strides, rates)
        return self.scattered(dpatches, images, plan, padding)


@op
class ExtractVolumePatches(Patches):
    """The windows of volumes."""

    signature = "input: T; ksizes: list(int), strides: list(int), padding: str -> patches: T"
    T: tuple[DType, ...] = (*FLOATING, *INTEGRAL)
    rank = 5
    data_inputs = ("input",)

    @staticmethod
    def plan(ksizes: Any, strides: Any) -> tuple[Any, Any, Any]:
        """The checked attributes of the three spatial dimensions."""
        return _check("ksizes", ksizes, 5), _check("strides", strides, 5), (1, 1, 1)

    def infer(self, input: Spec, ksizes, strides, padding) -> Spec:
        return self.spec(input, self.plan(ksizes, strides), padding)

    def kernel(self, input, ksizes, strides, padding):
        return self.patches(input, self.plan(ksizes, strides), padding)

    def gradient(self, input: Spec, dpatches, ksizes, strides, padding) -> Any:
        return self.scattered(dpatches, input, self.plan(ksizes, strides), padding)
