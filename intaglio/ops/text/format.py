"""Numbers as text, in the formats of C's printf."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC, DType, bool_, string
from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.strings import filled, mapped


def _float_format(precision: int, scientific: bool, shortest: bool) -> str:
    letter = "e" if scientific else "g" if shortest else "f"
    return f".{precision}{letter}" if precision >= 0 else letter


def _padded(text: str, width: int, fill: str) -> bytes:
    """The text to a width, as the flags of C's printf pad."""
    if fill in ("+", " ") and not text.startswith("-"):
        text = fill + text
    if fill == "-":
        return text.ljust(width).encode()
    if fill == "0" and text.lstrip("+-")[:1].isdigit():
        return text.zfill(width).encode()
    return text.rjust(width).encode()


def _formatted(value: Any, width: int, fill: str, style: str) -> bytes:
    return _padded(f"%{style}" % value, width, fill)


@op
class AsString(Op):
    """Numbers, bools and strings as text, in C's printf formats."""

    signature = (
        "input: T; precision: int = -1, scientific: bool = False, shortest: bool = False,"
        " width: int = -1, fill: str = '' -> output: string"
    )
    T = (*NUMERIC, bool_, string)
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(string, input.shape)

    def kernel(self, input, precision, scientific, shortest, width, fill, T: DType):
        _check_format(T, precision, scientific, shortest, fill)
        width = max(width, 0)
        longest = max(width, precision, 0)
        check_decoded(np.size(input) * longest, "AsString")
        if T is string:
            side = bytes.ljust if fill == "-" else bytes.rjust
            return mapped(lambda v: side(v, width), input)
        values = np.asarray(input).reshape(-1)
        if T is bool_:
            texts = [b"true" if v else b"false" for v in values]
        elif T.is_complex:
            style = _float_format(precision, scientific, shortest)
            texts = [
                b"(%s,%s)"
                % (_formatted(v.real, width, fill, style), _formatted(v.imag, width, fill, style))
                for v in values.tolist()
            ]
        else:
            style = _float_format(precision, scientific, shortest)
            style = style if T.is_floating else "d"
            texts = _texts(values, width, fill, style)
        return filled(texts, np.shape(input))


def _texts(values: Any, width: int, fill: str, style: str) -> list[bytes]:
    """Real numbers as text: few different integers once each, others in one go."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low < values.size:
            known = [_formatted(v, width, fill, style) for v in range(low, high + 1)]
            at = (values - values.min()).view(f"u{values.itemsize}").astype(np.int64)
            return filled(known, -1)[at].tolist()
    if fill or not values.size:
        return [_formatted(v, width, fill, style) for v in values.tolist()]
    every = f"%{width or ''}{style}\n" * values.size
    return (every % tuple(values.tolist())).encode().split(b"\n")[:-1]


def _check_format(
    dtype: DType, precision: int, scientific: bool, shortest: bool, fill: str
) -> None:
    if len(fill) > 1:
        raise invalid_argument("Fill string must be one or fewer characters")
    if fill not in ("", " ", "+", "-", "0"):
        raise invalid_argument(f'Fill argument not supported: "{fill}"')
    if scientific and shortest:
        raise invalid_argument("Cannot select both scientific and shortest notation")
    if dtype.is_floating or dtype.is_complex or dtype is string:
        return
    if scientific or shortest:
        raise invalid_argument(
            f"scientific and shortest format not supported for datatype {dtype.name}"
        )
    if precision >= 0:
        raise invalid_argument(f"precision not supported for datatype {dtype.name}")
