"""Functions that read Python's state where no name, attribute or item of it is written, with changes of it.

The reads are in special methods, generators and context managers, which run as Python, in containers of Python's
library, in what is compared or unpacked, and in what is looked for and not there.
"""

import array
import collections
import contextlib
import functools
import os
import types
from types import SimpleNamespace

import numpy as np

from intaglio import tf
from tests.function.changes import Thing


# Each: a function of a changeable thing, how it is changed, and what the message says.
def _key_of_dict():
    t = {"b": 1}
    return (lambda x: x * 2 if "a" in t else x, lambda: t.update(a=1), "'a' in t: False -> True")


def _key_that_is_not_there():
    t = {"a": 1}
    return (lambda x: x * 2 if "a" not in t else x, lambda: t.pop("a"), "'a' in t: True -> False")


def _element_of_list():
    t = [1, 2]
    return (lambda x: x * 2 if 2 in t else x), lambda: t.remove(2), "t: [1, 2] -> [1]"


def _element_of_set():
    t = {1, 2}
    return (lambda x: x * 2 if 2 in t else x), lambda: t.remove(2), "2 in t: True -> False"


def _default_of_get():
    t = {}
    return lambda x: x * t.get("a", 3), lambda: t.update(a=2), "'a' in t: False -> True"


def _default_of_getattr():
    t = Thing()
    return (
        lambda x: x * getattr(t, "k", 3),
        lambda: setattr(t, "k", 2),
        "hasattr(t, 'k'): False -> True",
    )


def _hasattr():
    t = Thing()
    return (
        lambda x: x * 2 if hasattr(t, "k") else x,
        lambda: setattr(t, "k", 2),
        "hasattr(t, 'k'): False -> True",
    )


def _caught_key_error():
    t = {}

    def f(x):
        try:
            return x * t["a"]
        except KeyError:
            return x

    return f, lambda: t.update(a=2), "'a' in t: False -> True"


def _caught_attribute_error():
    t = Thing()

    def f(x):
        try:
            return x * t.k
        except AttributeError:
            return x

    return f, lambda: setattr(t, "k", 2), "hasattr(t, 'k'): False -> True"


def _vars():
    t = Thing(k=1)
    return lambda x: x * vars(t)["k"], lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _compared_list():
    t = [1]
    return (lambda x: x * 2 if t == [1] else x), lambda: t.append(2), "t: [1] -> [1, 2]"


def _unpacked_list():
    t = [1, 2]

    def f(x):
        a, b = t
        return x * a + b

    return f, lambda: t.__setitem__(0, 3), "t: [1, 2] -> [3, 2]"


def _slice():
    t = [1, 2, 3]
    return (lambda x: x * sum(t[:2]), lambda: t.__setitem__(0, 4), "t: [1, 2, 3] -> [4, 2, 3]")


def _keywords():
    t = {"axis": 0}
    return (
        lambda x: tf.reduce_sum(x[None], **t),
        lambda: t.update(axis=1),
        "t: {'axis': 0} -> {'axis': 1}",
    )


def _display_of_items():
    t = {"a": 1}
    return lambda x: x * {"b": 2, **t}["a"], lambda: t.update(a=2), "t: {'a': 1} -> {'a': 2}"


def _setdefault():
    t = {"a": 1}
    return lambda x: x * t.setdefault("a", 5), lambda: t.update(a=2), "t['a']: 1 -> 2"


def _objects_in_comprehension():
    t = [Thing(k=1), Thing(k=2)]
    return (lambda x: x * sum([v.k for v in t]), lambda: setattr(t[1], "k", 5), "v.k: 2 -> 5")


def _parameter_of_lambda():
    t = Thing(k=1)
    return (lambda x: (lambda v: x * v.k)(t), lambda: setattr(t, "k", 5), "v.k: 1 -> 5")


def _deque():
    t = collections.deque([1, 2])
    return lambda x: x * t[0], lambda: t.__setitem__(0, 3), "t[0]: 1 -> 3"


def _user_dict():
    t = collections.UserDict(a=1)
    return lambda x: x * t["a"], lambda: t.update(a=2), 't["a"]: 1 -> 2'


def _chain_map():
    inner = {"a": 1}
    t = collections.ChainMap({}, inner)
    return lambda x: x * t["a"], lambda: inner.update(a=2), 't["a"]: 1 -> 2'


def _read_only_dict():
    inner = {"a": 1}
    t = types.MappingProxyType(inner)
    return lambda x: x * t["a"], lambda: inner.update(a=2), 't["a"]: 1 -> 2'


def _array_of_the_library():
    t = array.array("f", [1, 2])
    return lambda x: x * t[0], lambda: t.__setitem__(0, 3), "t[0]: 1.0 -> 3.0"


def _element_of_numpy_array():
    t = np.array([1.0, 2.0])
    return lambda x: x * float(t[0]), lambda: t.__setitem__(0, 3), "t[0]: "


def _dict_with_attributes():
    class Attributes(dict):
        __getattr__ = dict.__getitem__

    t = Attributes(a=1)
    return lambda x: x * t.a, lambda: t.update(a=2), "t['a']: 1 -> 2"


def _environment():
    os.environ["INTAGLIO_TEST_K"] = "1"
    return (
        lambda x: x * float(os.environ["INTAGLIO_TEST_K"]),
        lambda: os.environ.update(INTAGLIO_TEST_K="2"),
        "os.environ[\"INTAGLIO_TEST_K\"]: '1' -> '2'",
    )


