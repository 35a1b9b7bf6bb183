"""Random statements: nested conditions and loops on tensors and Python values.

Names are typed: `a b` are float32 scalars, `v` a float32 vector of three, `i j` int32 scalars,
`p q` Python ints at the start, `t` a pair (float, int), `d` a dictionary, `s` an object with
an attribute. Loops have counters of their own, so that every program ends.
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st


class Writer:
    """Draws one function as lines of source."""

    def __init__(self, draw: Any, **features: bool) -> None:
        self.draw = draw
        self.features = features
        self.lines: list[str] = []
        self.counter = 0

    def pick(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def text(self, *templates: str, depth: int = 0) -> str:
        """One of the templates, with an expression in the place of each `<kind>`."""
        chosen = self.pick(*templates)
        return re.sub(r"<(\w)>", lambda m: self.expression(m[1], depth), chosen)

    def expression(self, kind: str, depth: int) -> str:
        """An expression: a name or constant at depth 0, mostly a larger one above."""
        if depth and self.pick(True, True, False):
            return self.text(*LARGE[kind], depth=depth - 1)
        return self.text(*SMALL[kind])

    # -- statements --------------------------------------------------------------------

    def block(self, indent: int, depth: int, loop: str | None) -> None:
        for _ in range(self.pick(1, 2, 3)):
            if self.statement(indent, depth, loop):
                return

    def put(self, indent: int, *templates: str, depth: int = 1) -> None:
        self.lines.append("    " * indent + self.text(*templates, depth=depth))

    def statement(self, indent: int, depth: int, loop: str | None) -> bool:
        """Writes a statement; True if nothing may follow in this block."""
        kinds = ["assign"] * 6
        if depth:
            kinds += ["if", "if", "while", "for", "for"]
        if loop:
            kinds += ["jump"]
        if self.features.get("returns", True) and indent > 1:
            kinds += ["return"]
        if self.features.get("raises", False):
            kinds += ["check", "raise"] if indent > 1 else ["check"]
        kind = self.pick(*kinds)
        return bool(getattr(self, f"_{kind}")(indent, depth, loop))

    def _assign(self, indent: int, depth: int, loop: str | None) -> None:
        simple = [t for group in ASSIGNMENTS for t in group]
        some = [*simple, *STATEFUL] if self.features.get("variables", True) else simple
        self.put(indent, *some, depth=2)

    def _return(self, indent: int, depth: int, loop: str | None) -> bool:
        self.put(indent, f"return {RESULT}")
        return True

    def _raise(self, indent: int, depth: int, loop: str | None) -> bool:
        kind = self.pick("ValueError", "KeyError", "Rejected")
        if self.pick(True, True, False):
            self.put(indent, "if <c>:")
            self.put(indent + 1, f"raise {kind}(f'{{a}} {{i}} {{s.x}}')")
            return False
        self.put(indent, f"raise {kind}(f'{{b}}')")
        return True

    def _check(self, indent: int, depth: int, loop: str | None) -> None:
        self.put(indent, "assert <c> or <c>, f'{a} {v}'", "assert a < <f> + 5.0")

    def _jump(self, indent: int, depth: int, loop: str | None) -> None:
        tests = ["if <c>:"] if loop == "tensor" else ["if <c>:", f"if {loop} == 1:"]
        self.put(indent, *tests)
        if self.pick(False, True):
            self.put(indent + 1, "a = <f>", "i = <i>")
        self.put(indent + 1, "break", "continue")

    def _if(self, indent: int, depth: int, loop: str | None) -> None:
        self.put(indent, "if <c>:")
        self.block(indent + 1, depth - 1, loop)
        if self.pick(False, False, True):
            self.put(indent, "elif <c>:")
            self.block(indent + 1, depth - 1, loop)
        if self.pick(False, True):
            self.put(indent, "else:")
            self.block(indent + 1, depth - 1, loop)

    def _while(self, indent: int, depth: int, loop: str | None) -> None:
        self.counter += 1
        k = f"k{self.counter}"
        tensor = self.pick(True, True, False)
        self.put(indent, f"{k} = tf.constant(0)" if tensor else f"{k} = 0")
        if self.pick(False, False, False, True):
            self.put(indent, "while True:")
            self.put(indent + 1, f"{k} += 1")
            self.put(indent + 1, f"if {k} > 3:", f"if {k} > 2 or <c>:")
            self.put(indent + 2, "break")
        else:
            tests = ["2", "3", "i % 4", "2 and <c>", "4 and <c>"] if tensor else ["2"]
            self.put(indent, *[f"while {k} < {t}:" for t in tests], depth=0)
            self.put(indent + 1, f"{k} += 1")
        self.block(indent + 1, depth - 1, "tensor" if tensor else k)

    def _for(self, indent: int, depth: int, loop: str | None) -> None:
        self.counter += 1
        k = f"k{self.counter}"
        kind = self.pick("range", "vector", "python", "rows")
        self.put(indent, *[f"for {k} in {s}:" for s in SEQUENCES[kind]])
        name = {"range": "i", "vector": "a", "python": "i", "rows": "v"}[kind]
        self.put(indent + 1, f"{name} = {name} + {k}")
        inside = k if kind == "python" else "tensor"
        self.block(indent + 1, depth - 1, inside)


SMALL = {
    "f": ["a", "b", "t[0]", "d['k']", "s.x", "v[0]", "v[i % 3]", "1.5", "-0.5", "2.0"],
    "v": ["v"],
    "i": ["i", "j", "t[1]", "1", "2", "-3", "p"],
    "p": ["p", "q", "1", "(p + 1) % 5", "(q + p) % 4", "(q * 3) % 5"],
    "c": [
        "a > <f>",
        "b < <f>",
        "i > <i>",
        "j <= <i>",
        "i % 2 == 0",
        "0 < i < 4",
        "tf.reduce_any(v > 0.5)",
        "p > 1",
        "q != p",
        "c",
    ],
}
LARGE = {
    "f": [
        "(<f> + <f>)", "(<f> - <f>)", "(<f> * 0.5)", "tf.minimum(<f>, <f>)", "tf.sin(<f>)",
        "tf.reduce_sum(<v>)", "tf.cast(<i>, tf.float32)", "(<f> if <c> else <f>)",
        "tf.where(<c>, <f>, <f>)", "abs(<f>)", "(a + <f>) / 2.0",
    ],
    "v": [
        "v", "(v + <f>)", "(v * <f>)", "tf.stack([<f>, <f>, <f>])", "v[::-1]",
        "tf.sin(v)", "tf.cumsum(v)", "tf.where(v > <f>, v, <f>)",
    ],
    "i": [
        "(<i> + <i>)", "(<i> - <i>)", "(<i> * <i>) % 7", "(<i> // 2)", "(<i> % 5)",
        "abs(<i>)", "tf.cast(<f>, tf.int32)", "len(v) + i",
    ],
    "p": SMALL["p"],
    "c": [
        "(<c> and <c>)", "(<c> or <c>)", "(not <c>)", "a > <f>", "i > <i>", "j != <i>",
        "a > b > <f>",
    ],
}  # fmt: skip
ASSIGNMENTS = [
    ["a = <f>", "b = <f>", "v = <v>", "i = <i>", "j = <i>", "c = <c>"],
    ["p = <p>", "q = <p>", "d['k'] = <f>", "s.x = <f>", "t = (<f>, <i>)"],
    ["a += <f>", "b -= <f>", "i += <i>", "v *= 0.5"],
    ["a, b = b, a + b", "i, j = j, i", "b, a = t[0], b"],
    ["a = helper(<f>, i)", "b, j = pair(<f>, j)"],
    ["a = (lambda z: z + 1.0 if z > 0.0 else z)(<f>)"],
]
STATEFUL = [
    "w.assign(<f>)",
    "w.assign_add(<f>)",
    "a = w * 1.0",
    "b = w.read_value()",
    "v = v + w",
    "n.assign_add(<i>)",
    "i = n % 5",
    "m.assign(<v>)",
    "v = m + 0.0",
    "m.scatter_nd_update([[i % 3]], [<f>])",
]
SEQUENCES = {
    "range": [
        "tf.range(3)",
        "tf.range(i % 4)",
        "range(i % 3)",
        "tf.range(0)",
        "tf.range(3, 0, -1)",
    ],
    "vector": ["v", "tf.sin(v)", "tf.zeros([0])"],
    "python": ["range(3)", "[1, 2]"],
    "rows": ["tf.stack([v, v + 1.0])"],
}
RESULT = "a, b, v, i, j, t, d['k'], s.x"


HEAD = """\
class Thing:
    def __init__(self):
        self.x = tf.constant(0.25)

def helper(z, n):
    if z > 0.5:
        z = z - 1.0
    for k in tf.range(n % 3):
        z += 0.5
        if z > 3.0:
            break
    return z

def pair(z, n):
    if n > 1:
        return z * 2.0, n - 1
    return z, n

def f(a, b, v, i, j):
    p, q = 2, 3
    c = a > b
    t = (a, j)
    d = {'k': b}
    s = Thing()
"""


@st.composite
def programs(draw: Any, **features: bool) -> str:
    """The source of a function `f(a, b, v, i, j)`."""
    writer = Writer(draw, **features)
    writer.block(1, 3, None)
    writer.block(1, 2, None)
    writer.put(1, f"return {RESULT}")
    return HEAD + "\n".join(writer.lines) + "\n"


arguments = st.tuples(
    st.sampled_from([0.0, 1.5, -2.25, 0.75]),
    st.sampled_from([0.5, -1.0, 3.0]),
    st.sampled_from([[0.5, -1.0, 2.0], [0.0, 0.0, 0.0], [-1.5, 0.25, -3.0]]),
    st.integers(-2, 5),
    st.integers(-1, 3),
)
