"""How ops are written as NumPy: the text of one expression for a node.

It follows from what the op declares: a kernel that is one of NumPy's functions, a `scalar` rule, the
trait `reduces`. The others have a form here, registered with the op: a template of its inputs and
attributes, or a function of the `Call`. An op without any has None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw
from intaglio.opdef.scalar import NumpyScalars

if TYPE_CHECKING:
    from intaglio.opdef.late import OpReference
    from intaglio.opdef.op import Op

# Texts that are longer get a name of their own where they are part of another.
MAX_INLINE_CHARACTERS = 48

Form = Callable[["Call"], str | None]
FORMS: dict[str, Form] = {}


class Argument(str):
    """The text of an input: `{x}`, as `{x:int}` or `{x:tuple}` of Python numbers where it must be."""

    __slots__ = ("known",)
    known: Any

    def __format__(self, form: str) -> str:
        if form == "int":
            return str(int(self.known)) if self.known is not None else f"int({self})"
        if form == "tuple":
            if self.known is not None:
                return str(tuple(np.ravel(self.known).tolist()))
            return f"tuple(np.ravel({self}).tolist())"
        return str(self)


class Call:
    """A node to write: the texts of its inputs by name, its attributes, lines that come before it."""

    def __init__(
        self,
        node: Node,
        inputs: list[str],
        functions: Mapping[int, str],
        new_name: Callable[[str], str],
    ) -> None:
        self.node = node
        self.op = node.op
        self.functions = functions
        self.new_name = new_name
        self.lines: list[str] = []
        self.texts = [self._argument(t, i) for i, t in enumerate(inputs)]
        grouped = self.op.sig.group(self.texts, node.attrs)
        self.inputs: dict[str, Any] = dict(zip(self.op.input_names, grouped, strict=True))
        # Whether the expression is a tuple although there is one output.
        self.is_tuple = False

    def _argument(self, text: str, index: int) -> Argument:
        found = Argument(text)
        source = self.node.inputs[index].node
        found.known = source.attrs["value"] if source.op is raw.Const else None
        return found

    def attribute(self, name: str) -> Any:
        """An attribute as a template shows it."""
        value = self.node.attrs[name]
        if isinstance(value, DType):
            return dtype_text(value.numpy)
        if isinstance(value, Graph):
            return self.functions[id(value)]
        return value

    def named(self, text: str) -> str:
        """A name for a text, defined by a line before."""
        name = self.new_name("t")
        self.lines.append(f"{name} = {text}")
        return name

    def fields(self) -> dict[str, Any]:
        """What a template may name."""
        lists = {n: f"[{', '.join(v)}]" for n, v in self.inputs.items() if isinstance(v, list)}
        attrs = {n: self.attribute(n) for n in self.node.attrs}
        out = self.node.outputs[0].dtype.numpy if self.node.outputs else None
        return {**attrs, **self.inputs, **lists, "out_dtype": dtype_text(out) if out else ""}


def dtype_text(dtype: Any) -> str:
    """A dtype as a program names it."""
    try:
        name = np.dtype(dtype).name
    except TypeError:
        return "object"
    return {"bool": "np.bool_", "object": "object"}.get(name, f"np.{name}")


def is_foreign(dtype: DType) -> bool:
    """True for numbers that NumPy itself has no dtype of, such as bfloat16."""
    return dtype.is_numpy_compatible and np.dtype(dtype.numpy).isbuiltin != 1


def expression(call: Call) -> str | None:
    """The NumPy expression of a node; an empty text if its lines are all, None if there is none."""
    values = [*call.node.inputs, *call.node.outputs]
    if any(is_foreign(v.dtype) for v in values):
        return None
    form = FORMS.get(call.op.name)
    if form is not None:
        return form(call)
    for derived in (_ufunc, _scalar, _reduction):
        text = derived(call)
        if text is not None:
            return text
    return None


def _ufunc(call: Call) -> str | None:
    kernel = call.op.kernel_fn
    if not isinstance(kernel, np.ufunc):
        return None
    return f"np.{kernel.__name__}({', '.join(call.texts)})"


_REDUCERS = {
    "sum": "np.sum({0}, {1}, {0}.dtype, keepdims={2})",
    "mean": "np.mean({0}, {1}, keepdims={2}).astype({0}.dtype)",
    "product": "np.prod({0}, {1}, {0}.dtype, keepdims={2})",
    "maximum": "np.max({0}, {1}, keepdims={2}, initial={3})",
    "minimum": "np.min({0}, {1}, keepdims={2}, initial={4})",
    "all": "np.all({0}, {1}, keepdims={2})",
    "any": "np.any({0}, {1}, keepdims={2})",
}


def _reduction(call: Call) -> str | None:
    if not call.op.reduces or call.op.input_names != ("input", "axis"):
        return None
    form = _REDUCERS[call.op.reduces]
    source, axis = call.inputs["input"], call.inputs["axis"]
    if len(source) > MAX_INLINE_CHARACTERS:
        source = call.named(source)
    kind = call.node.inputs[0].dtype.numpy
    least, most = "-np.inf", "np.inf"
    if np.dtype(kind).kind in "iu":
        least, most = [f"np.iinfo({dtype_text(kind)}).{n}" for n in ("min", "max")]
    return form.format(source, format(axis, "tuple"), call.node.attrs["keep_dims"], least, most)


# -- expressions of `scalar` rules -------------------------------------------------------------


class _Text:
    """A value of a rule: its text, and an array of one element for its dtype."""

    def __init__(self, text: str, sample: Any) -> None:
        self.text = text
        self.sample = sample

    @property
    def dtype(self) -> Any:
        return self.sample.dtype


class _TextScalars:
    """The builder of `scalar` rules that writes NumPy calls."""

    def __init__(self, call: Call) -> None:
        self._call = call

    def const(self, value: Any, like: Any) -> _Text:
        kind = like.dtype.type
        text = f"{dtype_text(like.dtype)}({value!r})"
        if isinstance(value, float) and not np.isfinite(value):
            text = f"{dtype_text(like.dtype)}({str(value)!r})"
        return _Text(text, np.ones((), like.dtype) * kind(0) + kind(value))

    def cast(self, x: Any, dtype: Any) -> _Text:
        if np.dtype(dtype).kind not in "fcb" and x.dtype.kind in "fc":
            raise NotImplementedError  # how such casts wrap is the processor's
        return _Text(f"np.asarray({x.text}).astype({dtype_text(dtype)})", x.sample.astype(dtype))

    def select(self, condition: Any, x: Any, y: Any) -> _Text:
        return self._applied("np.where", np.where, condition, x, y)

    def _applied(self, name: str, function: Any, *values: Any) -> _Text:
        texts = [self._short(v) for v in values]
        with np.errstate(all="ignore"):
            sample = np.asarray(function(*[v.sample for v in values]))
        return _Text(f"{name}({', '.join(texts)})", sample)

    def _short(self, value: Any) -> str:
        if len(value.text) > MAX_INLINE_CHARACTERS:
            value.text = self._call.named(value.text)
        return value.text

    def __getattr__(self, name: str) -> Callable[..., _Text]:
        function = getattr(NumpyScalars, name)
        known: str = {"conj": "conjugate", "abs": "absolute"}.get(name) or function.__name__
        if getattr(np, known, None) is None:
            raise NotImplementedError(name)
        return lambda *values: self._applied(f"np.{known}", function, *values)


def _scalar(call: Call) -> str | None:
    rule = call.op.rules.get("scalar")
    if rule is None:
        return None
    names = call.op.input_names
    short = call.op.computes_wide and call.node.inputs[0].dtype.size == 2
    dtypes = [np.dtype("f4") if short else v.dtype.numpy for v in call.node.inputs]
    texts = [f"{t}.astype(np.float32)" if short else t for t in call.texts]
    values = [_Text(t, np.ones((), d)) for t, d in zip(texts, dtypes, strict=True)]
    known = call.op.known(call.node.inputs, call.node.attrs)
    rest = [known[n] for n in rule.takes[1 + len(names) :]]
    try:
        result = rule.fn(_TextScalars(call), *values, *rest)
    except (NotImplementedError, AttributeError, TypeError, ValueError):
        call.lines.clear()
        return None
    if result is NotImplemented:
        return None
    out = call.node.outputs[0].dtype.numpy
    changed = short or result.dtype != out
    return f"np.asarray({result.text}).astype({dtype_text(out)})" if changed else result.text


# -- forms -----------------------------------------------------------------------------------------


def form(*ops: Op | OpReference) -> Callable[[Form], Form]:
    """Registers a function that writes these ops. Raises ValueError for an op that has one."""

    def register(function: Form) -> Form:
        for one in ops:
            if one.name in FORMS:
                raise ValueError(f"there are two NumPy forms of {one.name}")
            FORMS[one.name] = function
        return function

    return register


def template(text: str, *ops: Op | OpReference, kinds: str = "", **only: Any) -> None:
    """Registers a template of an op's inputs and attributes.

    It is for the kinds of the first output's dtype, as NumPy has them, if any are operands, and for
    attributes among the values of `only`.
    """

    def written(call: Call) -> str | None:
        if any(call.node.attrs[n] not in values for n, values in only.items()):
            return None
        if kinds and np.dtype(call.node.outputs[0].dtype.numpy).kind not in kinds:
            return None
        return text.format(**call.fields())

    form(*ops)(written)


NUMBERS = "biufc"

template("{input}", raw.Identity, raw.StopGradient, raw.PreventGradient, raw.EnsureShape)
template("", raw.NoOp)
template("np.expand_dims({input}, {axis:int})", raw.ExpandDims)
template("np.squeeze({input}, {axis} or None)", raw.Squeeze)
template("np.transpose({x}, {perm:tuple})", raw.Transpose)
template("np.broadcast_to({input}, {shape:tuple})", raw.BroadcastTo)
template("np.tile({input}, {multiples:tuple})", raw.Tile)
template("np.concatenate({values}, {axis:int})", raw.ConcatV2)
template("np.stack({values}, {axis})", raw.Pack)
template("np.array(np.shape({input}), {out_type})", raw.Shape)
template("{out_type}(np.size({input}))", raw.Size)
template("np.int32(np.ndim({input}))", raw.Rank)
template("np.zeros_like({x})", raw.ZerosLike, kinds=NUMBERS)
template("np.ones_like({x})", raw.OnesLike, kinds=NUMBERS)
template("np.full({dims:tuple}, {value}, {out_dtype})", raw.Fill)
template("np.arange({start}, {limit}, {delta}, {out_dtype})", raw.Range)
template("np.where({condition}, {t}, {e})", raw.SelectV2)
template("np.sign({x})", raw.Sign, kinds="iuf")
template("np.argwhere({condition})", raw.Where)
template("np.flip({tensor}, {axis:tuple})", raw.ReverseV2)
template("np.roll({input}, {shift:tuple}, {axis:tuple})", raw.Roll)
template("np.pad({input}, {paddings})", raw.Pad, kinds=NUMBERS)
template("np.pad({input}, {paddings}, constant_values={constant_values})", raw.PadV2, kinds=NUMBERS)
template("np.pad({input}, {paddings}, '{mode}'.lower())", raw.MirrorPad)
template("sum({inputs}[1:], {inputs}[0])", raw.AddN)
template("np.clip({t}, {clip_value_min}, {clip_value_max})", raw.ClipByValue)
template("np.argmax({input}, {dimension:int}).astype({output_type})", raw.ArgMax)
template("np.argmin({input}, {dimension:int}).astype({output_type})", raw.ArgMin)
template(
    "np.sqrt(np.sum(np.square({input}), {axis:tuple}, keepdims={keep_dims}))",
    raw.EuclideanNorm,
    kinds="f",
)
template("np.equal({x}, {y})", raw.Equal, incompatible_shape_error=(True,))
template("np.not_equal({x}, {y})", raw.NotEqual, incompatible_shape_error=(True,))
template("({real} + 1j * {imag}).astype({Tout})", raw.Complex)
template("np.remainder({x}, {y})", raw.FloorMod)
template("np.floor_divide({x}, {y})", raw.FloorDiv, kinds="iu")
template("np.fmod({x}, {y})", raw.TruncateMod, raw.Mod)
template("np.linalg.inv({input})", raw.MatrixInverse, adjoint=(False,))
template("np.linalg.det({input})", raw.MatrixDeterminant)
template("np.linalg.cholesky({input})", raw.Cholesky)
template("softmax({logits})", raw.Softmax)
template("log_softmax({logits})", raw.LogSoftmax)
template("one_hot({indices}, {depth:int}, {on_value}, {off_value}, {axis})", raw.OneHot)
template("cross_entropy({features}, {labels})", raw.SoftmaxCrossEntropyWithLogits)
template(
    "cross_entropy({features}, np.eye({features}.shape[-1], dtype={features}.dtype)[{labels}])",
    raw.SparseSoftmaxCrossEntropyWithLogits,
)
template("scatter_nd({indices}, {updates}, {shape:tuple})", raw.ScatterNd, kinds=NUMBERS)
template("{params}[tuple(np.moveaxis({indices}, -1, 0))]", raw.GatherNd)
template("segment_sum({data}, {segment_ids}, {num_segments:int})", raw.UnsortedSegmentSum)
template(
    "segment_sum({data}, {segment_ids}, int(np.max({segment_ids}, initial=-1)) + 1)", raw.SegmentSum
)
template("{resource}.value", raw.ReadVariableOp)
template("np.array(np.shape({input}.value), {out_type})", raw.VariableShape)
template("{resource}.value = {value}", raw.AssignVariableOp)
template("{resource}.value = {resource}.value + {value}", raw.AssignAddVariableOp)
template("{resource}.value = {resource}.value - {value}", raw.AssignSubVariableOp)
template("np.take({resource}.value, {indices}, 0)", raw.ResourceGather)
template("[]", raw.EmptyTensorList)
template("[None] * {num_elements:int}", raw.TensorListReserve)
template("[*{input_handle}, {tensor}]", raw.TensorListPushBack)
template("np.int32(len({input_handle}))", raw.TensorListLength)
template("resized({input_handle}, {size:int})", raw.TensorListResize)
template("list({tensor})", raw.TensorListFromTensor)
template("[*{input_a}, *{input_b}]", raw.TensorListConcatLists)
template("with_item({input_handle}, {index:int}, {item})", raw.TensorListSetItem)
template("check({condition}, {data})", raw.Assert)


@form(raw.Reshape)
def _reshape(call: Call) -> str:
    c, dims = call.inputs, call.node.outputs[0].dims
    shape = format(c["shape"], "tuple") if dims is None or None in dims else str(tuple(dims))
    return f"np.reshape({c['tensor']}, {shape})"


@form(raw.Conv2D)
def _convolution(call: Call) -> str | None:
    x, kernel = [v.dims for v in call.node.inputs]
    a = call.node.attrs
    grouped = x is None or kernel is None or x[-1] != kernel[2]
    if grouped or a["data_format"] != "NHWC" or a["padding"] == "EXPLICIT":
        return None
    c = call.inputs
    return (
        f"conv2d({c['input']}, {c['filter']}, {a['strides']}, {a['padding']!r}, {a['dilations']})"
    )


@form(raw.MaxPool, raw.AvgPool)
def _pooled(call: Call) -> str | None:
    a = call.node.attrs
    sizes = (*a["ksize"], *a["strides"])
    if (
        a["data_format"] != "NHWC"
        or a["padding"] == "EXPLICIT"
        or {*sizes[::4], *sizes[3::4]} != {1}
    ):
        return None
    function, fill = ("np.max", "-np.inf") if call.op is raw.MaxPool else ("np.nanmean", "np.nan")
    parts = f"{a['ksize']}, {a['strides']}, {a['padding']!r}, {fill}"
    return f"{function}(windows({call.texts[0]}, {parts}), (-2, -1))"


@form(raw.Cast)
def _cast(call: Call) -> str | None:
    source, target = call.node.inputs[0].dtype, call.node.outputs[0].dtype
    if not (source.is_numpy_compatible and target.is_numpy_compatible):
        return None
    part = ".real" if source.is_complex and not target.is_complex else ""
    return f"np.asarray({call.inputs['x']}){part}.astype({dtype_text(target.numpy)})"


@form(raw.Bitcast)
def _bitcast(call: Call) -> str | None:
    source, target = call.node.inputs[0].dtype, call.node.outputs[0].dtype
    if source.size != target.size:
        return None
    return f"np.asarray({call.inputs['input']}).view({dtype_text(target.numpy)})"


@form(raw.Einsum)
def _einsum(call: Call) -> str | None:
    parts = call.node.attrs["equation"].split("->")
    if any(parts[-1].count(letter) > 1 for letter in parts[-1] if letter.isalpha()):
        return None
    return f"np.einsum({call.node.attrs['equation']!r}, {', '.join(call.inputs['inputs'])})"


@form(raw.MatMul)
def _matmul(call: Call) -> str:
    a, b = call.inputs["a"], call.inputs["b"]
    attrs = call.node.attrs
    return f"{a}{'.T' * attrs['transpose_a']} @ {b}{'.T' * attrs['transpose_b']}"


@form(raw.BatchMatMulV2, raw.BatchMatMul)
def _batch_matmul(call: Call) -> str:
    parts = [(call.inputs["x"], "adj_x"), (call.inputs["y"], "adj_y")]
    texts = [f"np.conj(np.swapaxes({t}, -1, -2))" if call.node.attrs[n] else t for t, n in parts]
    return " @ ".join(texts)


@form(raw.BiasAdd)
def _bias(call: Call) -> str:
    value, bias = call.inputs["value"], call.inputs["bias"]
    if call.node.attrs["data_format"] == "NHWC":
        return f"{value} + {bias}"
    return f"{value} + np.reshape({bias}, (-1,) + (1,) * (np.ndim({value}) - 2))"


@form(raw.BiasAddGrad)
def _bias_gradient(call: Call) -> str:
    dy = call.inputs["out_backprop"]
    last = call.node.attrs["data_format"] == "NHWC"
    axes = f"range(np.ndim({dy}) - 1)" if last else f"(0, *range(2, np.ndim({dy})))"
    return f"np.sum({dy}, tuple({axes}))"


@form(raw.StridedSlice)
def _slice(call: Call) -> str:
    a = call.node.attrs
    parts = [call.inputs[n] for n in ("begin", "end", "strides")]
    source = call.inputs["input"]
    masks = [a[f"{n}_mask"] for n in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")]
    if any(p.known is None for p in parts):
        return f"{source}[slice_index({', '.join(parts)}, {', '.join(map(str, masks))})]"
    index: list[str] = []
    for i, (b, e, s) in enumerate(zip(*[p.known.tolist() for p in parts], strict=True)):
        begin, end, ellipsis_, new, shrink = [m >> i & 1 for m in masks]
        if ellipsis_ or new or shrink:
            index.append("..." if ellipsis_ else "None" if new else str(b))
        else:
            index.append(f"{'' if begin else b}:{'' if end else e}{'' if s == 1 else f':{s}'}")
    return f"{source}[{', '.join(index) or '...'}]"


@form(raw.Slice)
def _window(call: Call) -> str:
    begin, size = call.inputs["begin"], call.inputs["size"]
    return f"{call.inputs['input']}[window_index({begin:tuple}, {size:tuple})]"


@form(raw.GatherV2)
def _gather(call: Call) -> str | None:
    if call.node.attrs["batch_dims"]:
        return None
    c = call.inputs
    return f"np.take({c['params']}, {c['indices']}, {c['axis']:int})"


@form(raw.Unpack)
def _unpack(call: Call) -> str:
    call.is_tuple = True
    return f"tuple(np.moveaxis({call.inputs['value']}, {call.node.attrs['axis']}, 0))"


@form(raw.Split)
def _split(call: Call) -> str:
    call.is_tuple = True
    c = call.inputs
    return f"np.split({c['value']}, {call.node.attrs['num_split']}, {c['axis']:int})"


@form(raw.SplitV)
def _split_sizes(call: Call) -> str | None:
    call.is_tuple = True
    c = call.inputs
    if c["size_splits"].known is None or -1 in c["size_splits"].known:
        return None
    ends = np.cumsum(c["size_splits"].known)[:-1].tolist()
    return f"np.split({c['value']}, {ends}, {c['axis']:int})"


@form(raw.Cumsum, raw.Cumprod)
def _scan(call: Call) -> str | None:
    if call.node.attrs["exclusive"] or call.node.attrs["reverse"]:
        return None
    name = "cumsum" if call.op is raw.Cumsum else "cumprod"
    x = call.inputs["x"]
    return f"np.{name}({x}, {call.inputs['axis']:int}, np.asarray({x}).dtype)"


@form(raw.TopKV2)
def _top_k(call: Call) -> str:
    c = call.inputs
    return f"top_k({c['input']}, {c['k']:int}, {call.attribute('index_type')})"


@form(raw.TensorListGetItem)
def _item(call: Call) -> str:
    c = call.inputs
    return f"item_of({c['input_handle']}, {c['index']:int}, {_shape(c['element_shape'])}, {_out(call)})"


@form(raw.TensorListPopBack)
def _popped(call: Call) -> str:
    c = call.inputs
    found = f"item_of({c['input_handle']}, -1, {_shape(c['element_shape'])}, {_out(call, 1)})"
    return f"{c['input_handle']}[:-1], {found}"


@form(raw.TensorListStack)
def _stacked(call: Call) -> str:
    c = call.inputs
    return f"stacked({c['input_handle']}, {_shape(c['element_shape'])}, {_out(call)})"


def _shape(argument: Argument) -> str:
    return format(argument, "tuple")


def _out(call: Call, index: int = 0) -> str:
    return dtype_text(call.node.outputs[index].dtype.numpy)


@form(raw.If, raw.StatelessIf)
def _branch(call: Call) -> str:
    call.is_tuple = True
    operands = ", ".join(call.inputs["input"])
    then, other = call.attribute("then_branch"), call.attribute("else_branch")
    return f"({then} if np.any({call.inputs['cond']}) else {other})({operands})"


@form(raw.Case, raw.StatelessCase)
def _case(call: Call) -> str:
    call.is_tuple = True
    names = [call.functions[id(g)] for g in call.node.attrs["branches"]]
    operands = ", ".join(call.inputs["input"])
    chosen = call.named(f"int({call.inputs['branch_index']})")
    last = len(names) - 1
    return f"[{', '.join(names)}][{chosen} if 0 <= {chosen} <= {last} else {last}]({operands})"


@form(raw.While, raw.StatelessWhile)
def _loop(call: Call) -> str:
    call.is_tuple = True
    values = ", ".join(call.inputs["input"])
    state = call.named(f"({values}{',' if len(call.inputs['input']) == 1 else ''})")
    cond, body = call.attribute("cond"), call.attribute("body")
    call.lines.append(f"while np.all({cond}(*{state})[0]):\n    {state} = {body}(*{state})")
    return state


@form(raw.PartitionedCall, raw.StatefulPartitionedCall)
def _called(call: Call) -> str:
    call.is_tuple = True
    return f"{call.attribute('f')}({', '.join(call.inputs['args'])})"


@form(raw.IdentityN)
def _identities(call: Call) -> str:
    call.is_tuple = True
    return ", ".join(call.inputs["input"]) + ","


# -- functions that a program defines where it calls them ----------------------------------------------

PRELUDE: dict[str, str] = {
    "Variable": '''
class Variable:
    """What `tf.Variable` is: a value that changes."""

    def __init__(self, value):
        self.value = value
''',
    "array_of": '''
def array_of(dtype, shape, text):
    """The array whose bytes are a text."""
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape)
''',
    "softmax": """
