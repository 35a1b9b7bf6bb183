"""Wrong calls of every op, derived from its samples: other dtypes, ranks, shapes, values, attributes.

A sample that works is changed in one place at a time. Whether the result is an error is for
TensorFlow to say (tests/parity/record_errors.py); test_errors.py compares. Like the samples this
needs NumPy and ml_dtypes alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.ops.samples import NUMPY, Sample

# No sample has so large a dimension, and arrays of such dimensions are small still.
FAR = 37
BASES = 3
_DTYPES = {
    "f": ("int32", "string", "bool"),
    "V": ("int32", "string", "bool"),  # bfloat16
    "c": ("int32", "string"),
    "i": ("float32", "string", "int64"),
    "u": ("float32", "string"),
    "b": ("float32", "string"),
    "O": ("int32", "float32"),
}


def bases(known: list[Sample]) -> list[Sample]:
    """The samples to start from: the first in an ordinary dtype, and one of another form."""
    working = [s for s in known if not s.error and s.parity is True]
    plain = [s for s in working if s.dtype in (None, "float32")] or working
    chosen: dict[Any, Sample] = {}
    for sample in plain:
        chosen.setdefault(_form(sample), sample)
    return list(chosen.values())[:BASES]


def _form(sample: Sample) -> tuple[Any, ...]:
    ranks = (
        v.ndim if isinstance(v, np.ndarray) else isinstance(v, list) for v in sample.args.values()
    )
    return (*sample.args, *ranks)


def of(known: list[Sample]) -> Iterator[Sample]:
    """The wrong calls that follow from an op's samples, each with what is wrong as its label."""
    seen: set[str] = set()
    for base in bases(known):
        for label, args in _changed(base.args):
            made = changed(base, label, args)
            if made.key not in seen:
                seen.add(made.key)
                yield made


def changed(base: Sample, label: str, args: dict[str, Any]) -> Sample:
    """A call with other arguments that is compared as the one that it is made of."""
    return Sample(
        base.op,
        args,
        base.family,
        f"{base.op}: {label}",
        base.dtype,
        ulp=base.ulp,
        tol=base.tol,
        nondeterministic=base.nondeterministic,
    )


def _changed(args: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in args.items():
        if isinstance(value, np.ndarray):
            changes = _arrays(value)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            changes = _lists(value)
        else:
            changes = _attributes(value)
        for label, changed in changes:
            yield f"{name} {label}", {**args, name: changed}


def _arrays(x: np.ndarray) -> Iterator[tuple[str, Any]]:
    for dtype in _DTYPES[x.dtype.kind]:
        yield f"as {dtype}", _cast(x, dtype)
    yield "of higher rank", x[None]
    if x.ndim:
        yield "of rank 1 less", x[0] if len(x) else x.reshape((*x.shape[1:-1], 0))
        yield "longer at the start", np.concatenate([x, x[-1:]])
        yield "empty at the end", x[..., :0]
    if x.ndim > 1:
        yield "longer at the end", np.concatenate([x, x[..., -1:]], axis=-1)
        yield "flat", x.reshape(-1)
    if x.dtype.kind in "iu" and 0 < x.size <= 64:
        for value in (FAR, -FAR) if x.dtype.kind == "i" else (FAR,):
            changed = x.copy()
            changed.reshape(-1)[0] = value
            yield f"with {value}", changed


def _cast(x: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "string":
        result = np.empty(x.shape, object)
        result.fill(b"a")
        return result
    if x.dtype == object:
        return np.ones(x.shape, NUMPY[dtype])
    if x.dtype.kind == "c":
        x = x.real
    if x.dtype.kind in "fV":
        x = np.clip(np.nan_to_num(x.astype(np.float64)), -FAR, FAR)
    return np.asarray(x).astype(NUMPY[dtype])


def _lists(values: list[np.ndarray]) -> Iterator[tuple[str, Any]]:
    yield "empty", []
    yield "one more", [*values, values[-1]]
    if len(values) > 1:
        yield "one less", values[:-1]
    for label, changed in _arrays(values[-1]):
        yield f"last {label}", [*values[:-1], changed]


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        changes: tuple[Any, ...] = (0, -1, FAR, -FAR, "x")
    elif isinstance(value, float):
        changes = (-1.0, "x")
    elif isinstance(value, str) and value in NUMPY:
        changes = ("float32", "int32", "string", "bool", "complex64")
    elif isinstance(value, str):
        changes = ("no such value", FAR)
    elif isinstance(value, (list, tuple)) and all(isinstance(v, int) for v in value):
        whole = list(value)
        changes = ([], [*whole, 1], whole[:-1], [-1, *whole[1:]], [0, *whole[1:]], "x")
    elif isinstance(value, (list, tuple)):
        whole = list(value)
        changes = ([], [*whole, whole[-1]], whole[:-1], FAR)
    else:
        return
    for changed in changes:
        if changed != value:
            yield f"= {changed!r}", changed
