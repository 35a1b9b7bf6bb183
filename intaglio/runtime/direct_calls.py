"""The fast path of eager calls: for each op one generated function from arguments to result.

The door handles any call: it binds, converts and checks. Most calls need no conversion, as they have
tensors, short lists of integers and valid attributes. For those the function generated here calls the
kernel directly. It declines all other calls; the door executes them and raises all errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import BY_NUMPY, DType
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.memory import MIN_ALIGNED_BYTES, copied
from intaglio.opdef import convert, door, elements, short_floats
from intaglio.opdef.keys import fresh
from intaglio.opdef.op import Op
from intaglio.opdef.signature import REQUIRED, Arg, Attr
from intaglio.runtime import interpreter
from intaglio.runtime.eager import TINY, EagerTensor, from_array
from intaglio.runtime.hooks import SERVICES

DECLINED = door.DECLINED
Direct = Callable[..., Any]

_INT32 = dtypes.int32.numpy
_FLOAT32 = dtypes.float32.numpy
# What Python floats become without a second look, and how large they may be.
_LIMITS = {
    dtypes.float16.numpy: 6e4,
    dtypes.bfloat16.numpy: 3e38,
    _FLOAT32: 3e38,
    dtypes.float64.numpy: 1e308,
    dtypes.complex64.numpy: 3e38,
    dtypes.complex128.numpy: 1e308,
}
_WIDE = (_FLOAT32, dtypes.float64.numpy)
_NUMBERS = frozenset([d.numpy for d in dtypes.ALL if d.is_integer]) | _LIMITS.keys()


def literal(value: Any, dtype: Any, allowed: frozenset[Any]) -> Any:
    """A Python value as an array of `dtype` (None: its default dtype); None if the door has to convert it."""
    kind = type(value)
    if kind is int:
        if dtype is None or dtype is _INT32:
            if _INT32 in allowed and -0x80000000 <= value <= 0x7FFFFFFF:
                return np.array(value, _INT32)
        elif dtype in _NUMBERS and value in TINY:
            return np.array(value, dtype)
    elif kind is float:
        dtype = dtype or _FLOAT32
        limit = _LIMITS.get(dtype)
        if limit is not None and dtype in allowed and -limit < value < limit:
            return np.array(value, dtype)
    elif kind is list or kind is tuple:
        found = None
        if (dtype is None or dtype is _INT32) and _INT32 in allowed:
            found = elements.short_integers(value)
            found = elements.short_rows(value) if found is None else found
        dtype = dtype or _FLOAT32
        if found is None and dtype in _WIDE and dtype in allowed:
            found = elements.short_floats(value, dtype, _LIMITS[dtype])
        return found
    elif kind is np.ndarray and value.dtype in allowed and value.dtype.kind != "O":
        if dtype is not None and value.dtype is not dtype:
            return None
        return value.copy() if value.nbytes < MIN_ALIGNED_BYTES else copied(value)
    return None


def listed(values: Any, allowed: frozenset[Any]) -> Any:
    """The arrays of a list of eager tensors of one dtype; None for any other value."""
    kind = type(values)
    if (kind is not list and kind is not tuple) or not values:
        return None
    arrays: list[Any] = []
    first: Any = None
    for value in values:
        if type(value) is not EagerTensor:
            return None
        array = value._array
        if array.dtype is not first:
            if first is not None or array.dtype not in allowed:
                return None
            first = array.dtype
        arrays.append(array)
    return arrays


def record(
    watchers: Any, op: Op, attrs: dict[str, Any], operands: Any, used: Any, outputs: Any
) -> None:
    """Notifies the watchers of a call; inputs that were passed as tensors are passed on as they are."""
    inputs: list[Any] = []
    for value, array in zip(operands, used, strict=True):
        if type(array) is list:
            inputs.extend(value)
        else:
            inputs.append(value if type(value) is EagerTensor else from_array(array))
    for tensor in outputs:
        tensor._key = fresh()
    for watcher in watchers:
        watcher.record(op, attrs, inputs, outputs)


def decline(watchers: Any, *args: Any, **kwargs: Any) -> Any:
    """The function of ops whose calls always go through the door."""
    return DECLINED


def direct(op: Op) -> Direct:
    """The op's function of `(watchers, *inputs, *attributes)`; it may return DECLINED."""
    return _DirectCallSource(op).function() if _is_able(op) else decline


