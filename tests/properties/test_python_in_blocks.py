"""Everything that Python has, in staged blocks: traced gives what eager gives, or says why not.

Programs nest all statements, and change dictionaries, sets, lists, attributes and variables of
closures in them, directly and in helpers. What a graph cannot carry is refused, with one of the
messages below; it is never another result.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .programs import Outcome, examples, load, same

HEAD = """\
import contextlib

class Box:
    def __init__(self, x):
        self.x = x
        self.last = None

    def put(self, x):
        self.x = self.x * 0.5 + x
        self.last = x

    def first(self, x):
        if self.last is None:
            self.last = x
        return self.last

    def make(self, x):
        self.made = x

def count(c, k, x):
    c[k] = c.get(k, 0.0) + x

def collect(items, x):
    items.append(x)
    return items[-1]

def pick(x, n):
    if n > 1:
        return x
    for i in tf.range(3):
        if i > n:
            return x * 0.5
    return x - 1.0

@contextlib.contextmanager
def around(log):
    log.append('in')
    yield 2.0
    log.append('out')

def f(x, n):
    y = x
    k = 1
    items, c, d, s, t = [x], {'a': x}, {'v': x, 'in': {'w': x}}, {1}, (x, n)
    log, words = [], ['u', 'v']
    box = Box(x)

    def bump(z):
        nonlocal y, k
        y = y * 0.5 + z
        k = k + 1
        return y
"""
TAIL = """\
    return y, k, x, n, t, items, sorted(c), c, d, box.x, len(log), words
"""
LINES = [
    "x = <e>", "y = <e>", "n = (n + 1) % 3", "t = (<e>, n)", "x, y = y, <e>", "x, n = t",
    "count(c, 'a', <e>)", "count(c, 'b', <e>)", "c['a'] = <e>", "c['new'] = <e>", "d['in']['w'] = <e>",
    "d['v'] += <e>", "c.update(a=<e>)", "x = c.setdefault('z', <e>)", "x = c.get('b', <e>)",
    "x = c.pop('b', <e>)", "x = x + 1.0 if 'b' in c else x", "del d['v']", "s.add(2)", "s.discard(1)",
    "k = k + len(s)", "items.append(<e>)", "items[0] = <e>", "x = collect(items, <e>)",
    "x = items[-1]", "items.pop()", "items += [<e>]", "items.reverse()", "items[:1] = [<e>, <e>]",
    "box.put(<e>)", "x = box.first(<e>)", "box.make(<e>)", "box.x = <e>", "x = bump(<e>)", "bump(<e>)",
    "x = pick(<e>, n)", "x = sum([z * 0.5 for z in (x, y)])", "x = [z for z in (x, y)][0]",
    "x = (lambda z: z + y if z > 0.0 else z)(<e>)", "words[0] = 'w'", "k = k + 1",
    "x = tf.reduce_sum(tf.stack(items))", "x = float(len(items)) + x",
    "x = x if (w := n) > 1 else y", "words.append('x')", "n = n + k % 2",
]  # fmt: skip
JUMPS = [
    "if x > 0.5: break",
    "if n == 1: continue",
    "if x < -1.0: return <r>",
    "if n > 1 and x > 0.0: return <r>",
    "break",
]
BLOCKS = [
    ["for i in tf.range(n):", "for i in range(n):", "for i in tf.range(3):"],
    ["for z in tf.stack([x, y]):", "for i, z in tf.data.Dataset.range(3).enumerate():"],
    ["for q in [1, 2]:", "for w in words:", "for q in range(2):"],
    ["if x > 0.0:", "if n == 1:", "if x > 0.0 and n > 0:", "if k > 2:", "if x > y > 0.0:"],
    ["while x > 0.25:\n<pad>    x = x * 0.5", "while (n := n + 1) < 3:"],
    ["try:"],
    ["with around(log) as h:"],
    ["match n:\n<pad>    case 0:"],
]
SMALL = ["x", "y", "x * 0.5", "x - 1.0", "box.x", "c['a']", "2.0", "tf.cast(n, tf.float32)", "t[0]"]
RESULT = "y, k, x, n, t, items, sorted(c), c, d, box.x, len(log), words"


@st.composite
def bodies(draw: Any) -> str:
    """Source of `f(x, n)`."""
    lines: list[str] = []

    def filled(text: str) -> str:
        while "<e>" in text:
            text = text.replace("<e>", draw(st.sampled_from(SMALL)), 1)
        return text.replace("<r>", RESULT)

    def block(indent: int, depth: int, most: int, loop: bool = False) -> None:
        pad = "    " * indent
        for _ in range(draw(st.integers(1, most))):
            if depth and draw(st.integers(0, 2)) == 0:
                head = draw(st.sampled_from(draw(st.sampled_from(BLOCKS))))
                lines.append(pad + head.replace("<pad>", pad))
                compound(indent, depth, head, loop)
                continue
            options = [*LINES, *JUMPS] if loop else LINES
            text = filled(draw(st.sampled_from(options)))
            lines.append(pad + text)
            if text == "break":
                return

    def compound(indent: int, depth: int, head: str, loop: bool) -> None:
        pad = "    " * indent
        begins = head.startswith(("for", "while"))
        block(indent + 1 + head.startswith("match"), depth - 1, 3, loop or begins)
        if head.startswith("match"):
            lines.append(f"{pad}    case _:")
            block(indent + 2, 0, 2, loop)
        elif head.startswith("try"):
            kind = draw(st.sampled_from(["finally:", "except KeyError:"]))
            lines.append(pad + kind)
            block(indent + 1, 0, 1)
        elif not head.startswith("with") and draw(st.booleans()):
            lines.append(f"{pad}else:")
            block(indent + 1, 0, 2, loop)

    block(1, 3, 5)
    return HEAD + "\n".join(lines) + "\n" + TAIL


arguments = st.tuples(st.sampled_from([0.5, 2.0, -1.0]), st.integers(0, 2))

# What a graph cannot do, as docs/autograph.md says it.
REFUSALS = (
    "differs between the main and the else branch",
    "is not there at the end of both branches",
    "changes is another one in each iteration",
    "that an iteration of the loop changes",
    "that one iteration changes",
    "must also be initialized in the",
    "must also have a return statement",
    "must have the same nested structure",
    "does not have the same nested structure",
    "must be defined before the loop",
    "is None at the end of",
    "is not allowed to be None before the loop",
    "has dtype",
    "is used before assignment",
    "loop must iterate at least once",
    "This list",
    "A list that grows",
    "a list that grows",
    "is None here",
    "has another name, by which",
    "gives a tensor or None",
    "has shape",
    "out of bounds",
    "The condition of while loop",
    "depend on a TF condition",
    "Iterating over a symbolic",
    "Using a symbolic",
    "list element shape",
    "Trying to stack elements of an empty list",
    "an item of this",
)


@examples(1.0)
@given(bodies(), st.lists(arguments, min_size=1, max_size=3))
def test_eager_and_traced_agree(source: str, calls: list[Any]) -> None:
    note(source)
    eager, traced = load(source), tf.function(load(source))
    for x, n in [*calls, *calls]:
        want = Outcome(lambda x=x, n=n: eager(tf.constant(x), tf.constant(n)))
        got = Outcome(lambda x=x, n=n: traced(tf.constant(x), tf.constant(n)))
        if got.error is not None:
            told = str(got.error)
            known = any(part in told for part in REFUSALS)
            assert known or want.error is not None, (x, n, want, got)
            return
        if want.error is None:
            assert same(want, got), (x, n, want, got)
