"""Random straight-line programs: each line is tried eagerly while it is drawn.

Lines that fail are dropped, or, where a failing program is wanted, become the last one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from hypothesis import strategies as st

from intaglio import tf

# <f> floating, <r> real, <n> number, <i> int32 or int64, <b> bool, <t> any tensor, <s> same
# dtype as the one before; <a> an axis, <l> a list of axes or None, <k> a small number.
TEMPLATES = """
<n> + <s>
<n> - <s>
<n> * <s>
<r> / <s>
<i> // 3
<i> % 5
<r> ** 2
-<n>
abs(<r>)
tf.maximum(<r>, <s>)
tf.math.floordiv(<r>, <s>)
tf.math.divide_no_nan(<f>, <s>)
tf.math.squared_difference(<r>, <s>)
tf.sin(<f>)
tf.exp(<f> * 0.25)
tf.tanh(<f>)
tf.nn.relu(<r>)
tf.sigmoid(<f>)
tf.sqrt(<f>)
tf.math.log1p(<f>)
tf.floor(<f>)
tf.round(<f>)
tf.math.is_nan(<f>)
tf.sign(<r>)
tf.square(<n>)
tf.nn.softmax(<f>, axis=<a>)
tf.reduce_sum(<n>, axis=<l>)
tf.reduce_sum(<n>, axis=<l>, keepdims=True)
tf.reduce_mean(<r>, axis=<l>)
tf.reduce_max(<r>, axis=<l>)
tf.reduce_prod(<n>, axis=<a>)
tf.reduce_any(<b>, axis=<l>)
tf.reduce_all(<b>, axis=<a>, keepdims=True)
tf.reduce_logsumexp(<f>, axis=<l>)
tf.math.reduce_std(<f>, axis=<l>)
tf.argmax(<r>, axis=<a>)
tf.argmin(<r>, axis=<a>, output_type=tf.int32)
tf.cumsum(<n>, axis=<a>, exclusive=True)
tf.cumsum(<n>, axis=<a>, reverse=True)
tf.math.cumprod(<n>, axis=<a>)
tf.reshape(<t>, [-1])
tf.reshape(<t>, [-1, 1])
tf.reshape(<t>, tf.shape(<t>))
tf.reshape(<t>, tf.concat([tf.shape(<t>), [1]], 0))
tf.reshape(<t>, [2, -1])
tf.transpose(<t>)
tf.expand_dims(<t>, <a>)
tf.squeeze(<t>)
<t>[<k>:]
<t>[::-1]
<t>[..., <k>:]
<t>[-1]
<t>[..., tf.newaxis]
<t>[:, <k>]
<t>[..., 0, :]
<t>[: tf.shape(<t>)[0] - 1]
<f>[<b>]
tf.gather(<t>, [0, 1, 0], axis=<a>)
tf.gather(<t>, <i>)
tf.gather_nd(<t>, [[0], [1]])
tf.concat([<t>, <s>], axis=<a>)
tf.stack([<t>, <s>], axis=<a>)
tf.split(<t>, 2, axis=<a>)[1]
tf.unstack(<t>, axis=<a>)[0]
tf.tile(<t>, [2] * len(<t>.shape))
tf.pad(<n>, [[1, 0]])
tf.pad(<n>, [[1, 2], [0, 1]], mode='CONSTANT', constant_values=3)
tf.reverse(<t>, [<a>])
tf.roll(<t>, 1, axis=0)
tf.repeat(<t>, 2, axis=<a>)
tf.cast(<n>, tf.float32)
tf.cast(<n>, tf.float64)
tf.cast(<r>, tf.int32)
tf.cast(<r>, tf.int64)
tf.cast(<i>, tf.bool)
tf.cast(<b>, tf.float32)
tf.cast(<i>, tf.uint8)
tf.cast(<f>, tf.bfloat16)
tf.cast(<f>, tf.float16)
tf.cast(<f>, tf.complex64)
tf.math.real(<n>)
<r> < <s>
<r> >= <s>
<n> == <s>
<n> != <s>
<b> & <b>
~<b>
tf.math.logical_xor(<b>, <b>)
tf.where(<b>, <t>, <s>)
tf.where(<b>)
tf.clip_by_value(<r>, -1, 1)
tf.matmul(<f>, <s>, transpose_b=True)
tf.matmul(<f>, <s>)
tf.linalg.matvec(<f>, <s>)
tf.tensordot(<f>, <s>, 1)
tf.einsum('ij,kj->ik', <f>, <s>)
tf.linalg.diag_part(<f>)
tf.linalg.band_part(<f>, 0, -1)
tf.zeros_like(<t>)
tf.ones_like(<n>)
tf.fill(tf.shape(<t>), 2.5)
tf.shape(<t>)
tf.size(<t>)
tf.rank(<t>)
tf.range(tf.size(<t>))
tf.broadcast_to(<t>, tf.concat([[2], tf.shape(<t>)], 0))
tf.one_hot(<i>, 3)
tf.sort(<r>, axis=<a>)
tf.argsort(<r>, axis=<a>, stable=True)
tf.math.top_k(<r>, 1).values
tf.math.unsorted_segment_sum(<n>, tf.range(tf.shape(<n>)[0]) % 2, 2)
tf.identity(<t>)
tf.stop_gradient(<t>)
tf.add_n([<n>, <s>, <s>])
tf.nest.flatten([<t>, (<t>,)])[1]
tf.meshgrid(tf.range(2), <i>)[1]
tf.unique(tf.reshape(<i>, [-1])).y
tf.strings.as_string(<i>)
tf.norm(<f>, axis=<a>)
tf.nn.l2_normalize(<f>, axis=<a>)
tf.math.cumulative_logsumexp(<f>, axis=<a>)
tf.sequence_mask([1, 2], 3)
tf.boolean_mask(<t>, [True, False])
tf.tensor_scatter_nd_add(<n>, [[0]], <s>[:1])
tf.map_fn(lambda z: z * 2, <n>)
tf.scan(lambda s, z: s + z, <n>)
tf.foldl(lambda s, z: s * z, <n>)
tf.while_loop(lambda z: tf.reduce_sum(tf.abs(z)) > 1.0, lambda z: [z / 2.0], [tf.cast(<f>, tf.float32)])[0]
tf.cond(tf.size(<t>) > 2, lambda: <t>, lambda: <s>)
""".strip().splitlines()

KINDS = {
    "f": lambda d: d.is_floating,
    "r": lambda d: d.is_floating or d in (tf.int32, tf.int64),
    "n": lambda d: d.is_floating or d in (tf.int32, tf.int64) or d.is_complex,
    "i": lambda d: d in (tf.int32, tf.int64),
    "b": lambda d: d is tf.bool,
    "t": lambda d: True,
}
VALUES = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 0.25, 7.0])
SHAPES = st.sampled_from([(), (3,), (2, 3), (3, 2), (1, 3), (2, 1, 3), (2,), (3, 3), (0, 3)])
DTYPES = st.sampled_from([tf.float32, tf.float32, tf.float64, tf.int32, tf.int64, tf.bool])


class Program:
    """A source with inputs that it was drawn for; `fails` if its last line raises eagerly."""

    def __init__(self, source: str, inputs: list[Any], fails: bool) -> None:
        self.source = source
        self.inputs = inputs
        self.fails = fails

    def __repr__(self) -> str:
        return f"Program with inputs {self.inputs}:\n{self.source}"


@st.composite
def arrays(draw: Any, dtypes: Any = DTYPES) -> Any:
    """An array of a few exact values."""
    shape, dtype = draw(SHAPES), draw(dtypes)
    size = int(np.prod(shape))
    flat = draw(st.lists(VALUES, min_size=size, max_size=size))
    return np.array(flat).reshape(shape).astype(dtype.as_numpy_dtype)


@st.composite
def expressions(
    draw: Any,
    failing: bool = False,
    dtypes: Any = DTYPES,
    templates: tuple[str, ...] = tuple(TEMPLATES),
    most: int = 10,
) -> Program:
    """A function of one to three tensors that returns everything it computes."""
    inputs = draw(st.lists(arrays(dtypes), min_size=1, max_size=3))
    names = {f"x{i}": tf.constant(a) for i, a in enumerate(inputs)}
    parameters = ", ".join(names)
    lines: list[str] = []
    fails = False
    for _ in range(draw(st.integers(1, most))):
        text = _filled(draw, draw(st.sampled_from(templates)), names)
        if text is None:
            continue
        name = f"x{len(names)}"
        try:
            value = eval(text, {"tf": tf, **names})
        except Exception:
            if failing:
                lines.append(f"{name} = {text}")
                names[name] = None
                fails = True
                break
            continue
        if value.shape.num_elements() > 200:
            continue
        names[name] = value
        lines.append(f"{name} = {text}")
    body = "".join([f"    {line}\n" for line in lines])
    source = f"def f({parameters}):\n{body}    return [{', '.join(names)}]\n"
    return Program(source, inputs, fails)


def _filled(draw: Any, template: str, names: dict[str, Any]) -> str | None:
    """The template with names of tensors of the right kinds, or None if there are none."""
    last: list[Any] = [None]

    def fill(match: Any) -> str:
        kind = match[1]
        if kind == "a":
            return str(draw(st.sampled_from([0, -1, 1])))
        if kind == "l":
            return draw(st.sampled_from(["None", "0", "-1", "1", "[0, 1]", "[]", "[0]"]))
        if kind == "k":
            return str(draw(st.integers(-2, 2)))
        if kind == "s":
            fits = [n for n, v in names.items() if v.dtype is last[0]]
        else:
            fits = [n for n, v in names.items() if KINDS[kind](v.dtype)]
        if not fits:
            raise LookupError(kind)
        chosen = draw(st.sampled_from(fits[::-1]))
        last[0] = names[chosen].dtype
        return chosen

    try:
        return re.sub(r"<(\w)>", fill, template)
    except LookupError:
        return None