def _is_able(op: Op) -> bool:
    if op.kernel_fn is None or op.has_graphs or not op.output_names:
        return False
    if op.stateful and (not op.is_random or op.has_lists):
        return False
    for arg in op.sig.inputs:
        if arg.types or arg.var in op.attr_names or not _stored(op, arg):
            return False
    known = {*op.input_names, *op.attr_names, *op.vars}
    known |= {a.number for a in op.sig.inputs}
    for kind, key in op.kernel_order:
        if kind == "service":
            if hasattr(getattr(SERVICES, key), "for_call") and key != "stream":
                return False
        elif kind != "input" and key not in known:
            return False
    return True


def _stored(op: Op, arg: Arg) -> frozenset[Any]:
    """The NumPy dtypes that an input may have."""
    fixed, allowed = op.slots[op.input_names.index(arg.name)][1:]
    types = (fixed,) if fixed is not None else tuple(allowed or ())
    return frozenset([d.numpy for d in types if d.is_numpy_compatible])


def _kernel_of(op: Op) -> Any:
    """The kernel of eager calls of all dtypes."""
    whole = op.plain and op.quick >= 0 and not hasattr(type(op), "quick_types")
    return op.quick_fn if whole else op.kernel_fn


class _DirectCallSource:
    """Generates the source of one op's function."""

    def __init__(self, op: Op) -> None:
        self.op = op
        self.lines: list[str] = []
        self.names: dict[str, Any] = {
            f"_{function.__name__}": function
            for function in (
                EagerTensor,
                literal,
                listed,
                record,
                convert.attribute,
                from_array,
                interpreter.flat_result,
                door.pack,
            )
        }
        self.names |= {
            "_DECLINED": DECLINED,
            "_REQUIRED": REQUIRED,
            "_BY_NUMPY": BY_NUMPY,
            "_op": op,
            "_kernel": short_floats.dispatched(op.by_dtype, _kernel_of(op)),
        }
        # The expression of the array that determines each type variable.
        self.deciding: dict[str, str] = {}

    def function(self) -> Direct:
        """The function, compiled."""
        op = self.op
        head = ["_watchers", *op.input_names]
        for attr in op.sig.attrs:
            self.names[f"_default_{attr.name}"] = attr.default
            head.append(f"{attr.name}=_default_{attr.name}")
        for attr in op.sig.attrs:
            self._attribute(attr)
        for n, arg in enumerate(op.sig.inputs):
            self._input(n, arg)
        self._call()
        body = "\n    ".join(self.lines)
        text = f"def _direct({', '.join(head)}):\n    {body}\n"
        return GeneratedCode(f"eager {op.name}", text, self.names).function("_direct")

    def _attribute(self, attr: Attr) -> None:
        name = attr.name
        if attr.default is REQUIRED:
            self.lines.append(f"if {name} is _REQUIRED: return _DECLINED")
        easy = {"bool": "bool", "int": "int", "type": "DType", "str": "str"}
        kind = easy.get(attr.kind)
        condition = f"{name} is not _default_{name}"
        if kind is not None:
            self.names["_DType"] = DType
            known = "_DType" if kind == "DType" else kind
            condition += f" and {name}.__class__ is not {known}"
        self.lines.append(f"if {condition}: {name} = _attribute({name}, {attr.kind!r})")
        if name in self.op.limits:
            self.names[f"_limits_{name}"] = (*self.op.limits[name], None)
            self.lines.append(f"if {name} not in _limits_{name}: return _DECLINED")

    def _input(self, n: int, arg: Arg) -> None:
        op, x, name = self.op, f"_x{n}", arg.name
        allowed = self.names[f"_types{n}"] = _stored(op, arg)
        decided = self.deciding.get(arg.var or "")
        if arg.is_list:
            self.lines.append(f"{x} = _listed({name}, _types{n})")
            check = f"{x} is None"
            if decided:
                check += f" or {x}[0].dtype is not {decided}"
            self.lines.append(f"if {check}: return _DECLINED")
            self.deciding.setdefault(arg.var or "", f"{x}[0].dtype")
            return
        if arg.dtype is not None:
            self.names[f"_fixed{n}"] = arg.dtype.numpy
            wrong, wanted = f"{x}.dtype is not _fixed{n}", f"_fixed{n}"
        elif decided:
            wrong, wanted = f"{x}.dtype is not {decided}", decided
        else:
            wrong, wanted = f"{x}.dtype not in _types{n}", "None"
            if len(allowed) == len(dtypes.ALL):
                wrong = "False"
        self.lines.append(f"if {name}.__class__ is _EagerTensor:")
        self.lines.append(f"    {x} = {name}._array")
        self.lines.append(f"    if {wrong}: return _DECLINED")
        # A later tensor takes precedence in determining the type.
        later = [a for a in op.sig.inputs[n + 1 :] if arg.var == a.var] if arg.var else []
        if not decided and any(a.is_list for a in later):
            self.lines.append("else: return _DECLINED")
        else:
            for other in [] if decided else later:
                self.lines.append(f"elif {other.name}.__class__ is _EagerTensor:")
                self._literal(n, f"{other.name}._array.dtype", f" or {x}.dtype not in _types{n}")
            self.lines.append("else:")
            self._literal(n, wanted)
        self.deciding.setdefault(arg.var or "", f"{x}.dtype")

    def _literal(self, n: int, dtype: str, refused: str = "") -> None:
        """The array of a Python value of a dtype, unless the door has to convert it."""
        x, name = f"_x{n}", self.op.input_names[n]
        self.lines.append(f"    {x} = _literal({name}, {dtype}, _types{n})")
        self.lines.append(f"    if {x} is None{refused}: return _DECLINED")

    def _argument(self, kind: str, key: Any) -> str:
        """An argument of the kernel."""
        if kind == "input":
            return f"_x{key}"
        if kind == "service":
            self.names[f"_service_{key}"] = getattr(SERVICES, key)
            return self._stream() if key == "stream" else f"_service_{key}"
        if kind == "attr":
            return self._counts().get(key) or key
        return f"_BY_NUMPY[{self.deciding[key]}]"

    def _stream(self) -> str:
        """The state of a random op for a call."""
        types = [f"{var!r}: _BY_NUMPY[_x{at}.dtype]" for var, at in self.op.typed_by]
        attrs = [f"{name!r}: {name}" for name in self.op.attr_names]
        return f"_service_stream.for_call(_op, {{{', '.join(types)}}}, {{{', '.join(attrs)}}})"

    def _counts(self) -> dict[str, str]:
        """The lengths of tensor lists, by the attributes that count them."""
        return {arg.number: f"len(_x{n})" for n, arg in enumerate(self.op.sig.inputs) if arg.number}

    def _call(self) -> None:
        op, add = self.op, self.lines.append
        arguments = ", ".join([self._argument(*source) for source in op.kernel_order])
        add("try:")
        add(f"    _r = _kernel({arguments})")
        add("except Exception:")  # the door raises the right error
        add("    return _DECLINED")
        pairs = {n: n for n in op.attr_names} | self._counts()
        attrs = ", ".join([f"{k!r}: {v}" for k, v in pairs.items()])
        inputs = "".join([f"{n}, " for n in op.input_names])
        used = "".join([f"_x{n}, " for n in range(len(op.input_names))])
        shown = f"_record(_watchers, _op, {{{attrs}}}, ({inputs}), ({used}), _outputs)"
        if op.result is None and not op.has_list_outputs:
            add("_t = _EagerTensor()")
            add("_t._array = _r")
            add("if _watchers:")
            add("    _outputs = (_t,)")
            add(f"    {shown}")
            add("return _t")
            return
        add("_outputs = [_from_array(_a) for _a in _flat_result(_op, _r)]")
        add(f"if _watchers: {shown}")
        add(f"return _pack(_op, _outputs, {{{attrs}}})")
