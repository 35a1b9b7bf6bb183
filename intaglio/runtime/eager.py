"""Eager tensors and the level that computes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.errors import OpError, ShapeError
from intaglio.ir.leaks import leaked
from intaglio.opdef import door, operators, slicing
from intaglio.opdef.door import STATE, Level
from intaglio.opdef.keys import fresh
from intaglio.opdef.levels import leave_out_package
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.executors import EXECUTORS, executor_of
from intaglio.runtime.hooks import HOOKS, Method
from intaglio.runtime.value import Valued


class EagerTensor(Valued):
    """A tensor with a value: a NumPy array, or the object behind a resource or variant."""

    # Libraries keep notes of their own on tensors: Keras masks and logits. Slices of
    # variables have `assign`.
    __slots__ = ("__dict__", "__weakref__", "_array", "_key")

    _array: Any
    _key: int

    def __reduce__(self) -> Any:
        return from_array, (self._array,)


def from_array(array: Any) -> EagerTensor:
    """An eager tensor around the array, which must not be written to afterwards."""
    tensor = EagerTensor()
    tensor._array = array
    return tensor


def spec_of(tensor: EagerTensor) -> Spec:
    """The tensor's spec, value included; of a resource, the spec of what it contains."""
    array = tensor._array
    return Spec(
        tensor.dtype,
        tensor.dims,
        array if isinstance(array, (np.ndarray, np.generic)) else getattr(array, "spec", None),
    )


# Node names that public functions choose when the user does not: errors leave them out.
DEFAULT_NAMES = frozenset(
    (
        "Abs", "Add", "Const", "MatMul", "MaxPool2d", "AvgPool2D", "Repeat",
        "SequenceMask/Less", "add", "clip_by_value", "eye/diag", "floordiv",
        "histogram_fixed_width", "mod", "mul", "one_hot", "ones_like", "packed", "pow",
        "range", "softmax_cross_entropy_with_logits", "sub", "transpose", "truediv",
        "zeros_like",
    )
)  # fmt: skip


class _NoScope:
    """The name scope of eager ops, which have no names."""

    __slots__ = ()

    def __enter__(self) -> str:
        return ""

    def __exit__(self, *error: Any) -> None:
        return None


_NO_SCOPE = _NoScope()


class EagerLevel(Level):
    """Computes at once with the ops' NumPy kernels."""

    eager = True

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        if EXECUTORS:
            run = executor_of(inputs)
            if run is not None:
                return run(op, inputs, attrs, name)
        try:
            arrays = [t._array for t in inputs]
        except AttributeError:
            raise _symbolic_outside(op, inputs) from None
        try:
            if op.plain and op.kernel_fn is not None:
                compute = op.by_dtype.get(arrays[0].dtype) if op.by_dtype else None
                result = (compute or op.kernel_fn)(*arrays)
            elif op.kernel_fn is not None:
                result = interpreter.call_kernel(op, arrays, attrs)
            else:
                return _decomposed(op, inputs, attrs)
        except Exception as e:
            if op.has_graphs and interpreter.is_users(e):
                raise
            raise explain(op, inputs, attrs, name, e) from None
        return wrap_result(op, result)

    def quick(self, op: Op, args: tuple[Any, ...]) -> Any:
        first = args[0]
        if type(first) is not EagerTensor:
            return None
        x = first._array
        dtype = x.dtype
        compute = op.quick_fn
        if dtype not in op.stored:
            compute = op.by_dtype.get(dtype)
            if compute is None:
                return None
        tensor = EagerTensor()
        try:
            if len(args) == 1:
                tensor._array = compute(x)
            else:
                second = args[1]
                if type(second) is not EagerTensor or second._array.dtype is not dtype:
                    return None
                tensor._array = compute(x, second._array)
        except Exception:  # the slow path raises the right error
            return None
        if self.watchers:
            tensor._key = fresh()
            for watcher in self.watchers:
                watcher.record(op, op.defaults, args, (tensor,))
        return tensor

    def constant(self, array: Any, name: str | None = None) -> Tensor:
        return from_array(array)

    def scoped(self, name: str | None) -> Any:
        return _NO_SCOPE


def wrap_result(op: Op, result: Any) -> list[Tensor]:
    """A kernel's result as flat eager tensors."""
    if op.result is None and not op.has_list_outputs:
        if not op.output_names:
            return []
        tensor = EagerTensor()
        tensor._array = result
        return [tensor]
    return [from_array(a) for a in interpreter.flat_result(op, result)]