def softmax(x):
    e = np.exp(x - np.max(x, -1, keepdims=True))
    return e / np.sum(e, -1, keepdims=True)
""",
    "log_softmax": """
def log_softmax(x):
    x = x - np.max(x, -1, keepdims=True)
    return x - np.log(np.sum(np.exp(x), -1, keepdims=True))
""",
    "one_hot": """
def one_hot(indices, depth, on, off, axis):
    found = np.expand_dims(indices, -1) == np.arange(depth)
    return np.moveaxis(np.where(found, on, off), -1, axis)
""",
    "cross_entropy": '''
def cross_entropy(logits, labels):
    """The losses, and their gradients with respect to the logits."""
    x = logits - np.max(logits, -1, keepdims=True)
    logs = x - np.log(np.sum(np.exp(x), -1, keepdims=True))
    return -np.sum(labels * logs, -1), np.exp(logs) - labels
''',
    "windows": '''
def windows(x, size, strides, padding, fill, dilations=(1, 1, 1, 1)):
    """Views [N, H, W, C, h, w] of windows of an image batch."""
    h, w = [(s - 1) * d + 1 for s, d in zip(size[1:3], dilations[1:3])]
    if padding == "SAME":
        pads = []
        for n, k, s in ((x.shape[1], h, strides[1]), (x.shape[2], w, strides[2])):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            pads.append((total // 2, total - total // 2))
        x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    views = np.lib.stride_tricks.sliding_window_view(x, (h, w), (1, 2))
    return views[:, :: strides[1], :: strides[2], :, :: dilations[1], :: dilations[2]]
''',
    "conv2d": """