def _environment_by_function():
    os.environ["INTAGLIO_TEST_K"] = "1"
    return (
        lambda x: x * float(os.getenv("INTAGLIO_TEST_K", "7")),
        lambda: os.environ.update(INTAGLIO_TEST_K="2"),
        "['INTAGLIO_TEST_K']: '1' -> '2'",
    )


def _object_without_weak_references():
    t = SimpleNamespace(k=1)
    times = functools.partial(lambda v, x: x * v.k, t)
    return times, lambda: setattr(t, "k", 2), "v.k: 1 -> 2"


def _attribute_of_function():
    def f(x):
        return x * f.k

    f.k = 1
    return f, lambda: setattr(f, "k", 2), "f.k: 1 -> 2"


def _attribute_by_metaclass():
    class Meta(type):
        pass

    class Settings(metaclass=Meta):
        k = 1

    return lambda x: x * Settings.k, lambda: setattr(Settings, "k", 2), "Settings.k: 1 -> 2"


class _Special:
    """All of its special methods read one attribute."""

    def __init__(self):
        self.k, self.table = 1, {"a": 1}

    def __len__(self):
        return self.k

    def __bool__(self):
        return self.k > 1

    def __iter__(self):
        return iter([self.k])

    def __contains__(self, item):
        return item == self.k

    def __eq__(self, other):
        return self.k == other

    __hash__ = None

    def __float__(self):
        return float(self.k)

    def __index__(self):
        return self.k

    def __str__(self):
        return "a" * self.k

    def __getitem__(self, key):
        return self.scaled(key)

    def scaled(self, key):
        return self.k * key

    def __array__(self, dtype=None, copy=None):
        return np.full([2], self.k, np.float32)

    def __enter__(self):
        return self.k

    def __exit__(self, *error):
        pass

    def __getattr__(self, name):
        if name == "missing":
            return self.table["a"]
        raise AttributeError(name)


def _special(use):
    def case():
        t = _Special()
        return lambda x: use(t, x), lambda: setattr(t, "k", 2), "self.k: 1 -> 2"

    return case


def _with(t, x):
    with t as k:
        return x * k


_len = _special(lambda t, x: x * len(t))
_bool = _special(lambda t, x: x * 2 if t else x)
_not = _special(lambda t, x: x * 2 if not t else x)
_and = _special(lambda t, x: x * 2 if t and True else x)
_iter = _special(lambda t, x: x * sum([k for k in t]))  # noqa: C416
_sum = _special(lambda t, x: x * sum(t))
_contains = _special(lambda t, x: x * 2 if 2 in t else x)
_eq = _special(lambda t, x: x * 2 if t == 2 else x)
_float = _special(lambda t, x: x * float(t))
_index = _special(lambda t, x: x * (1, 2, 3)[t])
_str = _special(lambda t, x: x * len(str(t)))
_text = _special(lambda t, x: x * len(f"{t}"))
_getitem = _special(lambda t, x: x * t[3])
_array = _special(lambda t, x: x * tf.convert_to_tensor(t))
_entered = _special(_with)


def _getattr():
    t = _Special()
    return (lambda x: x * t.missing, lambda: t.table.update(a=2), 'self.table["a"]: 1 -> 2')


def _descriptor():
    class Doubled:
        def __get__(self, owner, kind=None):
            return owner.k * 2

    class Settings:
        doubled = Doubled()
        k = 1

    t = Settings()
    return lambda x: x * t.doubled, lambda: setattr(t, "k", 2), "owner.k: 1 -> 2"


def _cached_property():
    class Settings:
        k = 1

        @functools.cached_property
        def doubled(self):
            return self.k * 2

    t = Settings()

    def change():
        t.k = 2
        del t.doubled

    return lambda x: x * t.doubled, change, "t.doubled: 2 -> 4"


def _generator():
    t = Thing(k=1)

    def numbers():
        for _ in range(2):
            yield t.k

    return lambda x: x * sum(numbers()), lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _generator_of_object():
    class Numbers:
        k = 1

        def all(self):
            yield self.k

    t = Numbers()

    def f(x):
        for k in t.all():
            x = x * k
        return x

    return f, lambda: setattr(t, "k", 2), "self.k: 1 -> 2"


def _context_manager():
    t = Thing(k=1)

    @contextlib.contextmanager
    def scale():
        yield t.k

    def f(x):
        with scale() as k:
            return x * k

    return f, lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _custom_gradient():
    t = Thing(k=1.0)

    @tf.custom_gradient
    def straight(x):
        return x * 1.0, lambda dy: dy * t.k

    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = straight(x)
        return tape.gradient(y, x)

    return f, lambda: setattr(t, "k", 2.0), "t.k: 1.0 -> 2.0"


def _function_that_is_not_converted():
    t = Thing(k=1)
    cell = [1, 2]

    def inner():
        return t.k * cell[0]

    @tf.autograph.experimental.do_not_convert
    def outer():
        return inner()

    return lambda x: x * outer(), lambda: cell.__setitem__(0, 5), "cell[0]: 1 -> 5"


IMPLICIT = {
    name[1:]: case
    for name, case in list(globals().items())
    if name.startswith("_") and name[1].islower() and name not in ("_special", "_with")
}