def _decomposed(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    rule = op.rules.get("decompose")
    if rule is None:
        raise errors.UnimplementedError(None, None, f"op {op.name} has no kernel")
    with door.unwatched():
        result = rule(**op.known(inputs, attrs))
    if isinstance(result, Tensor):
        return [result]
    flat: list[Tensor] = []
    for item in result:
        flat.extend(item) if isinstance(item, list) else flat.append(item)
    return flat


def _symbolic_outside(op: Op, inputs: Sequence[Tensor]) -> Exception:
    tensor = next(t for t in inputs if not isinstance(t, EagerTensor))
    return leaked(tensor)


def explain(
    op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None, error: Exception
) -> Exception:
    """TensorFlow's error for a kernel's failure; shape inference often has a better message."""
    where = f" [Op:{op.name}]"
    if name is not None:
        where += f" name: {'' if name in DEFAULT_NAMES else name}"
    if isinstance(error, OpError):
        if "[Op:" not in error.message:
            error._message = error.message + where
        return error
    if isinstance(error, (ShapeError, errors.InaccessibleTensorError)):
        text = getattr(error, "eager", str(error))
        return errors.InvalidArgumentError(None, None, text + where)
    if isinstance(error, NotImplementedError):
        return error
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(None, None, f"{error}{where}")
    try:
        op.output_specs([spec_of(t) for t in inputs], attrs)  # type: ignore[arg-type]  # all of them are eager here
    except (ValueError, TypeError) as better:
        text = getattr(better, "eager", str(better))
        return errors.InvalidArgumentError(None, None, text + where)
    except Exception:  # inference failed for another reason: keep the kernel's error
        pass
    kind = errors.from_kernel(error, op.reaches_outside)
    if isinstance(error, TypeError):
        kind = errors.InvalidArgumentError
    if kind is None:
        return error
    shown = ", ".join(f"{t.dtype.name}{t.dims}" for t in inputs)
    return kind(None, None, f"{error} (inputs: {shown}){where}")


# -- the fast path of operators ------------------------------------------------------


# Types of objects that have a tensor as value, and functions that return it: an eager tensor, or
# None while a tape or graph is open.
_READERS: dict[type, Callable[[Any], EagerTensor | None]] = {}


def register_reader(kinds: Sequence[type], reader: Callable[[Any], EagerTensor | None]) -> None:
    """Lets operators take objects of these types, whose values `reader` gives."""
    _READERS.update(dict.fromkeys(kinds, reader))


# Python integers in this range fit every integer type: no overflow, no wrong answer.
TINY = range(128)
# Python numbers smaller than this are finite in every floating-point type.
SAFE = 6e4
_NUMBERS = frozenset((int, float))
# Before NumPy 2 a Python number makes float64 of an array without dims.
WEAK = np.result_type(np.zeros((), np.float32), 1.0) == np.float32


def _fast_binary(op: Op, slow: Callable[[Any, Any], Any], reverse: bool) -> Any:
    """`a + b` of two eager tensors while no tape or graph is open: one look-up and the ufunc.

    A Python number is passed to the ufunc unchanged, if the ufunc converts it to the tensor's dtype.
    """
    compute, allowed = op.quick_fn, op.stored
    floats = frozenset([d for d in allowed if d.kind == "f"])
    integers = frozenset([d for d in allowed if d.kind in "iu"])
    state, readers, weak = STATE, _READERS, WEAK

    def operate(self: EagerTensor, other: Any) -> Any:
        try:
            if state.unusual:
                value = other
                if type(other) is float or type(other) is int:
                    dtype = self._array.dtype
                    if (dtype in floats and -SAFE < other < SAFE) or (
                        dtype in integers and type(other) is int and other in TINY
                    ):
                        # Where a graph is recorded, `quick` declines and the number continues.
                        value = from_array(np.array(other, dtype))
                elif type(other) is not EagerTensor and type(other) in readers:
                    value = readers[type(other)](other)
                if type(value) is EagerTensor and not door.INSPECTORS:
                    pair = (value, self) if reverse else (self, value)
                    done = door.level().quick(op, pair)
                    if done is not None:
                        return done
                plain = value is None or type(other) in _NUMBERS
                return slow(self, other if plain else value)
            x = self._array
            dtype = x.dtype
            if type(other) is EagerTensor:
                y = other._array
                if y.dtype is not dtype or dtype not in allowed:
                    return slow(self, other)
            elif type(other) is float:
                if dtype not in floats:
                    return slow(self, other)
                y = other if weak else dtype.type(other)
            elif type(other) is int:
                if dtype not in floats and not (dtype in integers and other in TINY):
                    return slow(self, other)
                y = other if weak else dtype.type(other)
            elif type(other) in readers:
                value = readers[type(other)](other)
                return slow(self, other) if value is None else operate(self, value)
            else:
                return slow(self, other)
            tensor = EagerTensor()
            try:
                tensor._array = compute(y, x) if reverse else compute(x, y)
            except Exception:  # the slow path raises the right error
                return slow(self, other)
            return tensor
        except Exception as e:
            leave_out_package(e)
            raise

    return operate if reverse else _of_two(compute, allowed, slow, operate)


def _of_two(compute: Any, allowed: frozenset[Any], slow: Any, operate: Any) -> Any:
    """The operator with a fast path for two eager tensors of one dtype, before all other cases."""
    state = STATE

    def common(self: EagerTensor, other: Any) -> Any:
        try:
            if type(other) is not EagerTensor or state.unusual:
                return operate(self, other)
            x = self._array
            y = other._array
            dtype = x.dtype
            if y.dtype is not dtype or dtype not in allowed:
                return slow(self, other)
            tensor = EagerTensor()
            try:
                tensor._array = compute(x, y)
            except Exception:  # the slow path raises the right error
                return slow(self, other)
            return tensor
        except Exception as e:
            leave_out_package(e)
            raise

    return common


# The special methods that may be replaced by native ones.
ARITHMETIC = tuple([f"__{r}{n}__" for n in ("add", "sub", "mul", "truediv") for r in ("", "r")])


class _Countdown:
    """Operators that count their calls, and are replaced by native ones once that is worth compiling."""

    # By then the calls have taken about as long as compiling the native operators does.
    CALLS = 50_000

    def __init__(self) -> None:
        self._left = self.CALLS
        self._methods: dict[str, Method] = {}

    def counting(self, special: str, method: Method) -> Method:
        """The method, counting its calls."""
        self._methods[special] = method

        def counted(self_: Any, other: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                self._enough()
            try:
                return method(self_, other)
            except Exception as e:
                leave_out_package(e)
                raise

        return counted

    def _enough(self) -> None:
        methods, self._methods = self._methods, {}
        for special, method in methods.items():
            setattr(EagerTensor, special, method)
        for special, operator in (HOOKS.native_operators(methods) if methods else {}).items():
            # Operators may have been exchanged meanwhile.
            if EagerTensor.__dict__[special] is methods[special]:
                setattr(EagerTensor, special, operator)


_INDEX_TYPES = frozenset((int, type(None), type(Ellipsis)))


def _is_plain(entry: Any) -> bool:
    """True for an index that NumPy and TensorFlow interpret in the same way."""
    kind = type(entry)
    if kind is slice:
        return (
            type(entry.start) in _INDEX_TYPES
            and type(entry.stop) in _INDEX_TYPES
            and type(entry.step) in _INDEX_TYPES
        )
    return kind in _INDEX_TYPES


def _fast_getitem(slow: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`x[...]` of integers, slices, `...` and new axes, while no tape or graph is open."""
    state = STATE
    stored = np.ndarray

    def getitem(self: EagerTensor, spec: Any) -> Any:
        try:
            array = self._array
            if type(array) is not stored or array.dtype == object:
                return slow(self, spec)
            if state.unusual and not _unseen(self):
                return slow(self, spec)
            kind = type(spec)
            if kind is not int and not (
                all(map(_is_plain, spec)) if kind is tuple else _is_plain(spec)
            ):
                return slow(self, spec)
            tensor = EagerTensor()
            try:
                tensor._array = array[spec]
            except Exception:  # the slow path raises the right error
                return slow(self, spec)
            return tensor
        except Exception as e:
            leave_out_package(e)
            raise

    return getitem


def _unseen(tensor: EagerTensor) -> bool:
    """True if this thread executes ops eagerly, and no tape watches the tensor."""
    here = door.level()
    return (
        here.eager
        and not door.INSPECTORS
        and not any([w.depends((tensor,)) for w in here.watchers])
    )


def _alone(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A unary operator, which removes this package's frames from the traceback of its errors."""

    def operator(self: EagerTensor) -> Any:
        try:
            return method(self)
        except Exception as e:
            leave_out_package(e)
            raise

    return operator


def install_fast_operators(getitem: Callable[[Any, Any], Any] = slicing.OPERATOR) -> None:
    """Gives EagerTensor its fast operators, which fall back on those of Tensor.

    Called once the catalogue is there, and again when Tensor's operators were exchanged.
    """
    countdown = _Countdown()
    for special, (op_of, slow) in operators.FAST.items():
        reverse = special.startswith("__r")
        method = _fast_binary(op_of(), slow, reverse)
        if special in ARITHMETIC:
            method = countdown.counting(special, method)
        setattr(EagerTensor, special, method)
    EagerTensor.__getitem__ = _fast_getitem(getitem)  # type: ignore[attr-defined]  # installed like the operators
    for special in ("__neg__", "__abs__", "__invert__"):
        setattr(EagerTensor, special, _alone(Tensor.__dict__[special]))
    EagerTensor.__hash__ = Tensor.__hash__
