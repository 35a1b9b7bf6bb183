"""Writes docs/xla.md: what becomes of each op in an XLA program, or why it is in none.

    python -m docs.xla            traces the ops' samples and writes the page; needs jax
    python -m docs.xla --check    fails if the page is not what would be written

An op's route is that of its first samples (`tests/ops/samples`), each traced as a program. Ops that no
sample describes, on variables, lists and graphs, are listed by what the evaluator has for them.
"""

from __future__ import annotations

import collections
import pathlib
import sys
import warnings

from docs.generated import put
from intaglio.base.dtypes import string
from intaglio.opdef.op import Op
from intaglio.xla import kernels, registry
from intaglio.xla.evaluator import OUTSIDE, NodeUntraceable
from tests.ops import calls
from tests.ops.recorded import recorded
from tests.xla import samples

PAGE = pathlib.Path(__file__).parent / "xla.md"
# Samples of an op that are traced; the first that gives a program decides.
MAX_SAMPLES = 6
# What ops on variables call these.
VARIABLES = ("resource", "resources", "ref", "var", "input")
# Ops on sizes and places, which XLA's programs know.
OF_SIZES = {"BroadcastArgs", "BroadcastGradientArgs", "ConcatOffset", "Range", "UnravelIndex"}
STRINGS = "its strings are no arrays of XLA"
HEAD = """# Ops as XLA programs

With `INTAGLIO_BACKEND=xla`, or after `intaglio.backend("xla")`, functions with `jit_compile=True` are XLA programs, made by
`jax.jit` (`pip install "intaglio[xla]"`). The page says what becomes of each op; `python -m docs.xla` writes it from
the samples of the ops.

| how | what it is |
| --- | --- |
| rule | a function of `jax.lax` that is registered with the op, in `intaglio/xla/rules/` |
| scalar | the op's elementwise expression, its rule `scalar` |
| expression | the op's expression in other ops, its rule `native` or `decompose` |
| kernel | the op's NumPy kernel, recorded on jax (`intaglio/xla/kernels.py`), on each of its paths where it asks for data |
| known | only what is known when the program is compiled: its inputs must be |

An op in the last table has no program. It divides a function: the interpreter computes it between the programs
before and after it. A warning names the op and the line, `compile_report()` each crossing with its tensors. A loop or
branch with such an op is computed there as a whole. What follows from numbers that are known when a program is
compiled, such as shapes, is computed then, for every op. Sizes that an op takes from an argument of the function
are known: a program is compiled for each value.

Programs of functions that name no device run on the host, also where jax has a GPU.
In a block of `tf.device("/GPU:0")`, or with a [default device](how-to/gpu.md), functions and eager ops are programs of the GPU, with the same table. Products of
float32 have the precision of the device there, TensorFloat-32, as TensorFlow's have, unless
`tf.config.experimental.enable_tensor_float_32_execution(False)` asks for all digits.

Assertions, `tf.debugging.check_numerics` and exceptions that a traced function raises are values of the program, which
the host looks at when it is done: the error is the interpreter's, no variable has what was to be written after it, and a
loop ends with it. So a program with assertions is waited for. Other data are not checked: a gather clamps an index that
is out of range, on accelerators it gives 0 for it, as TensorFlow's do, and an update is left out; a division of
integers by 0 gives no error. On the host an index of a gather or scatter that is known when the program is compiled, such as a
constant, is checked then: the error is the interpreter's. A float cast to an
integer that its dtype does not have becomes the nearest one, and NaN 0, as by TensorFlow's XLA; the host wraps around.

"""


def how(op: Op) -> str:
    """A route of the evaluator, or why there is none."""
    if op.reaches_outside:
        return OUTSIDE[op.reaches_outside]
    tried = samples_of(op)
    if tried:
        return tried
    if op.name in registry.RULES:
        return "rule"
    if any(a.dtype is string for a in (*op.sig.inputs, *op.sig.outputs)):
        return STRINGS
    if calls.samples_of(op.name):
        return "its samples are about strings, or fail"
    plain = op.kernel_fn is not None and not kernels.services(op) - {"stream", "raises"}
    if plain and op.input_names and op.input_names[0] in VARIABLES:
        return "kernel"
    return "it is about lists, graphs or resources that programs do not have"


def samples_of(op: Op) -> str:
    """The route of the op's samples; empty if there are none that can be traced."""
    reason = ""
    for sample in calls.samples_of(op.name)[:MAX_SAMPLES]:
        one = recorded(sample)
        if one is None:
            continue
        try:
            return samples.route(one)
        except NodeUntraceable as e:
            reason = reason or e.reason
            if all(a.dtype.kind in "iu" for a in one.arrays) and one.sample.op in OF_SIZES:
                return "known"
    return reason


def page() -> str:
    """The page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: how(op) for name, op in calls.CATALOGUE.items() if not op.internal}
    routes = ("rule", "scalar", "expression", "kernel", "known")
    text = HEAD
    counts = collections.Counter(found.values())
    programs = sum([counts[r] for r in routes])
    text += (
        f"{programs} of {len(found)} ops have a program.\n\n| how | ops | |\n| --- | --- | --- |\n"
    )
    for route in routes:
        names = ", ".join([f"`{n}`" for n, h in sorted(found.items()) if h == route])
        if names:
            text += f"| {route} | {counts[route]} | {names} |\n"
    text += "\n## Without a program\n\n| why | ops |\n| --- | --- |\n"
    for why in sorted(set(found.values()) - set(routes)):
        names = ", ".join([f"`{n}`" for n, h in sorted(found.items()) if h == why])
        text += f"| {' '.join(why.split())} | {names} |\n"
    return text


if __name__ == "__main__":
    sys.exit(put(PAGE, page(), "--check" in sys.argv))
