"""Programs that change what is older than the trace, built from their parts.

Each has a thing that is older, somewhere; a change of it in Python; a block that a tensor
decides about, around the change; and a look at the thing, in the program and after it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

_CLASSES = """\
import collections, copy, functools, operator

class Thing:
    def __init__(self): self.x, self.text, self.held = 1, "a", []
    def bump(self): self.x = self.x + 1
    def rename(self): self.text = self.text + "b"
    def keep(self, v): self.held.append(v)
    def forget(self): del self.text

class Table:
    def __init__(self): self.rows = {"a": 1}
    def __setitem__(self, k, v): self.rows[k] = v
    def __delitem__(self, k): del self.rows[k]
    def __iadd__(self, k): self.rows[k] = 0; return self

class Rows(list): pass

"""
# What is older: how it is made, the changes, and the looks. `c` is its place, `x` the tensor.
THINGS: dict[str, tuple[str, list[str], list[str]]] = {
    "list": ("[1, 2]", [
        "c.append(3)", "c.append('t')", "c.append(x)", "c[0] = 7", "c[0] = x", "c[0] += 1", "del c[0]",
        "c.pop()", "c += [5]", "c[:] = [4]", "c.sort(reverse=True)", "c[0], c[1] = c[1], c[0]",
        "list.append(c, 3)", "functools.partial(c.append, 3)()", "[c.append(v) for v in (1, 2)]",
        "operator.setitem(c, 0, 9)",
    ], ["len(c)", "c[0]"]),
    "dict": ("{'a': 1}", [
        "c['a'] = 7", "c['a'] = 'hello'", "c['a'] = x", "c['b'] = 5", "c['b'] = x", "c.update(b=3)", "c.pop('a', 0)",
        "del c['a']", "c.clear()", "c.setdefault('b', 4)", "c['b'] = c.get('b', 0) + 1", "c |= {'b': 3}",
    ], ["len(c)", "size(c.get('a', -5))"]),
    "defaultdict": ("collections.defaultdict(int)", ["c['a'] += 1", "c['a']", "y = c['b']", "y = size(c['d'])"], ["len(c)", "c.get('a', -1)"]),
    "Counter": ("collections.Counter('aab')", ["c.update('a')", "c['a'] += 1", "del c['a']"], ["c['a']"]),
    "OrderedDict": ("collections.OrderedDict(a=1, b=2)", ["c.move_to_end('a')", "c.popitem()"], ["c[next(iter(c))]"]),
    "set": ("{1}", ["c.add(2)", "c.discard(1)", "c |= {5}", "c.clear()"], ["len(c)"]),
    "deque": ("collections.deque([1, 2])", ["c.append(3)", "c.append(x)", "c.popleft()", "c[0] = 4", "c.rotate(1)"], ["len(c)", "c[0]"]),
    "ndarray": ("np.array([1, 2], 'int32')", ["c[0] = 7", "c.fill(4)", "c += 1", "np.copyto(c, 5)", "np.add(c, 1, out=c)"], ["int(c[0])"]),
    "bytearray": ("bytearray(b'ab')", ["c.append(3)", "c[0] = 7"], ["len(c)", "c[0]"]),
    "object": ("Thing()", [
        "c.x = 5", "c.x += 1", "c.x = x", "c.text = 'abc'", "c.bump()", "c.rename()", "c.keep(3)", "c.keep(x)",
        "c.new = 3", "c.forget()", "setattr(c, 'x', 9)", "object.__setattr__(c, 'x', 9)", "vars(c)['x'] = 8", "c.x = None",
    ], ["size(c.x)", "len(getattr(c, 'text', ''))", "len(c.held)", "getattr(c, 'new', -1)"]),
    "container of a class": ("Table()", ["c['a'] = 7", "c['b'] = 7", "del c['a']", "c += 'b'"], ["len(c.rows)", "c.rows.get('a', -1)"]),
    "list of a class": ("Rows([1, 2])", ["c.append(3)", "c.append(x)", "c[0] = 7"], ["len(c)", "c[0]"]),
    "nested": ("{'l': [1], 'd': {'k': 1}}", ["c['l'].append(2)", "c['d']['k'] = 2", "c['d']['n'] = 2", "c['l'] = [1, 2, 3]"], ["len(c['l'])", "len(c['d'])", "c['d']['k']"]),
}  # fmt: skip
# Where it is: what makes it, and how the program names it.
PLACES = {
    "global": ("c = {0}\n", "c"),
    "attribute": ("class Holder: pass\nh = Holder()\nh.c = {0}\n", "h.c"),
    "class attribute": ("class Holder:\n    c = {0}\n", "Holder.c"),
    "item": ("d = {{'c': {0}}}\n", "d['c']"),
    "closure": ("", "c"),
    "argument": ("C = {0}\n", "c"),
    # What code that is not converted returns: `get()`.
    "shared": ("C = {0}\n@tf.autograph.experimental.do_not_convert\ndef get(): return C\n", "c"),
    "cached": ("@functools.lru_cache\ndef get(): return {0}\nC = get()\n", "c"),
    "new, and kept": (
        "C, KEPT = {0}, []\n@tf.autograph.experimental.do_not_convert\ndef get():\n"
        "    KEPT.append(copy.deepcopy(C))\n    return KEPT[-1]\n",
        "c",
    ),
}
RETURNED = ("shared", "cached", "new, and kept")
BLOCKS = {
    "if": "if x > 0:\n    {0}",
    "else": "if x > 0:\n    pass\nelse:\n    {0}",
    "while": "i = tf.constant(0)\nwhile i < x:\n    {0}\n    i += 1",
    "for": "for i in tf.range(x):\n    {0}",
    "for rows": "for i in tf.ones([3]) * tf.cast(x, tf.float32):\n    {0}",
    "if in for": "for i in tf.range(x):\n    if i > 0:\n        {0}",
    "if in if": "if x > 0:\n    if x > 1:\n        {0}",
    "break in Python's for": "for i in range(3):\n    if x < i:\n        break\n    {0}",
    "after a return": "if x > 5:\n    return x\n{0}",
    "match": "match x:\n    case 1:\n        {0}\n    case _:\n        pass",
    "try in if": "if x > 0:\n    try:\n        {0}\n    finally:\n        pass",
}
_SIZE = "def size(v):\n    return len(v) if isinstance(v, str) else -9 if v is None else v\n"


class Program(NamedTuple):
    """The parts of one program."""

    thing: str
    change: str
    place: str
    block: str
    helped: bool  # a function makes the change
    look: str

    @property
    def changing(self) -> str:
        """The text that makes the change."""
        return self.change if self.helped else _named(self.change, PLACES[self.place][1])

    @property
    def source(self) -> str:
        """Source whose `f` is the pair of the program and a look at the thing."""
        setup, name = PLACES[self.place]
        made = THINGS[self.thing][0]
        change, look = self.changing, _named(self.look, name)
        helper = f"def helper(c, x):\n    {self.change}\n" if self.helped else ""
        rebinds = " += " in self.change or " |= " in self.change
        if self.helped:
            change = f"helper({name}, x)"
            rebinds = False
        head = {"global": "global c", "closure": "nonlocal c"}.get(self.place, "")
        given = ", c=C" if self.place == "argument" else ""
        body = BLOCKS[self.block].format(change)
        if self.place in RETURNED:
            body = f"c = get()\n{body}"
        if rebinds and head:
            body = f"{head}\n{body}"
        program = f"def step(x{given}):\n{_indented(body)}    return x * 1000 + {look}\n"
        seen = _named(self.look, "C") if given or self.place in RETURNED else look
        if self.place == "new, and kept":
            seen = _named(self.look, "KEPT[-1]")
        program += f"def looked():\n    return {seen}\n"
        start = _CLASSES + _SIZE + setup.format(made)
        if self.place == "closure":
            inner = _indented(helper + program)
            return f"{start}def outer():\n    c = {made}\n{inner}    return step, looked\nf = outer()\n"
        return f"{start}{helper}{program}f = step, looked\n"


def _named(text: str, name: str) -> str:
    """A text about `c` that is about what is there by this name."""
    parts = ("c.", "c[", "c ", "c)", "c,", "(c)")
    for at in range(len(text) - 1, -1, -1):
        alone = at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "'\"._")
        if text[at] == "c" and alone and text[at : at + 2] in parts:
            text = text[:at] + name + text[at + 1 :]
    return text


def _indented(text: str) -> str:
    return "".join([f"    {line}\n" for line in text.splitlines()])


def programs() -> Iterator[Program]:
    """Each change of each thing, cycling through places, blocks and looks."""
    turns = itertools.count()
    for thing, (_, changes, looks) in THINGS.items():
        for change in changes:
            for helped in (False, True):
                n = next(turns)
                yield Program(
                    thing,
                    change,
                    list(PLACES)[n % len(PLACES)],
                    list(BLOCKS)[n % len(BLOCKS)],
                    helped,
                    looks[n // 2 % len(looks)],
                )
