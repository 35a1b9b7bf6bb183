"""The counterpart of the module `numpy` for kernels that are recorded as ops.

The arrays that its functions create may be assigned to, so they are symbolic, with known elements until unknown
ones are assigned. A condition on data selects among paths (`runtime/kernel_paths.py`); an error becomes an
assertion.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.base.errors import OpError
from intaglio.ir.graph import Node
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops import restricted
from intaglio.ops.array import grouping
from intaglio.optimize.symbolic_arrays import (
    NotSymbolic,
    SymbolicArray,
    known_parts,
    tensor_of,
    wrapped,
)
from intaglio.optimize.symbolic_functions import distinct
from intaglio.optimize.symbolic_loops import run_loops
from intaglio.runtime import interpreter, retargeted_kernels
from intaglio.runtime.kernel_paths import explored
from intaglio.runtime.retargeted_kernels import Retargeting
from intaglio.trace.graph import record

# Messages of kernels name elements; a message in a program must not depend on the data.
MAX_MESSAGE = 200


class ScalarType(retargeted_kernels.ScalarType):
    """The counterpart of a NumPy scalar type, which casts symbolic arrays."""

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, SymbolicArray) and value.known is None:
            return value.astype(self.dtype)
        return self.real(np.asarray(value) if isinstance(value, SymbolicArray) else value)


class _NumberType(type):
    """The counterpart of a Python number type, for `float(x)` in a kernel."""

    real: type

    def __call__(cls, value: Any = 0, *options: Any) -> Any:
        if isinstance(value, SymbolicArray) and value.known is None:
            if value.size != 1:
                raise NotSymbolic("several elements as a number")
            if cls.real is int and value.has_few_numbers:  # usually a size
                return int(value)
            wide = value.reshape(()).astype(cls.real)
            return SymbolicArray(wide.value, number=cls.real)
        return cls.real(value, *options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.real)


class _Float(metaclass=_NumberType):
    real = float
    dtype = np.dtype(float)


class _Int(metaclass=_NumberType):
    real = int
    dtype = np.dtype(int)


def _array(value: Any, dtype: Any = None, **options: Any) -> Any:
    """`np.array`: a copy."""
    if isinstance(value, SymbolicArray):
        return value.copy() if dtype is None else value.astype(dtype)
    known = known_parts(value)
    if known is None:
        found = np.stack([_as_array(v, None) for v in value])
        return found if dtype is None else found.astype(dtype)
    return wrapped(np.array(known, dtype))


def _as_array(value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(value, SymbolicArray):
        return value if dtype is None else value.astype(dtype, copy=False)
    if isinstance(value, np.ndarray) and (dtype is None or value.dtype == dtype):
        return value
    return _array(value, dtype)


def _arange(*numbers: Any, dtype: Any = None, **options: Any) -> Any:
    """`np.arange`: of integers whose values determine the size, or of known floats."""
    fixed = [
        int(n) if isinstance(n, SymbolicArray) and n.known is None else known_parts(n)
        for n in numbers
    ]
    return wrapped(np.arange(*fixed, dtype=dtype))


_OWN: dict[str, Callable[..., Any]] = {
    "array": _array, "asarray": _as_array, "asanyarray": _as_array, "ascontiguousarray": _as_array,
    "require": _as_array, "arange": _arange,
}  # fmt: skip
# Functions whose results are numbers, strings or dtypes, not arrays.
_PLAIN = ("errstate", "dtype", "finfo", "iinfo", "result_type", "broadcast_shapes", "issubdtype")


class Module:
    """The namespace. `np.name` is NumPy's own, except that arrays it creates are symbolic."""

    def __init__(self, real: Any = np) -> None:
        self._real = real
        self._found: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "random":
            raise NotSymbolic("random numbers that are others in each run")
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._adapted(name, getattr(self._real, name))
        return found

    def _adapted(self, name: str, real: Any) -> Any:
        if self._real is np and name in _OWN:
            return _OWN[name]
        if isinstance(real, type(np)):
            return Module(real)
        if isinstance(real, type):
            return self.scalar_type(real) if issubclass(real, np.generic) else real
        if not callable(real) or isinstance(real, np.ufunc) or name in _PLAIN:
            return real
        return self.function(real)

    def ufunc(self, ufunc: Any) -> Any:
        """The counterpart of a ufunc: itself, as it dispatches to `__array_ufunc__` of its operands."""
        return ufunc

    def scalar_type(self, kind: Any) -> Any:
        """The counterpart of a scalar type; abstract types are their own."""
        try:
            np.dtype(kind)
        except TypeError:
            return kind
        return ScalarType(kind)

    def table(self, array: Any) -> Any:
        """The counterpart of a module's array: symbolic with known elements, for computed indices."""
        if array.dtype == object:
            return array
        fixed = array.view()
        fixed.flags.writeable = False
        return SymbolicArray(fixed)

    def function(self, function: Any) -> Any:
        """The counterpart of a NumPy function, whose results may be assigned to."""
        own = _OWN.get(getattr(function, "__name__", ""))
        if own is not None:
            return own

        @functools.wraps(function)
        def adapted(*arguments: Any, **options: Any) -> Any:
            return wrapped(function(*arguments, **options))

        return adapted


