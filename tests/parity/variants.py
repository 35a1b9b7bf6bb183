"""More calls of every op, derived from its samples and TensorFlow's declaration of it.

A sample is one point; what an op must do around it follows from what is declared: every dtype
that an input may have, every value of an attribute that is a choice, arrays without elements,
single numbers, and for the elementwise ops the numbers at the ends of the dtype and those that
are none. Wrong calls that TensorFlow accepts (`wrong_calls.py`) are right ones too. TensorFlow
answers them all (`record_variants.py`); test_variants.py compares.

Like the samples this needs NumPy and ml_dtypes alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops.samples import COMPLEX, FLOATING, INTEGRAL, NUMPY, ORDINARY, Sample
from tests.parity import errors, op_defs, wrong_calls

Change = tuple[str, dict[str, Any]]

# Ops of these compute every element alone.
ELEMENTWISE = frozenset(
    {
        "activation",
        "arithmetic",
        "bessel_functions",
        "cast",
        "comparison",
        "error_functions",
        "gamma_functions",
        "incomplete_gamma",
        "logic",
        "rounding",
        "special_integrals",
        "transcendental",
    }
)
# Answers about more elements say no more than others, and fill the files.
MOST_ELEMENTS = 400
# Inputs that `tf.raw_ops` has under other names than the declarations.
RENAMED = {"reduction_indices": "axis", "split_dim": "axis", "concat_dim": "axis"}
# Ops whose answers depend on more than their arguments, or take long.
LEFT_OUT = frozenset({"EagerPyFunc", "PyFunc", "Timestamp"})


def of(known: list[Sample]) -> Iterator[Sample]:
    """The calls that follow from an op's samples, each with what is changed as its label."""
    if not known or known[0].op in LEFT_OUT:
        return
    seen = {s.key for s in known}
    bases = wrong_calls.bases(known)
    for base in bases:
        if not base.args or elements(base.args) > MOST_ELEMENTS:
            continue
        for label, args in _changes(base, known, first=base is bases[0]):
            made = wrong_calls.changed(base, label, args)
            if made.key not in seen:
                seen.add(made.key)
                yield made
    for call in wrong_calls.of(known):
        if errors.of(call) == errors.ACCEPTED and call.key not in seen:
            seen.add(call.key)
            if elements(call.args) <= MOST_ELEMENTS:
                yield call


def elements(args: dict[str, Any]) -> int:
    """How many elements the arrays among the arguments have."""
    return sum(a.size for _, a in _arrays(args))