def conv2d(x, kernel, strides, padding, dilations):
    size = (1, *kernel.shape[:2], 1)
    views = windows(x, size, strides, padding, 0, dilations)
    return np.einsum("nxychw,hwco->nxyo", views, kernel, optimize=True)
""",
    "scatter_nd": """
def scatter_nd(indices, updates, shape):
    result = np.zeros(shape, np.asarray(updates).dtype)
    np.add.at(result, tuple(np.moveaxis(indices, -1, 0)), updates)
    return result
""",
    "segment_sum": """
def segment_sum(data, ids, count):
    data, ids = np.asarray(data), np.asarray(ids)
    result = np.zeros((count, *data.shape[ids.ndim:]), data.dtype)
    np.add.at(result, ids[ids >= 0], data[ids >= 0])
    return result
""",
    "top_k": """
def top_k(x, k, index_type):
    order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], -1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(x, order, -1), order.astype(index_type)
""",
    "slice_index": """
def slice_index(begin, end, strides, begins, ends, ellipsis, new, shrink):
    index = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        if ellipsis >> i & 1:
            index.append(...)
        elif new >> i & 1:
            index.append(None)
        elif shrink >> i & 1:
            index.append(int(b))
        else:
            index.append(slice(None if begins >> i & 1 else b, None if ends >> i & 1 else e, s))
    return tuple(index)
""",
    "window_index": """
def window_index(begin, size):
    return tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin, size))
""",
    "resized": """
def resized(items, size):
    return [*items[:size], *[None] * (size - len(items))]
""",
    "with_item": """
def with_item(items, index, item):
    items = [*items, *[None] * (index + 1 - len(items))]
    items[index] = item
    return items
""",
    "item_of": """
def item_of(items, index, shape, dtype):
    known = [np.shape(i) for i in items if i is not None]
    return np.zeros(known[0] if known else shape, dtype) if items[index] is None else items[index]
""",
    "stacked": """
def stacked(items, shape, dtype):
    known = [np.shape(i) for i in items if i is not None]
    shape = known[0] if known else tuple(max(d, 0) for d in shape)
    zero = np.zeros(shape, dtype)
    rows = [zero if i is None else i for i in items]
    return np.stack(rows) if rows else np.zeros((0, *shape), dtype)
""",
    "check": """
def check(condition, data):
    if not np.all(condition):
        raise AssertionError(data)
""",
}