MODULE = Module()
_BUILTINS = {"float": _Float, "int": _Int}
RETARGETING = Retargeting(MODULE, {grouping.distinct: distinct}, _BUILTINS)
# The same with loops over elements as an op, which native code alone has.
WITH_LOOPS = Retargeting(
    MODULE, {grouping.distinct: distinct, restricted.run_loops: run_loops}, _BUILTINS
)


# -- recording a kernel ------------------------------------------------------------------------


class _Run(NamedTuple):
    """The results of a recorded kernel: tensors, unless every path raises, and the condition of an error."""

    results: list[Any] | None
    # The condition under which the kernel raises; None if it never does.
    failed: Any
    message: str


def recorded(op: Op, node: Node, inputs: Sequence[Any], loops: bool = False) -> list[Any]:
    """The outputs of an op's kernel for symbolic arrays, as ops; errors that depend on data are assertions.

    `loops` says that loops over elements may be an op.

    Raises NotSymbolic, or any error that code for arrays raises for a symbolic one.
    """
    retargeted = (WITH_LOOPS if loops else RETARGETING).op(op)

    def run() -> Any:
        copies = [a.copy() if isinstance(a, SymbolicArray) else a for a in inputs]
        found = interpreter.call_kernel(retargeted, copies, node.attrs)
        return _Run([_tensor(r) for r in interpreter.flat_result(op, found)], None, "")

    found = _run_of(explored(run, _chosen))
    if found.results is None:
        raise NotSymbolic(found.message)
    if found.failed is not None:
        raw._Refusal(raw.LogicalNot(found.failed), text=found.message)
    return found.results


def _tensor(result: Any) -> Any:
    if isinstance(result, SymbolicArray) or not isinstance(result, np.ndarray):
        return tensor_of(result)
    return tensor_of(np.ascontiguousarray(result).reshape(result.shape))


def _run_of(found: Any) -> _Run:
    if isinstance(found, OpError):
        return _Run(None, None, str(found.message)[:MAX_MESSAGE])
    return found


def _chosen(condition: Any, outcomes: list[Any]) -> _Run:
    """The results for all outcomes of a condition, combined into one."""
    runs = [_run_of(o) for o in outcomes]
    return _selected(condition, *runs[::-1]) if len(runs) == 2 else _among(condition, runs)


def _among(index: Any, runs: list[_Run]) -> _Run:
    """The results for each number of elements, as a Case whose branches have results of different shapes."""
    fine = [r for r in runs if r.results is not None]
    if not fine:
        return runs[0]
    message = next((r.message for r in runs if r.message), "")
    # On paths that raise, the result is arbitrary.
    results = [fine[0].results if r.results is None else r.results for r in runs]
    failures = [np.True_ if r.results is None else r.failed for r in runs]
    failed = None
    if any([f is not None for f in failures]):
        bits = [
            tensor_of(np.asarray(np.False_ if f is None else f)) if not hasattr(f, "dims") else f
            for f in failures
        ]
        failed = raw.GatherV2(raw.Pack(bits, axis=0), index, np.int32(0))
    return _Run(_case(index, results), failed, message)


def _case(index: Any, results: Sequence[Any]) -> list[Any]:
    """A Case whose branches return the results of the given number."""
    operands = list({id(v): v for many in results for v in many}.values())
    specs = [(v.dtype, v.dims, f"x{i}") for i, v in enumerate(operands)]
    bodies: list[Any] = []
    for many in results:
        places = [next(i for i, v in enumerate(operands) if v is one) for one in many]
        graph, found = record(
            lambda *tensors, places=places: [raw.Identity(tensors[i]) for i in places],
            "branch",
            specs,
        )
        graph.outputs.extend(found)
        bodies.append(graph.freeze_function())
    return [
        *raw.StatelessCase(index, operands, branches=bodies, Tout=[v.dtype for v in results[0]])
    ]


def _selected(condition: Any, one: _Run, other: _Run) -> _Run:
    """The results selected by a condition."""
    message = one.message or other.message
    if one.results is None or other.results is None:
        if one.results is other.results:
            return one
        holds = condition if one.results is None else raw.LogicalNot(condition)
        rest = other if one.results is None else one
        failed = holds if rest.failed is None else raw.LogicalOr(holds, rest.failed)
        return _Run(rest.results, failed, message)
    if [v.dtype for v in one.results] != [v.dtype for v in other.results]:
        raise NotSymbolic("the dtype of its result depends on data")
    if [v.dims for v in one.results] != [v.dims for v in other.results]:
        return _among(raw.Cast(condition, DstT=int32), [other, one])
    failed = other.failed
    if one.failed is not None or other.failed is not None:
        no_failure = np.False_
        failed = raw.SelectV2(
            condition,
            no_failure if one.failed is None else one.failed,
            no_failure if other.failed is None else other.failed,
        )
    results = [
        a if a is b else raw.SelectV2(condition, a, b)
        for a, b in zip(one.results, other.results, strict=True)
    ]
    return _Run(results, failed, message)


__all__ = ["MODULE", "RETARGETING", "recorded"]