def _arrays(args: dict[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    for name, value in args.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, np.ndarray):
                yield name, item


def _changes(base: Sample, known: list[Sample], first: bool) -> Iterator[Change]:
    declared = op_defs.read().get(base.op)
    if declared is None:
        return
    yield from _choices(base, declared)
    yield from _empty(base)
    if first:
        yield from _dtypes(base, declared, known)
        if base.family in ELEMENTWISE:
            yield from _elementwise(base, declared)


# -- dtypes -------------------------------------------------------------------------


def bound(declared: dict[str, Any], variable: str) -> set[str]:
    """The inputs whose dtype is the attribute `variable`."""
    ends = declared["inputs"].items()
    return {RENAMED.get(name, name) for name, kind in ends if kind.rpartition("*")[2] == variable}


def allowed(attribute: dict[str, Any]) -> list[str]:
    """The dtypes that an attribute may be and arrays can have."""
    return [t for t in attribute.get("allowed", ORDINARY) if t in NUMPY]


def had(known: list[Sample], declared: dict[str, Any], variable: str) -> set[str]:
    """The dtypes of the attribute that samples have."""
    found: set[str] = set()
    inputs = bound(declared, variable)
    for sample in known:
        if sample.error:
            continue
        given = sample.args.get(variable, declared["attrs"][variable].get("default"))
        if given is not None and not inputs:
            found.add(given)
        found |= {_name(a) for n, a in _arrays(sample.args) if n in inputs}
    return found


def _name(array: np.ndarray) -> str:
    return "string" if array.dtype == object else array.dtype.name


def _dtypes(base: Sample, declared: dict[str, Any], known: list[Sample]) -> Iterator[Change]:
    for variable, attribute in declared["attrs"].items():
        if attribute["kind"] != "type":
            continue
        inputs = bound(declared, variable) & base.args.keys()
        missing = set(allowed(attribute)) - had(known, declared, variable)
        for dtype in sorted(missing):
            changed = {n: _cast(base.args[n], dtype) for n in inputs}
            if variable in base.args or not bound(declared, variable):
                changed[variable] = dtype
            yield f"{variable} = {dtype}", {**base.args, **changed}


def _cast(value: Any, dtype: str) -> Any:
    if isinstance(value, list):
        return [_cast(v, dtype) for v in value]
    if value.dtype == object:
        value = np.resize(np.arange(7), value.shape)
    if dtype == "string":
        words = [str(v).encode() for v in (np.arange(value.size) % 7).tolist()]
        return _exact(words, dtype).reshape(value.shape)
    if value.dtype.kind == "c" and dtype not in COMPLEX:
        value = value.real
    if value.dtype.kind in "fVc" and dtype in INTEGRAL:
        value = np.rint(np.nan_to_num(np.asarray(value, np.float64)) * 4)
    if dtype.startswith("u"):
        value = np.abs(value)
    return np.asarray(value).astype(NUMPY[dtype])


# -- attributes ---------------------------------------------------------------------


def _choices(base: Sample, declared: dict[str, Any]) -> Iterator[Change]:
    for name, attribute in declared["attrs"].items():
        if attribute["kind"] == "bool":
            values: list[Any] = [False, True]
        elif attribute["kind"] == "str":
            values = attribute.get("allowed", [])
        else:
            continue
        now = base.args.get(name, attribute.get("default"))
        for value in values:
            if value != now:
                yield f"{name} = {value!r}", {**base.args, name: value}


# -- shapes -------------------------------------------------------------------------


def _empty(base: Sample) -> Iterator[Change]:
    """Every dimension of the first array gone, wherever an array has one of its length."""
    first = next((a for _, a in _arrays(base.args) if a.ndim), None)
    if first is None:
        return
    for axis, size in enumerate(first.shape):
        if size < 2 or size in first.shape[:axis]:
            continue
        yield (f"without axis {axis}", _each(base.args, lambda a, s=size: _cut(a, first, s)))
    if all(a.ndim for _, a in _arrays(base.args)):
        yield "all empty", _each(base.args, lambda a: _cut(a, first, a.shape[0]))


def _cut(array: np.ndarray, first: np.ndarray, size: int) -> np.ndarray:
    """Without any of the elements along the dimensions of this length.

    Beside arrays of more dimensions a vector of integers is a shape, which is left as it is.
    """
    if first.ndim > 1 and array.ndim == 1 and array.dtype.kind == "i":
        return array
    return array[tuple(slice(0 if d == size else None) for d in array.shape)]


def _each(args: dict[str, Any], function: Any) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for name, value in args.items():
        if isinstance(value, np.ndarray):
            changed[name] = function(value)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            changed[name] = [function(v) for v in value]
        else:
            changed[name] = value
    return changed


# -- elements -----------------------------------------------------------------------


def special(dtype: str) -> list[Any]:
    """The numbers at the ends of a dtype, those that are none, and ordinary ones between."""
    if dtype == "bool":
        return [False, True]
    if dtype == "string":
        return [b"", b"a", b"ab", b"\xff", b"\0", b"\xc3\x9f"]
    if dtype in INTEGRAL:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        signed = [-3, -2, -1] if low else []
        return [low, low + 1, *signed, 0, 1, 2, 3, 7, high // 2, high - 1, high]
    if dtype in COMPLEX:
        parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0]
        return [complex(a, b) for a in parts for b in parts]
    info = ml_dtypes.finfo(NUMPY[dtype])
    sizes = [
        0.0, 2.0**20 * float(info.tiny), 0.9 * float(info.eps), 1e-3, 0.25, 0.5, 1.0, 1.5,
        2.0, 2.5, 3.25, 7.0, 11.0, 40.0, 300.0, 2.0**15, 0.9 * float(info.max),
        float(info.max), float("inf"),
    ]  # fmt: skip
    return [*sizes, *(-s for s in sizes), float("nan")]


def _elementwise(base: Sample, declared: dict[str, Any]) -> Iterator[Change]:
    inputs = {n: a for n, a in base.args.items() if isinstance(a, np.ndarray)}
    kinds = {declared["inputs"].get(n) for n in inputs}
    if len(kinds) != 1 or len(inputs) > 2:
        return
    yield "of single numbers", _each(base.args, lambda a: a.reshape(-1)[:1].reshape(()))
    if len(inputs) == 2:
        left, right = inputs.values()
        yield (
            "spread both ways",
            {**base.args, **dict(zip(inputs, _spread(left, right), strict=True))},
        )
    (kind,) = kinds
    attribute = declared["attrs"].get(kind)
    types = allowed(attribute) if attribute else [_name(next(iter(inputs.values())))]
    for dtype in types:
        numbers = _exact(special(dtype), dtype)
        if len(inputs) == 2:
            few = numbers[:: max(1, len(numbers) // 20)]
            few = (
                np.unique(np.concatenate([few, numbers[-2:]]))
                if dtype in (*FLOATING, *INTEGRAL)
                else few
            )
            columns = [np.repeat(few, len(few)), np.tile(few, len(few))]
        else:
            columns = [numbers]
        changed = dict(zip(inputs, columns, strict=True))
        yield f"at the ends of {dtype}", {**base.args, **changed}


def _spread(left: np.ndarray, right: np.ndarray) -> list[np.ndarray]:
    return [left.reshape(-1)[:4].reshape(-1, 1), right.reshape(-1)[:3].reshape(1, 1, -1)]


def _exact(values: list[Any], dtype: str) -> np.ndarray:
    if dtype == "string":
        result = np.empty(len(values), object)
        result[:] = values
        return result
    with np.errstate(over="ignore"):
        return (
            np.array(values).astype(NUMPY[dtype])
            if dtype not in INTEGRAL
            else np.array(values, NUMPY[dtype])
        )
