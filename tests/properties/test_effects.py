"""Effects: prints, asserts and variables happen in program order, and stop where a step fails."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same

LINES = [
    "w.assign(w * 0.5 + <k>)",
    "w.assign_add(x)",
    "y = y + w",
    "tf.print('w', w, output_stream=OUT)",
    "tf.print(<k>, x, output_stream=OUT)",
    "tf.debugging.assert_less(x, <k>, message='limit <k>')",
    "tf.debugging.assert_positive(w, message='sign')",
    "y = y + tf.gather([1.0, 2.0, 3.0], n)",
    "v.scatter_nd_update([[n]], [x])",
    "y = y + v[1]",
    "n = n + 1",
    "x = x - 1.0",
    "y = y + inner(x)",
    "y = tf.debugging.check_numerics(y / w, 'numbers')",
    "y = tf.reduce_sum(tf.reshape(v[: n + 1], [2]))",
]
HEAD = """\
@tf.function
def inner(z):
    w.assign_sub(1.0)
    if z > 1.0:
        tf.print('inner', w, output_stream=OUT)
        return w * z
    else:
        return z

def f(x, n):
    y = x
"""


@st.composite
def bodies(draw: Any) -> str:
    """Source of `f(x, n)` on the variables `w` and `v`, writing to the file OUT."""
    lines: list[str] = []

    def block(indent: int, depth: int) -> None:
        for _ in range(draw(st.integers(1, 4))):
            kind = draw(st.sampled_from(["line"] * 4 + ["if", "for"] * (depth > 0)))
            text = draw(st.sampled_from(LINES)).replace("<k>", str(draw(st.integers(-1, 3))) + ".0")
            pad = "    " * indent
            if kind == "line":
                lines.append(pad + text)
                continue
            lines.append(
                pad
                + {
                    "if": draw(st.sampled_from(["if x > 0.0:", "if w > 1.0:", "if n == 1:"])),
                    "for": draw(st.sampled_from(["for k in tf.range(n):", "for k in range(2):"])),
                }[kind]
            )
            block(indent + 1, depth - 1)

    block(1, 2)
    return HEAD + "\n".join(lines) + "\n    return y, x, n\n"


@examples(3.0)
@given(
    bodies(),
    st.lists(
        st.tuples(st.sampled_from([0.5, 2.0, -1.0]), st.integers(0, 3)), min_size=1, max_size=3
    ),
)
def test_effects_in_program_order(source: str, calls: list[Any]) -> None:
    note(source)
    with tempfile.TemporaryDirectory() as folder:
        eager, eager_text = run(source, calls, pathlib.Path(folder) / "eager", True)
        traced, traced_text = run(source, calls, pathlib.Path(folder) / "traced", False)
    for want, got in zip(eager, traced, strict=True):
        if want.error is not None and not is_effect(want.error):
            return  # work without effect fails where its result is needed, if at all
        assert same(want, got), (want, got)
    assert eager_text == traced_text


def is_effect(error: BaseException) -> bool:
    """True for the error of an assert, which fails in its place in the program."""
    return "limit" in str(error) or "sign" in str(error)


def run(source: str, calls: list[Any], out: pathlib.Path, eagerly: bool) -> Any:
    """What the calls gave, with the variables after each of them, and what was printed."""
    w, v = tf.Variable(1.5), tf.Variable([0.25, 1.0, 2.0])
    tf.config.run_functions_eagerly(eagerly)
    try:
        function = tf.function(load(source, w=w, v=v, OUT=f"file://{out}"))
        seen: list[Any] = []
        for x, n in [*calls, *calls]:
            seen.append(Outcome(lambda x=x, n=n: function(tf.constant(x), tf.constant(n))))
            seen.append(Outcome(lambda: [w, v]))
    finally:
        tf.config.run_functions_eagerly(False)
    return seen, out.read_text() if out.exists() else ""
