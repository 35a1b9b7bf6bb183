"""Writes to containers by every method, in every location and nesting, under several names: as Python, or refused.

Every write of a list goes to every place that can hold one: a variable, an item, an attribute, a
tuple, a variable of a closure. Some of these hold the same list, and names are exchanged.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same
from .test_python_in_blocks import REFUSALS

# Where only the graph knows which list a name has.
ANOTHER = "may be the one that was changed under another name"

HEAD = """\
import contextlib

class Box:
    def __init__(self, items):
        self.items = items

@contextlib.contextmanager
def around():
    yield 2.0

def put(w, x):
    w[0] = x
    return w

def put_if(w, x, n):
    if n > 0:
        w[0] = x * 0.5
    else:
        w.append(x)

def fill(w, x, n):
    for i in tf.range(n):
        w.append(x)

def plus(w, x):
    w += [x]
    return w

def f(x, n):
    a, b = [x, x + 1.0], [x * 2.0]
    c = a
    d = {'k': [x, x * 0.5], 's': b}
    box = Box([x])
    m = [[x], [x + 2.0, x]]
    t = ([x], x)
    e = [x]
    for i in tf.range(2):
        e.append(x * 0.25)

    def note(z):
        nonlocal b
        b.append(z)
        box.items[0] = z

    def anew(z):
        nonlocal e
        e = e + [z]
"""
TAIL = """\
    return x, n, a, b, c, d, box.items, m, t, e
"""
PLACES = ["a", "b", "c", "d['k']", "d['s']", "box.items", "m[0]", "m[1]", "t[0]", "e"]
WRITES = [
    "<l>.append(<e>)",
    "<l>[0] = <e>",
    "<l>[-1] = <e>",
    "<l>[0] += <e>",
    "x = <l>.pop()",
    "<l>.insert(1, <e>)",
    "<l>.extend([<e>, x])",
    "del <l>[0]",
    "<l>[:1] = [<e>, x]",
    "<l>[0], <l>[-1] = <l>[-1], <e>",
    "<l>.reverse()",
    "put(<l>, <e>)",
    "put_if(<l>, <e>, n)",
    "fill(<l>, <e>, n)",
    "plus(<l>, <e>)",
    "w = <l>\n<pad>w[0] = <e>\n<pad>w.append(x)",
]
BINDS = [
    "<v> = <l>",
    "<v> = <l> + [x]",
    "<v> = [<e>, x]",
    "<v> += [<e>]",
    "<v>, <v> = <l>, <l>",
    "<v> = put(<l>, <e>)",
    "a, b = b, a",
    "a, c = c, a",
    "m[0], m[1] = m[1], m[0]",
    "a, box.items = box.items, a",
    "<v> = list(<l>)",
    "<v> = <l>[:]",
    "<v> = plus(<l>, <e>)",
    "anew(<e>)",
    "note(<e>)",
]
READS = [
    "x = x * 0.5 + <l>[0]",
    "x = x * 0.5 + <l>[-1]",
    "n = len(<l>) % 3",
    "x = tf.reduce_sum(tf.stack(<l>)) * 0.125",
    "for v in <l>: x = x * 0.5 + v",
    "x = x + 1.0 if <l> else x",
    "if (k := len(<l>)) > 2: x = x - 1.0",
    "n = (n + 1) % 3",
    "x = x * 0.5 - 0.25",
]
JUMPS = ["if x > 0.5: break", "if n == 1: continue", "if x < -1.0: return <r>"]
BLOCKS = [
    ["for i in tf.range(n):", "for i in tf.range(2):", "for z in tf.stack([x, x + 1.0]):"],
    ["if x > 0.0:", "if n == 1:", "if len(<l>) > 2:"],
    ["for i in range(2):"],
    ["while n < 2:\n<pad>    n = n + 1", "while len(<l>) < 4:\n<pad>    <l>.append(x)"],
    ["match n:\n<pad>    case 0:"],
    ["try:"],
    ["with around() as h:"],
]
SMALL = ["x", "x * 0.5", "x - 1.0", "tf.cast(n, tf.float32)"]
RESULT = TAIL.strip().removeprefix("return ")


@st.composite
def bodies(draw: Any) -> str:
    """Source of `f(x, n)`, which writes to few of the locations."""
    lines: list[str] = []
    places = draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3, unique=True))
    names = [p for p in places if p[0] != "t"] or ["a"]
    chosen = {"<e>": SMALL, "<l>": places, "<v>": names, "<r>": [RESULT]}

    def filled(text: str, pad: str) -> str:
        if text.count("<l>") > 1 and "<v>" not in text:  # one list
            text = text.replace("<l>", draw(st.sampled_from(places)))
        for mark, values in chosen.items():
            while mark in text:
                text = text.replace(mark, draw(st.sampled_from(values)), 1)
        return pad + text.replace("<pad>", pad)

    def block(indent: int, depth: int, most: int, loop: bool = False) -> None:
        pad = "    " * indent
        for _ in range(draw(st.integers(1, most))):
            if depth and draw(st.integers(0, 2)) == 0:
                head = draw(st.sampled_from(draw(st.sampled_from(BLOCKS))))
                lines.append(filled(head, pad))
                compound(indent, depth, head, loop)
                continue
            kinds = [WRITES, WRITES, BINDS, READS, *([JUMPS] if loop else [])]
            text = draw(st.sampled_from(draw(st.sampled_from(kinds))))
            lines.append(filled(text, pad))

    def compound(indent: int, depth: int, head: str, loop: bool) -> None:
        pad = "    " * indent
        begins = head.startswith(("for", "while"))
        block(indent + 1 + head.startswith("match"), depth - 1, 3, loop or begins)
        if head.startswith("match"):
            lines.append(f"{pad}    case _:")
            block(indent + 2, 0, 2, loop)
        elif head.startswith("try"):
            lines.append(f"{pad}finally:")
            block(indent + 1, 0, 1)
        elif not head.startswith("with") and draw(st.booleans()):
            lines.append(f"{pad}else:")
            block(indent + 1, 0, 2, loop)

    block(1, 3, 4)
    return HEAD + "\n".join(lines) + "\n" + TAIL


def check(source: str, calls: list[Any]) -> None:
    """Traced calls give what eager ones give, or say why they cannot."""
    eager, traced = load(source), tf.function(load(source))
    for x, n in [*calls, *calls]:
        want = Outcome(lambda x=x, n=n: eager(tf.constant(x), tf.constant(n)))
        got = Outcome(lambda x=x, n=n: traced(tf.constant(x), tf.constant(n)))
        if got.error is not None:
            known = any(part in str(got.error) for part in (*REFUSALS, ANOTHER))
            assert known or want.error is not None, (x, n, want, got)
            return
        if want.error is None:
            assert same(want, got), (x, n, want, got)


arguments = st.tuples(st.sampled_from([0.5, 2.0, -1.0]), st.integers(0, 2))


@examples(1.0)
@given(bodies(), st.lists(arguments, min_size=1, max_size=3))
def test_eager_and_traced_agree(source: str, calls: list[Any]) -> None:
    note(source)
    check(source, calls)
