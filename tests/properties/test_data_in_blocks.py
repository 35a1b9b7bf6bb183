"""Lists that grow and state that is written out of sight, in staged loops and branches.

Programs nest conditions and loops on tensors; their lines append to lists, take elements
out, and call functions and methods that write variables of closures, attributes, globals
and items. Traced gives what eager gives, or both raise.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same

HEAD = """\
total = None

class Box:
    def __init__(self, x):
        self.x = x
        self.count = 0
        self.kept = []

    def put(self, x):
        self.x = self.x + x
        self.count += 1

    def put_if(self, x):
        if x > 1.0:
            self.x = self.x * 0.5
            self.kept.append(x)
        else:
            self.count += 2

    def keep(self, x):
        self.kept.append(x)

def add(items, x):
    items.append(x)

def total_up(x):
    global total
    total = total + x

def f(x, n):
    global total
    total = x * 0.0
    y = x
    k = 0
    items = [x]
    pairs = []
    box = Box(x)
    table = {'v': x, 'n': 0, 'items': [x]}

    def bump(z):
        nonlocal y, k
        y = y + z
        k += 1
        return y

    def note(z):
        table['v'] = table['v'] * 0.5 + z
        table['n'] += 1
        table['items'].append(z)
"""
TAIL = """\
    return (y, k, items, len(items), pairs, box.x, box.count, box.kept, total, table)
"""
LINES = [
    "items.append(<e>)",
    "items.append(<e>)",
    "add(items, <e>)",
    "items.extend([<e>, <e>])",
    "items += [<e>]",
    "items.insert(0, <e>)",
    "items[0] = <e>",
    "x = items[-1]",
    "x = x + tf.reduce_sum(tf.stack(items)) * 0.125",
    "n = len(items) % 3",
    "pairs.append((<e>, n))",
    "box.put(<e>)",
    "box.put_if(<e>)",
    "box.keep(<e>)",
    "bump(<e>)",
    "x = bump(<e>) * 0.5",
    "total_up(<e>)",
    "note(<e>)",
    "x = x * 0.5 + 0.25",
    "n = (n + 1) % 3",
    "x = bump(x) if x > 0.5 else x - 1.0",
    "x = box.x if n > 0 and bump(x) > 0.0 else x",
    "if (z := x * 0.5) > 0.25: x = z",
    "if n > 0 and (z := x + 1.0) > 1.0: x = z * 0.5",
]
JUMPS = ["if x > 0.5: break", "if n == 1: continue", "if len(items) > 4: break"]
BLOCKS = [
    ["for i in tf.range(n):", "for i in tf.range(2):", "for z in tf.stack([x, y]):"],
    ["if x > 0.0:", "if n == 1:", "if len(items) > 2 and x < 1.0:"],
    ["for i in range(2):"],
    ["while (k0 := len(items)) < 4:\n<pad>    items.append(x + 0.0)"],
    ["match n:\n<pad>    case 0:", "match n:\n<pad>    case w if w > 1:"],
]
SMALL = ["x", "y", "x * 0.5", "x - 1.0", "box.x", "table['v']", "total", "2.0 * x"]


@st.composite
def bodies(draw: Any) -> str:
    """Source of `f(x, n)`."""
    lines: list[str] = []

    def block(indent: int, depth: int, most: int, loop: bool = False) -> None:
        pad = "    " * indent
        for _ in range(draw(st.integers(1, most))):
            if depth and draw(st.integers(0, 2)) == 0:
                head = draw(st.sampled_from(draw(st.sampled_from(BLOCKS))))
                lines.append(pad + head.replace("<pad>", pad))
                inner = indent + 1 + head.startswith("match")
                begins = head.startswith(("for", "while"))
                block(inner, depth - 1, 3, loop or begins)
                if head.startswith("match"):
                    lines.append(f"{pad}    case _:")
                    block(indent + 2, 0, 2, loop)
                elif draw(st.booleans()):
                    lines.append(f"{pad}else:")
                    block(indent + 1, 0, 2, loop)
                continue
            text = draw(st.sampled_from([*LINES, *JUMPS] if loop else LINES))
            while "<e>" in text:
                text = text.replace("<e>", draw(st.sampled_from(SMALL)), 1)
            lines.append(pad + text)

    block(1, 3, 5)
    return HEAD + "\n".join(lines) + "\n" + TAIL


arguments = st.tuples(st.sampled_from([0.5, 2.0, -1.0]), st.integers(0, 2))


@examples(0.5)
@given(bodies(), st.lists(arguments, min_size=1, max_size=3))
def test_eager_and_traced_agree(source: str, calls: list[Any]) -> None:
    note(source)
    eager, traced = load(source), tf.function(load(source))
    for x, n in [*calls, *calls]:
        want = Outcome(lambda x=x, n=n: eager(tf.constant(x), tf.constant(n)))
        got = Outcome(lambda x=x, n=n: traced(tf.constant(x), tf.constant(n)))
        if want.error is not None and got.error is not None:
            return
        assert same(want, got), (x, n, want, got)
