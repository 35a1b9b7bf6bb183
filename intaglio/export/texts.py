"""Texts inside of a function as bytes: of a text that has a known length at most, machine code can compute.

A text is a row of bytes, with zeros behind the last one, and its length. Ops that work on texts are loops over
bytes or arithmetic with them; what only moves texts moves their numbers in a table of all. Texts do not leave the
function, nor come from outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType, bool_, float64, int32, int64, string, uint8, uint64
from intaglio.export import assertions, branches
from intaglio.export.loop_rules import loops
from intaglio.export.rules import NoRule, Refusals, Rules
from intaglio.function import whole_graph
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import door, late, raw
from intaglio.ops.text import hash_functions
from intaglio.optimize.partial_evaluation import graphs_of
from intaglio.optimize.symbolic_arrays import SymbolicArray

# The bytes of a text, at most: memory for each of a tensor is as long.
MAX_BYTES = 1 << 12
# Of a float: digits of 64 bits, a point and a sign.
_FLOAT_BYTES = 24
# The digits of floats that loops write are exact up to so many behind the point.
MAX_POINTS = 15


class Text(NamedTuple):
    """Texts: bytes [*dims, most], zeros behind the last one, and their lengths [*dims] as int64."""

    bytes: Any
    lengths: Any

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.bytes.dims[:-1])

    @property
    def most(self) -> int:
        """The bytes of a text, at most."""
        return self.bytes.dims[-1]

    @property
    def number(self) -> int:
        """How many texts there are."""
        return math.prod(self.dims)


# The outputs of a node that takes or gives texts.
Rule = Callable[[Node, Sequence[Any]], Sequence[Any]]
TEXTS: Rules[Rule] = Rules()


def has_rule(node: Node) -> bool:
    """Whether an op may work on texts in a library."""
    return TEXTS.has(node.op) or bool(node.op.data_inputs) or node.op.is_identity


def with_bytes(graph: Graph, refusals: Refusals) -> Graph:
    """The graph with texts as bytes, also in graphs inside; the same one if there are none.

    Why nodes stay as they are is added to `refusals`.
    """
    if not any([_has_texts(n) for g in (*walk.nested(graph), graph) for n in g.nodes]):
        return graph
    written = _Writer(graph, [None] * len(graph.inputs), refusals)
    return prune(written.new.result())


class _Writer:
    """Writes a graph again, with texts as bytes beside the nodes that they stand for; what is unused goes."""

    def __init__(self, graph: Graph, inputs: Sequence[Text | None], refusals: Refusals) -> None:
        """`inputs` are the texts among those of the graph, which it is given in parts."""
        self.refusals = refusals
        self.old = graph = map_attached(graph, self._within)
        self.new = new = Rewriter(graph)
        self.texts: dict[int, Text] = {}
        self.inputs: list[SymbolicTensor] = []
        for value, text in zip(graph.inputs, inputs, strict=True):
            if text is None:
                self.inputs.append(value)
                continue
            parts = [branches.placeholder(new, v.dtype, v.dims) for v in text]
            self.texts[id(value)] = Text(*parts)
            self.inputs += parts
        for node in graph.nodes:
            kept = new.keep(node)
            if _has_texts(node) and node.op is not raw.Placeholder:
                self._write(node, kept)

    def _within(self, node: Node, attribute: str, inner: Graph) -> Graph:
        return with_bytes(inner, self.refusals)

    def _write(self, node: Node, kept: Node) -> None:
        new = self.new
        before = len(new.nodes)
        new.root = node
        try:
            with door.pushed(new):
                results = self._results(node, self.values(node.inputs))
        except NoRule as e:
            del new.nodes[before:]
            if str(e):
                self.refusals[node.op.name, node.traced_name] = str(e)
            return
        finally:
            new.root = None
        values: list[SymbolicTensor] = []
        for value, old, result in zip(node.outputs, kept.outputs, results, strict=True):
            if isinstance(result, Text):
                self.texts[id(value)] = result
            values.append(old if isinstance(result, Text) else result)
        new.replace(node, values)
        if node.op is raw.Assert or node.op.control_flow:  # it is not carried out twice
            del new.nodes[before - 1]
            new.absorb([node], new.nodes[-1])

    def values(self, old: Sequence[SymbolicTensor]) -> list[Any]:
        """The values in the new graph, or the texts that they are."""
        return [self.texts.get(id(v), self.new.value(v)) for v in old]

    def _results(self, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs of a node, texts as bytes. Raises NoRule."""
        if node.op.control_flow == "branch":
            return self._branches(node, inputs)
        for value in inputs:
            if isinstance(value, SymbolicTensor):
                if value.dtype is string:
                    raise NoRule("its texts come from an op that gives none in a library")
                if not shapes.known(value.dims):
                    raise NoRule("the number of texts depends on data")
        rule = TEXTS.find(node.op)
        if rule is None and (node.op.data_inputs or node.op.is_identity):
            rule = moved
        if rule is None:
            raise NoRule(f"{whole_graph.STRINGS.why}, which a library cannot")
        return rule(node, inputs)

    def _branches(self, node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
        """A branch whose graphs take texts, or give them, in as many bytes as the longest may have."""
        arguments = [v if isinstance(v, Text) else None for v in inputs[1:]]
        parts = [_Writer(graph, arguments, self.refusals) for _, graph in graphs_of(node)]
        columns = [*zip(*[p.values(p.old.outputs) for p in parts], strict=True)]
        longest = [_longest(column) for column in columns]
        bodies: list[Graph] = []
        for part in parts:
            outputs: list[Any] = []
            with door.pushed(part.new):
                for result, most in zip(part.values(part.old.outputs), longest, strict=True):
                    outputs += _wide(result, most) if most else [result]
            body = branches.closed(part.new, part.old.name, part.inputs, outputs)
            if body is None:
                raise NoRule("a branch takes texts that are none in a library")
            bodies.append(body)
        taken: list[Any] = [inputs[0]]
        for value in inputs[1:]:
            taken += value if isinstance(value, Text) else [value]
        rest = iter(branches.with_bodies(self.new, node, taken, bodies))
        return [Text(next(rest), next(rest)) if most else next(rest) for most in longest]


def _longest(column: Sequence[Any]) -> int:
    """The bytes of the texts that one of several branches gives; 0 of what is none. Raises NoRule."""
    texts = [v for v in column if isinstance(v, Text)]
    if texts and (len(texts) < len(column) or len({t.dims for t in texts}) > 1):
        raise NoRule(
            "branches give texts of several shapes, or from ops that give none in a library"
        )
    return max([t.most for t in texts], default=0)


def _has_texts(node: Node) -> bool:
    return any([v.dtype is string for v in (*node.inputs, *node.outputs)])


@TEXTS.of(raw.Const)
def known(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Texts that do not change."""
    return [_known(node.attrs["value"])]


def _known(array: Any) -> Text:
    texts = [bytes(t) for t in np.asarray(array).reshape(-1).tolist()]
    most, dims = max([1, *map(len, texts)]), np.shape(array)
    if most > MAX_BYTES:
        raise NoRule(f"a text of more than {MAX_BYTES} bytes")
    rows = np.array([[*t.ljust(most, b"\0")] for t in texts], np.uint8).reshape(*dims, most)
    lengths = np.array([*map(len, texts)], np.int64).reshape(dims)
    return Text(raw.Const(value=rows, dtype=uint8), raw.Const(value=lengths, dtype=int64))


@TEXTS.of(raw.Assert)
def asserted(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Of an assertion the condition, and those texts that are known: they are that of the error."""
    data = [v for v in node.inputs[1:] if v.node.op is raw.Const and v.dtype is string]
    texts = [np.asarray(v.node.attrs["value"], object) for v in data]
    raw.Assert(inputs[0], texts or [np.asarray(b"", object)])
    return []


# -- what moves texts ----------------------------------------------------------------------------


@TEXTS.of(raw.ConcatV2, raw.Concat, raw.Pack, raw.Select, raw.SelectV2, raw.Identity, raw.IdentityN)
def moved(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """What an op makes of the numbers of texts in a table of all that it is given."""
    texts = [v for v in inputs if isinstance(v, Text)]
    if not all([t.number for t in texts]) or not texts:
        raise NoRule("there are no texts")
    first, operands = 0, list[Any]()
    for value in inputs:
        if isinstance(value, Text):
            numbers = np.arange(first, first + value.number, dtype=np.int32).reshape(value.dims)
            operands.append(raw.Const(value=numbers, dtype=int32))
            first += value.number
        else:
            operands.append(value)
    attrs = {k: int32 if v is string else v for k, v in node.attrs.items()}
    specs = node.op.output_specs([v.spec for v in operands], attrs)
    level: Any = door.level()
    copy = level.add(
        derived(node, operands, attrs=attrs, specs=specs, name=level.unique_name(node.name))
    )
    table, lengths = _table(texts)
    return [
        Text(raw.GatherV2(table, v, np.int32(0)), raw.GatherV2(lengths, v, np.int32(0)))
        if old.dtype is string
        else v
        for v, old in zip(copy.outputs, node.outputs, strict=True)
    ]


def _table(texts: Sequence[Text]) -> tuple[Any, Any]:
    """All texts in rows, [number, most], and their lengths."""
    most = max([t.most for t in texts])
    rows = [raw.Reshape(_wide(t, most).bytes, _ints(t.number, most)) for t in texts]
    lengths = [raw.Reshape(t.lengths, _ints(t.number)) for t in texts]
    if len(texts) == 1:
        return rows[0], lengths[0]
    return raw.ConcatV2(rows, np.int32(0)), raw.ConcatV2(lengths, np.int32(0))


def _ints(*numbers: int) -> Any:
    return np.array(numbers, np.int32)


def _wide(text: Text, most: int) -> Text:
    """The texts with memory for so many bytes."""
    missing = np.zeros((len(text.dims) + 1, 2), np.int32)
    missing[-1, 1] = most - text.most
    return text._replace(bytes=raw.Pad(text.bytes, missing)) if most > text.most else text


def _broadcast(text: Text, dims: Sequence[int]) -> Text:
    if text.dims == tuple(dims):
        return text
    ones = (*[1] * (len(dims) - len(text.dims)), *text.dims)
    rows = raw.Reshape(text.bytes, _ints(*ones, text.most))
    return Text(
        raw.BroadcastTo(rows, _ints(*dims, text.most)), raw.BroadcastTo(text.lengths, _ints(*dims))
    )


# -- numbers -------------------------------------------------------------------------------------


def _looped(
    function: str,
    inputs: Sequence[Any],
    dims: Sequence[int],
    most: int,
    owned: Sequence[tuple[DType, int]],
    *integers: int,
    refusal: str = "",
) -> Text:
    """The texts that a function of `loops/texts.py` writes, of the shape `dims`."""
    if not math.prod(dims) or most > MAX_BYTES:
        raise NoRule("there are no texts, or their bytes may be too many")
    outputs = [(uint8, (*dims, most)), (int64, dims)]
    return Text(*loops(f"texts:{function}", inputs, outputs, owned, *integers, refusal=refusal))


@TEXTS.of(late.AsString)
def of_numbers(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Integers and floats in decimal digits, and bools."""
    (x,) = inputs
    attrs, width = node.attrs, max(node.attrs["width"], 0)
    if isinstance(x, Text):
        if width:
            raise NoRule("a text that is padded")
        return [x]
    dims, count = tuple(x.dims), math.prod(x.dims)
    if x.dtype is bool_:
        table = _known(np.array([b"false", b"true"], object))
        number = raw.Cast(x, DstT=int32)
        return [Text(*[raw.GatherV2(part, number, np.int32(0)) for part in table])]
    fill = ord(attrs["fill"] or "\0")
    if x.dtype.is_integer:
        fill = 0 if x.dtype.is_unsigned and fill in b"+ " else fill
        most = max(len(str(x.dtype.min)), len(str(x.dtype.max)) + 1, width)
        integers = count, most, x.dtype.is_unsigned, width, fill
        return [_looped("decimals", [x], dims, most, [(uint8, most)], *integers)]
    points = attrs["precision"] if attrs["precision"] >= 0 else 6
    if x.dtype.is_complex or attrs["scientific"] or attrs["shortest"] or points > MAX_POINTS:
        raise NoRule(
            f"of floats it has decimal digits, at most {MAX_POINTS} behind the point, not powers of ten"
        )
    most = max(_FLOAT_BYTES, width)
    wide = raw.Cast(x, DstT=float64)
    scale = raw.Const(value=np.float64(10.0**points), dtype=float64)
    arrays = [wide, raw.Bitcast(wide, type=int64), scale]
    integers = count, most, points, width, fill
    refusal = assertions.TOO_MANY_DIGITS
    return [
        _looped("fixed_points", arrays, dims, most, [(uint8, most)], *integers, refusal=refusal)
    ]


@TEXTS.of(late.StringToNumber)
def to_numbers(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """The integers that texts are."""
    (text,), kind = inputs, node.outputs[0].dtype
    if not kind.is_integer:
        raise NoRule("it reads floats: a library reads integers from texts")
    tenth, digit = divmod(int(kind.max), 10)
    tenth_below, digit_below = (0, -1) if kind.is_unsigned else divmod(-int(kind.min), 10)
    integers = text.number, text.most, tenth, digit, tenth_below, digit_below
    if not text.number:
        raise NoRule("there are no texts")
    arrays, outputs = [text.bytes, text.lengths], [(kind, text.dims)]
    return loops("texts:integers", arrays, outputs, [], *integers, refusal=assertions.NO_NUMBER)


# -- parts and sizes -----------------------------------------------------------------------------


@TEXTS.of(late.StringLength)
def measured(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Bytes, or characters of UTF-8, each of which has one byte that does not continue another."""
    (text,) = inputs
    if node.attrs["unit"] == "BYTE":
        return [raw.Cast(text.lengths, DstT=int32)]
    begins = raw.NotEqual(raw.BitwiseAnd(text.bytes, np.uint8(0xC0)), np.uint8(0x80))
    here = raw.Less(np.arange(text.most), raw.ExpandDims(text.lengths, np.int32(-1)))
    number = raw.Cast(raw.LogicalAnd(begins, here), DstT=int32)
    return [raw.Sum(number, np.array([-1], np.int32))]


@TEXTS.of(late.Substr)
def cut(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Bytes from a position on."""
    text, *places = inputs
    if node.attrs["unit"] != "BYTE":
        raise NoRule("it counts characters: a library cuts texts by bytes")
    dims = np.broadcast_shapes(text.dims, *[tuple(p.dims) for p in places])
    whole = _broadcast(text, dims)
    wide = [raw.BroadcastTo(raw.Cast(p, DstT=int64), _ints(*dims)) for p in places]
    inputs, integers = [whole.bytes, whole.lengths, *wide], (whole.number, text.most)
    refusal = assertions.POSITION_OUT_OF_RANGE
    return [_looped("cut", inputs, dims, text.most, [], *integers, refusal=refusal)]


@TEXTS.of(late.StringStrip)
def stripped(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Without white space at both ends."""
    (text,) = inputs
    return [_looped("stripped", [*text], text.dims, text.most, [], text.number, text.most)]


@TEXTS.of(late.StringLower, late.StringUpper)
def cased(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """ASCII letters in the other case."""
    (text,) = inputs
    if node.attrs["encoding"]:
        raise NoRule("the case of letters beyond ASCII")
    least, most = (65, 90) if node.op.name == late.StringLower.name else (97, 122)
    letters = raw.LogicalAnd(
        raw.GreaterEqual(text.bytes, np.uint8(least)), raw.LessEqual(text.bytes, np.uint8(most))
    )
    other = raw.BitwiseXor(text.bytes, np.uint8(32))
    return [text._replace(bytes=raw.SelectV2(letters, other, text.bytes))]


@TEXTS.of(raw.Equal, raw.NotEqual)
def compared(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Whether texts have the same bytes."""
    try:
        dims = np.broadcast_shapes(*[t.dims for t in inputs])
    except ValueError as e:
        raise NoRule("the shapes of the texts differ") from e
    most = max([t.most for t in inputs])
    one, other = [_broadcast(_wide(t, most), dims) for t in inputs]
    same = raw.All(raw.Equal(one.bytes, other.bytes), np.array([-1], np.int32))
    same = raw.LogicalAnd(same, raw.Equal(one.lengths, other.lengths))
    return [same if node.op is raw.Equal else raw.LogicalNot(same)]


@TEXTS.of(late.UnicodeDecode)
def code_points(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Code points of texts in UTF-8, as many as there are (`row_sources.py`)."""
    (text,), attrs = inputs, node.attrs
    if attrs["input_encoding"].upper() != "UTF-8" or attrs["replace_control_characters"]:
        raise NoRule("another encoding than UTF-8, or characters that are replaced")
    if not text.number:
        raise NoRule("there are no texts")
    outputs = [(int32, (text.number, text.most)), (int64, (text.number,))]
    integers = text.number, text.most
    refusal = assertions.NO_CODE_POINT
    points, lengths = loops("texts:code_points", [*text], outputs, [], *integers, refusal=refusal)
    ends = raw.Cumsum(lengths, np.int32(0))
    splits = raw.Cast(
        raw.ConcatV2([np.zeros(1, np.int64), ends], np.int32(0)), DstT=attrs["Tsplits"]
    )
    here = raw.Less(np.arange(text.most), raw.ExpandDims(lengths, np.int32(1)))
    return [splits, raw.GatherNd(points, raw.Where(here))]


# -- joining -------------------------------------------------------------------------------------


@TEXTS.of(late.StringJoin)
def joined(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Texts at one place in several tensors; scalars are at each."""
    dims = max([t.dims for t in inputs], key=len, default=())
    if any([t.dims not in ((), dims) for t in inputs]) or not inputs:
        raise NoRule("the shapes of the texts differ")
    most = max([t.most for t in inputs])
    wide = [_broadcast(_wide(t, most), dims) for t in inputs]
    rows = raw.Pack([t.bytes for t in wide], axis=len(dims))
    lengths = raw.Pack([t.lengths for t in wide], axis=len(dims))
    return [_joined(Text(rows, lengths), dims, node.attrs["separator"])]


@TEXTS.of(late.ReduceJoin)
def joined_along(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """Texts along dimensions, the first that is named going fastest."""
    text, along = inputs
    if along.node.op is not raw.Const:
        raise NoRule("an axis is data")
    rank = len(text.dims)
    axes = [int(a) % max(rank, 1) for a in np.asarray(along.node.attrs["value"]).reshape(-1)]
    kept = [i for i in range(rank) if i not in axes]
    outer = [text.dims[i] for i in kept]
    order = [*kept, *axes[::-1]]
    rows = raw.Transpose(text.bytes, _ints(*order, rank))
    each = math.prod([text.dims[a] for a in axes])
    rows = raw.Reshape(rows, _ints(*outer, each, text.most))
    lengths = raw.Reshape(raw.Transpose(text.lengths, _ints(*order)), _ints(*outer, each))
    dims = [1 if i in axes else d for i, d in enumerate(text.dims)]
    dims = dims if node.attrs["keep_dims"] else outer
    return [_joined(Text(rows, lengths), dims, node.attrs["separator"])]


def _joined(text: Text, dims: Sequence[int], separator: str) -> Text:
    """The texts of the last dimension as one each, with others between them."""
    each, glue = text.dims[-1], separator.encode()
    if not text.number:
        raise NoRule("there are no texts")
    most = each * text.most + (each - 1) * len(glue)
    between = raw.Const(value=np.frombuffer(glue or b"\0", np.uint8), dtype=uint8)
    integers = math.prod(dims), most, each, text.most, len(glue)
    return _looped("joined", [*text, between], dims, most, [], *integers)


# -- hashes --------------------------------------------------------------------------------------


class _Words:
    """Texts in rows as a source of a hash's words (`hash_functions.Source`)."""

    def __init__(self, text: Text) -> None:
        count, self.most = text.number, text.most
        rows = raw.Reshape(text.bytes, _ints(count, self.most))
        rows = raw.Cast(raw.Pad(rows, np.array([[0, 0], [0, 7]], np.int32)), DstT=uint64)
        padded, word = SymbolicArray(rows), None
        for i in range(8):
            part = padded[:, i : i + self.most] << np.uint64(8 * i)
            word = part if word is None else word | part
        self._words: Any = word
        self._lengths: Any = SymbolicArray(raw.Reshape(text.lengths, _ints(count)))
        self._count = count
        self.size: Any = self._lengths.astype(np.uint64)

    def word(self, at: Any) -> Any:
        """The eight bytes from an offset on; a negative one counts back from the end."""
        if isinstance(at, int) and at >= 0:
            return self._words[:, min(at, self.most - 1)]
        place = self._lengths + at if isinstance(at, int) else at
        place = np.clip(place, 0, self.most - 1)
        return np.take_along_axis(self._words, place.reshape(-1, 1), axis=1)[:, 0]

    def every(self, value: int) -> Any:
        """The same word for each."""
        return SymbolicArray(np.full(self._count, value, np.uint64))

    def iterations(self, count: Any, step: Any, state: Any) -> Any:
        """The state after so many steps, which are more for longer texts."""
        for i in range(self.most // 8 + 1):
            goes_on = np.greater(count, i)
            state = tuple(
                [np.where(goes_on, a, b) for a, b in zip(step(i, state), state, strict=True)]
            )
        return state

    def choice(self, test: Any, yes: Any, no: Any) -> Any:
        """One of two words each."""
        return np.where(test, yes, no)


def _fingerprint(words: _Words, lengths: Any) -> Any:
    """FarmHash's Fingerprint64: by one function for each range of lengths."""
    found, above = words.every(0), -1
    for most, step in hash_functions.SHORT_TEXTS:
        if above < words.most:
            found = np.where(np.greater(lengths, above), step(words), found)
        above = most
    if words.most > above:
        blocks = (lengths - 1) // 64
        long = hash_functions.fingerprint_of_long(words, blocks)
        found = np.where(np.greater(lengths, above), long, found)
    return found


@TEXTS.of(late.StringToHashBucketFast, late.StringToHashBucketStrong, late.StringToHashBucket)
def hashed(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    """A hash of the bytes modulo a number of buckets."""
    (text,) = inputs
    if not text.number:
        raise NoRule("there are no texts")
    words = _Words(text)
    lengths: Any = SymbolicArray(raw.Reshape(text.lengths, _ints(text.number)))
    if node.op.name == late.StringToHashBucketFast.name:
        found = _fingerprint(words, lengths)
    elif node.op.name == late.StringToHashBucketStrong.name:
        key = [words.every(k % 2**64) for k in node.attrs["key"]]
        found = hash_functions.siphash(words, lengths // 8, *key)
    else:
        found = hash_functions.murmurhash(words, lengths // 8)
    bucket = np.remainder(found, np.uint64(node.attrs["num_buckets"]))
    return [raw.Reshape(bucket.astype(np.int64).value, _ints(*text.dims))]
