"""Sample calls of every op: plain data, the source of all generated op tests.

Only NumPy and ml_dtypes are imported here, so that the recorder can load the samples where
TensorFlow is installed. A family's samples are in the file named like its op file:

    from tests.ops.samples import FLOATING, NUMERIC, T, each, f32, i32, sample

    sample("Sum", input=f32(2, 3), axis=i32([1]), keep_dims=True)
    each(NUMERIC, "AddV2", x=(2, 3), y=(3,))
    each(FLOATING, "Log", x=(2, 3), domain=(0.1, 3.0))
    each(REAL, "Range", start=of(0), limit=of(5), delta=of(2))
    each(NUMERIC, "ConcatV2", values=[(2, 3), (1, 3)], axis=i32.of(0))
    each(ORDINARY, "Cast", x=(2, 3), DstT="float32", tol=1e-6)
    each(INDEX, "Shape", input=f32(2, 3), out_type=T)
    sample("Reshape", tensor=f32(4), shape=i32([3]), error=("InvalidArgumentError", "3"))

Keywords are the argument names of `tf.raw_ops`. Inputs are arrays or descriptions of arrays:
  f32(2, 3)          random float32 data of shape (2, 3); `f32()` has shape ()
  f32([1.5, 2.0])    these values; `f32.of(3)` is the scalar 3; `f32(2, 3, lo=0, hi=1)` a domain
  (2, 3)             only in `each`: random data of that shape in the sample's own dtype
  of(value)          only in `each`: this value in the sample's own dtype
  [...]              a list of inputs, or a list attribute
Makers: b1 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 s (strings). Attributes are
Python values; dtypes are strings, and `T` is the sample's own dtype in `each`.

Options (all keyword arguments of `sample` and `each`):
  domain=(lo, hi)    range of the random numbers (default -2..2; integers -5..5 or 0..9)
  ulp=2, tol=None    float results may differ from TensorFlow's by `ulp` units in the last
                     place, or with `tol` by tol * max(1, |answer|); all else is exact
  grad, grad2        False or a reason (string): no first or second order gradient check.
                     Checked by default in float64 samples of ops with a gradient rule
  wrt=("x",)         the inputs to differentiate (default: all float64 ones)
  grad_tol=None      tolerance of the gradient checks where the default is too narrow
  nondeterministic   True: only dtypes and shapes are compared
  graph, parity      a reason (string) to leave out the graph check, the TensorFlow record
  error=("InvalidArgumentError", "phrase")  the call must fail so, here and in TensorFlow
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGRAL = SIGNED + UNSIGNED
HALF_TO_DOUBLE = ("float16", "float32", "float64")
FLOATING = ("bfloat16", *HALF_TO_DOUBLE)
COMPLEX = ("complex64", "complex128")
REAL = FLOATING + INTEGRAL
NUMERIC = REAL + COMPLEX
DIFFERENTIABLE = FLOATING + COMPLEX
ORDINARY = (*NUMERIC, "bool", "string")
INDEX = ("int32", "int64")

NUMPY = {n: np.dtype(n) for n in (*INTEGRAL, *HALF_TO_DOUBLE, *COMPLEX, "bool")} | {
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "string": np.dtype(object),
}

WORDS = ("", "a", "tf", "graph", "Eins, zwei", "größe", "東京", "x y z", "-3.5", "\U0001f600!")


class _Own:
    def __repr__(self) -> str:
        return "T"


T: Any = _Own()


@dataclass(frozen=True)
class Data:
    """An array to be made: random of a shape, or from values; dtype None is the sample's own."""

    dtype: str | None
    shape: tuple[int, ...] = ()
    values: Any = None
    domain: tuple[float, float] | None = None

    def array(self, own: str | None, domain: Any, seed: str) -> np.ndarray:
        """The array; `own` is the sample's dtype, `seed` any text."""
        name = self.dtype or own
        if name is None:
            raise ValueError("of(...) and bare shapes belong into each(...)")
        if self.values is not None:
            return _exactly(self.values, name)
        return _random(name, self.shape, self.domain or domain, seed)


def _exactly(values: Any, name: str) -> np.ndarray:
    if name != "string":
        return np.array(values, NUMPY[name])
    raw = np.array(values, object)
    flat = [v.encode() if isinstance(v, str) else v for v in raw.reshape(-1)]
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(raw.shape)


def _random(name: str, shape: tuple[int, ...], domain: Any, seed: str) -> np.ndarray:
    rng = np.random.RandomState(zlib.crc32(seed.encode()))
    if name == "string":
        return _exactly(rng.choice(np.array(WORDS, object), shape), name)
    if name == "bool":
        return rng.uniform(size=shape) < 0.5
    if name in INTEGRAL:
        lo, hi = domain or ((0, 9) if name in UNSIGNED else (-5, 5))
        if name in UNSIGNED:
            lo = max(0, lo)
        lo, hi = int(np.ceil(lo)), int(np.floor(hi))
        return np.asarray(rng.randint(lo, max(hi, lo) + 1, shape)).astype(NUMPY[name])
    lo, hi = domain or (-2.0, 2.0)
    real = np.asarray(rng.uniform(lo, hi, shape))
    if name in COMPLEX:
        real = real + 1j * rng.uniform(lo, hi, shape)
    return np.asarray(real).astype(NUMPY[name])


