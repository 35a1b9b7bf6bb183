"""Changes of dtype, and complex numbers with their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import (
    COMPLEX,
    DIFFERENTIABLE,
    FLOAT8,
    NUMERIC,
    QUANTIZED,
    DType,
    bool_,
    complex64,
    complex128,
    float32,
    float64,
    from_numpy,
    int4,
    string,
    uint4,
    variant,
)
from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.opdef import raw, short_floats
from intaglio.opdef.machine_code import MIN_SHORT_ELEMENTS
from intaglio.opdef.op import Op, op
from intaglio.opdef.scalar import select
from intaglio.opdef.spec import Spec, of_elements
from intaglio.ops.families import MAX_FOLDED_ELEMENTS, unbroadcast_both


@op
class Cast(Op):
    """The elements in another dtype, rounded towards zero, wrapped where they do not fit."""

    signature = "x: SrcT; DstT: type, Truncate: bool = False -> y: DstT"
    SrcT = (*NUMERIC, bool_, string, *FLOAT8, int4, uint4, *QUANTIZED, variant)
    native_exact = True
    cheap = True
    batching = "leading"

    def infer(self, x: Spec, DstT: DType) -> Spec:
        if x.dtype.is_integer and DstT.is_integer:
            if x.value is not None and x.value.size <= MAX_FOLDED_ELEMENTS:
                return Spec(DstT, x.shape, np.asarray(x.value).astype(DstT.numpy))
            known = x.partial
            if known is not None and any(e is not None for e in known):
                wrapped = [e if e is None else int(np.asarray(e).astype(DstT.numpy)) for e in known]
                return of_elements(DstT, wrapped)
        return Spec(DstT, x.shape)

    def kernel(self, x, DstT, Truncate):
        wanted = DstT.numpy
        own = x.dtype
        if own is wanted or own == wanted:
            return x
        if own.kind == "O" or wanted.kind == "O" or DstT is variant:
            source, target = from_numpy(own).kernel_name, DstT.kernel_name
            raise UnimplementedError(None, None, f"Cast {source} to {target} is not supported")
        if 2 in (own.itemsize, wanted.itemsize) and x.size >= MIN_SHORT_ELEMENTS:
            found = _short_cast(x, DstT, Truncate)
            if found is not None:
                return found
        if own.kind == "c" and wanted.kind != "c":
            x = x.real
        if wanted.kind in "iu" and x.dtype.kind not in "iub":
            return to_integers(x, wanted)
        if Truncate and DstT.name == "bfloat16" and own == np.float32:
            bits = np.asarray(x).view(np.uint32) >> np.uint32(16)
            return bits.astype(np.uint16).view(wanted)
        if wanted == np.bool_:
            x = short_floats.widened(x)
            return np.not_equal(x, x.dtype.type(0))
        return x.astype(wanted)

    def scalar(self, s, x, DstT, Truncate):
        return NotImplemented if Truncate else s.cast(x, DstT.numpy)

    def gradient(self, dy, x: Spec) -> Any:
        if x.dtype in DIFFERENTIABLE and dy.dtype in DIFFERENTIABLE:
            return raw.Cast(dy, DstT=x.dtype)
        return None


def _short_cast(x: Any, to: DType, truncates: bool) -> Any:
    """A large array from or to 16-bit floats, between floats alone; None where NumPy is to do it."""
    dtypes = from_numpy(x.dtype), to
    if truncates or not all(d.is_floating for d in dtypes) or {d.size for d in dtypes} != {2, 4}:
        return None
    run = short_floats.compiled(raw.Cast, x.size, (x.dtype,), DstT=to, Truncate=False)
    return run and run(x)


def to_integers(x: Any, wanted: Any) -> Any:
    """Floating numbers as integers; what does not fit becomes what x86 makes of it."""
    if x.dtype.itemsize < 4:
        x = short_floats.widened(x) if x.dtype.itemsize == 2 else x.astype(np.float32)
    if wanted.itemsize < 4:
        return _converted(x, np.dtype(np.int32)).astype(wanted)
    return _converted(x, wanted)


def _converted(x: Any, wanted: Any) -> Any:
    """Truncated towards zero; the sign bit alone for what does not fit."""
    bits = wanted.itemsize * 8
    lowest = x.dtype.type(-(2.0 ** (bits - 1)))
    above = x.dtype.type(2.0 ** (bits if wanted.kind == "u" else bits - 1))
    fits = (x >= lowest) & (x < above)
    if wanted.kind == "u":
        return _unsigned(x, fits, wanted)
    if fits.all():
        return x.astype(wanted)
    inside = select(fits, x, x.dtype.type(0)).astype(wanted)
    return select(fits, inside, wanted.type(-(2 ** (bits - 1))))


def _unsigned(x: Any, fits: Any, wanted: Any) -> Any:
    half = 2 ** (wanted.itemsize * 8 - 1)
    inside = select(fits, x, x.dtype.type(0))
    high = inside >= x.dtype.type(half)
    low = select(high, inside - x.dtype.type(half), inside).astype(np.int64)
    result = low.astype(wanted) + select(high, wanted.type(half), wanted.type(0))
    return select(fits, result, wanted.type(half))


@op
class Bitcast(Op):
    """The same bits as elements of another dtype."""

    native_exact = True
    signature = "input: T; type: type -> output: type"
    T = (*NUMERIC, *QUANTIZED)
    type = T
    batching = "leading"

    def infer(self, input: Spec, type: DType) -> Spec:
        own, wanted = input.dtype.size, type.size
        dims = input.shape
        if dims is None or own == wanted:
            return Spec(type, dims)
        if own > wanted:
            return Spec(type, (*dims, own // wanted))
        ratio = wanted // own
        if not dims or dims[-1] not in (None, ratio):
            last = f"{dims[-1]}" if dims else "a scalar"
            raise ShapeError(f"Cannot bitcast due to shape. {last} does not match {ratio}.")
        return Spec(type, dims[:-1])

    def kernel(self, input, type):
        own, wanted = input.dtype, type.numpy
        x = np.ascontiguousarray(input).reshape(input.shape)
        if own.itemsize == wanted.itemsize:
            return x.view(wanted)
        if own.itemsize > wanted.itemsize:
            ratio = own.itemsize // wanted.itemsize
            return x.reshape(*x.shape, 1).view(wanted).reshape(*x.shape, ratio)
        ratio = wanted.itemsize // own.itemsize
        if not x.ndim or x.shape[-1] != ratio:
            raise invalid_argument(
                f"Cannot bitcast from {from_numpy(own).as_datatype_enum} to {type.as_datatype_enum}"
            )
        return x.view(wanted).reshape(x.shape[:-1])


class Part(Op):
    """A real number from each complex one."""

    signature = "input: T; Tout: type = float32 -> output: Tout"
    T = COMPLEX
    batching = "leading"

    def infer(self, input: Spec, Tout: DType) -> Spec:
        return Spec(Tout, input.shape)


@op
class Real(Part):
    """The real part."""

    native_exact = True
    Tout = (float32, float64)

    def kernel(self, input, Tout):
        return np.asarray(input.real).astype(Tout.numpy)

    def scalar(self, s, input):
        return s.real(input)

    def gradient(self, doutput) -> Any:
        return raw.Complex(doutput, np.zeros((), doutput.dtype.numpy), Tout=_pair(doutput))


@op
class Imag(Part):
    """The imaginary part."""

    native_exact = True
    Tout = (float32, float64)

    def kernel(self, input, Tout):
        return np.asarray(input.imag).astype(Tout.numpy)

    def scalar(self, s, input):
        return s.imag(input)

    def gradient(self, doutput) -> Any:
        return raw.Complex(np.zeros((), doutput.dtype.numpy), doutput, Tout=_pair(doutput))


@op
class Angle(Part):
    """The angle of the complex number."""

    Tout = (float32, float64)

    def kernel(self, input, Tout):
        return np.arctan2(input.imag, input.real).astype(Tout.numpy)

    def scalar(self, s, input):
        return s.atan2(s.imag(input), s.real(input))

    def gradient(self, doutput, input) -> Any:
        real = raw.Real(input, Tout=doutput.dtype)
        imag = raw.Imag(input, Tout=doutput.dtype)
        rotated = raw.Reciprocal(raw.Complex(imag, real, Tout=input.dtype))
        zero = np.zeros((), doutput.dtype.numpy)
        slope = raw.Complex(doutput, zero, Tout=input.dtype)
        return raw.Neg(raw.Mul(slope, rotated))


def _pair(x: Any) -> DType:
    """The complex type whose parts have the type of `x`."""
    return complex128 if x.dtype is float64 else complex64


@op
class Complex(Op):
    """Complex numbers of real and imaginary parts."""

    native_exact = True
    Tout = (complex64, complex128)

    signature = "real: T, imag: T; Tout: type = complex64 -> out: Tout"
    T = (float32, float64)
    batching = "broadcast"

    def infer(self, real: Spec, imag: Spec, Tout: DType) -> Spec:
        return Spec(Tout, shapes.broadcast(real.shape, imag.shape))

    def kernel(self, real, imag, Tout):
        out = np.empty(np.broadcast_shapes(real.shape, imag.shape), Tout.numpy)
        out.real = real
        out.imag = imag
        return out

    def scalar(self, s, real, imag):
        return s.complex(real, imag)

    def gradient(self, dout, real: Spec, imag: Spec) -> Any:
        return unbroadcast_both(
            lambda: raw.Real(dout, Tout=real.dtype),
            lambda: raw.Imag(dout, Tout=imag.dtype),
            real,
            imag,
        )


@op
class ComplexAbs(Op):
    """The absolute value of complex numbers."""

    Tout = (float32, float64)

    signature = "x: T; Tout: type = float32 -> y: Tout"
    T = COMPLEX
    batching = "leading"

    def infer(self, x: Spec, Tout: DType) -> Spec:
        return Spec(Tout, x.shape)

    def kernel(self, x, Tout):
        return np.abs(x).astype(Tout.numpy)

    def scalar(self, s, x):
        return s.abs(x)

    def gradient(self, dy, x) -> Any:
        zero = np.zeros((), dy.dtype.numpy)
        return raw.Mul(raw.Complex(dy, zero, Tout=x.dtype), raw.Sign(x))


@op
class Conj(Op):
    """The complex conjugate."""

    native_exact = True
    signature = "input: T -> output: T"
    T = (*COMPLEX, variant)
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, input.shape)

    def scalar(self, s, input):
        return s.conj(input)

    def gradient(self, doutput) -> Any:
        return raw.Conj(doutput)