class Maker:
    """`f32(2, 3)`, `f32([1, 2])`, `f32.of(3)`: descriptions of arrays of one dtype."""

    def __init__(self, dtype: str | None) -> None:
        self.dtype = dtype

    def __call__(self, *shape: Any, lo: Any = None, hi: Any = None) -> Data:
        if len(shape) == 1 and not isinstance(shape[0], int):
            return Data(self.dtype, values=shape[0])
        return Data(self.dtype, shape, domain=None if lo is None else (lo, hi))

    def of(self, value: Any) -> Data:
        """Exactly this value."""
        return Data(self.dtype, values=value)


def of(value: Any) -> Data:
    """This value in the sample's own dtype (in `each`)."""
    return Data(None, values=value)


b1, s = Maker("bool"), Maker("string")
i8, i16, i32, i64 = map(Maker, SIGNED)
u8, u16, u32, u64 = map(Maker, UNSIGNED)
bf16, f16, f32, f64 = map(Maker, FLOATING)
c64, c128 = map(Maker, COMPLEX)


@dataclass
class Sample:
    """One call of an op. `args` maps argument names to arrays, lists of arrays and attributes."""

    op: str
    args: dict[str, Any]
    family: str
    label: str
    dtype: str | None = None
    ulp: float = 2
    tol: float | None = None
    grad: bool | str = True
    grad2: bool | str = True
    wrt: Sequence[str] | None = None
    grad_tol: float | None = None
    nondeterministic: bool = False
    graph: bool | str = True
    parity: bool | str = True
    error: tuple[str, str] | None = None

    @functools.cached_property
    def key(self) -> str:
        """A name for the sample that changes when its inputs or attributes do."""
        return f"{self.op}#{zlib.crc32(_text(self.args).encode()):08x}"

    def __repr__(self) -> str:
        return self.label


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{k}={_text(v)}" for k, v in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    if isinstance(value, np.ndarray):
        data = value.tolist() if value.dtype == object else value.tobytes().hex()
        return f"{value.dtype}{value.shape}{data}"
    if isinstance(value, np.bool_):
        return f"np.{value}_"  # NumPy 1 prints it otherwise than when answers were recorded
    return repr(value)


SAMPLES: dict[str, list[Sample]] = {}
OPTIONS = frozenset(Sample.__dataclass_fields__) - {"op", "args", "family", "label", "dtype"}


def sample(op: str, /, **given: Any) -> Sample:
    """Adds one sample of the op. See the module's text for the keywords."""
    return _add(op, None, given)


def each(dtypes: Sequence[str], op: str, /, **given: Any) -> list[Sample]:
    """Adds one sample for each dtype, with the same shapes."""
    return [_add(op, dtype, given) for dtype in dtypes]


# How far sums of products may differ when another order or width of sums is taken.
SUM_TOLERANCE = {
    "bfloat16": 6e-2,
    "float16": 1e-2,
    "float32": 4e-6,
    "complex64": 4e-6,
    "float64": 1e-12,
    "complex128": 1e-12,
}


def sums(dtypes: Sequence[str], op: str, /, **given: Any) -> list[Sample]:
    """`each`, with the tolerance that suits sums of products in the dtype."""
    return [_add(op, d, {"tol": SUM_TOLERANCE.get(d), **given}) for d in dtypes]


def _add(op: str, own: str | None, given: dict[str, Any]) -> Sample:
    # MaxPoolGrad and others have an input named as the option `grad` is.
    options = {
        k: v
        for k, v in given.items()
        if k in OPTIONS and not (k == "grad" and not isinstance(v, (bool, str)))
    }
    known = SAMPLES.setdefault(op, [])
    label = f"{op}/{len(known)}" + (f"-{own}" if own else "")
    domain = given.get("domain")
    args = {
        k: _resolve(v, own, domain, f"{op}/{k}")
        for k, v in given.items()
        if k not in options and k != "domain"
    }
    family = _loading[-1] if _loading else ""
    made = Sample(op, args, family, label, own, **options)
    known.append(made)
    return made


def _resolve(value: Any, own: str | None, domain: Any, seed: str) -> Any:
    if value is T:
        return own
    if isinstance(value, Data):
        return value.array(own, domain, seed)
    if own and isinstance(value, tuple) and all(isinstance(d, int) for d in value):
        return Data(None, value).array(own, domain, seed)
    if isinstance(value, list):
        return [_resolve(v, own, domain, f"{seed}/{i}") for i, v in enumerate(value)]
    return value


_loading: list[str] = []


def load() -> dict[str, list[Sample]]:
    """Every sample by op."""
    for module in pkgutil.iter_modules(__path__):
        _loading.append(module.name)
        try:
            importlib.import_module(f"{__name__}.{module.name}")
        finally:
            _loading.pop()
    return SAMPLES


def families() -> Iterator[str]:
    """The names of the sample files."""
    return (m.name for m in pkgutil.iter_modules(__path__))
