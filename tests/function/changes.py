"""Functions that read Python's state, with changes of it that matter, and others that do not."""

import dataclasses
import enum
import typing

import numpy as np

from intaglio import tf


class Thing:
    """An object with attributes."""

    shared = 1.5

    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def times(self, x):
        return x * self.k


class Other(Thing):
    """Does something else with the same attributes."""

    def times(self, x):
        return x + self.k


@dataclasses.dataclass
class Config:
    rate: float = 0.5
    steps: int = 3


class Pair(typing.NamedTuple):
    rate: float
    steps: int


class Mode(enum.Enum):
    TRAIN = 1
    TEST = 2


class Slots:
    __slots__ = ("__weakref__", "k")

    def __init__(self, k):
        self.k = k


# Each: a function of a changeable thing, how it is changed, and what the message says.
def _attribute():
    t = Thing(k=1)
    return lambda x: x * t.k, lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _attribute_of_attribute():
    t = Thing(inner=Thing(k=1))
    return lambda x: x * t.inner.k, lambda: setattr(t.inner, "k", 2), "t.inner.k: 1 -> 2"


def _object_replaced():
    t = Thing(inner=Thing(k=1))
    return (lambda x: x * t.inner.k, lambda: setattr(t, "inner", Thing(k=2)), "t.inner.k: 1 -> 2")


def _class_of_object():
    t = Thing(inner=Thing(k=1))
    return (
        lambda x: t.inner.times(x),
        lambda: setattr(t, "inner", Other(k=1)),
        "type(t.inner): Thing -> Other",
    )


def _attribute_of_class():
    t = Thing()
    return lambda x: x * t.shared, lambda: setattr(t, "shared", 3.5), "t.shared: 1.5 -> 3.5"


def _slot():
    t = Slots(1)
    return lambda x: x * t.k, lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _closure():
    k = 1

    def change():
        nonlocal k
        k = 2

    return lambda x: x * k, change, "k: 1 -> 2"


def _item():
    t = {"k": 1}
    return lambda x: x * t["k"], lambda: t.update(k=2), 't["k"]: 1 -> 2'


def _item_of_list():
    t = [1, 2]
    return lambda x: x * t[1], lambda: t.__setitem__(1, 5), "t[1]: 2 -> 5"


def _item_by_get():
    t = {"k": 1}
    return lambda x: x * t.get("k", 0), lambda: t.update(k=2), "1 -> 2"


def _item_deleted():
    t = {"k": 1}
    return lambda x: x * t["k"], t.clear, 't["k"]: 1 -> nothing'


def _elements():
    t = [1, 2]

    def f(x):
        for k in t:
            x *= k
        return x

    return f, lambda: t.append(3), "t: [1, 2] -> [1, 2, 3]"


def _elements_in_comprehension():
    t = [1, 2]
    return lambda x: x * sum([k for k in t]), lambda: t.append(3), "[1, 2] -> [1, 2, 3]"  # noqa: C416


def _elements_by_a_function():
    t = [1.0, 2.0]
    return lambda x: x + tf.constant(t), lambda: t.__setitem__(0, 5.0), "[1.0, 2.0] -> [5.0, 2.0]"


def _elements_in_a_helper():
    t = Thing(items=[1, 2])

    def helper(items, x):
        return x * items[1]

    return lambda x: helper(t.items, x), lambda: t.items.__setitem__(1, 7), "2 -> 7"


def _length():
    t = [1, 2]
    return lambda x: x * len(t), lambda: t.append(3), "len(t): 2 -> 3"


def _truth():
    t = []

    def f(x):
        if t:
            x = -x
        return x

    return f, lambda: t.append(3), "bool(t): False -> True"


def _truth_of_expression():
    t = Thing(items=[1])
    return (
        lambda x: x if not t.items else -x,
        lambda: t.items.clear(),
        "bool(t.items): True -> False",
    )


def _joined():
    t = [2]
    return lambda x: tf.reshape(x, [-1] + t), lambda: t.__setitem__(0, 1), "t: [2] -> [1]"  # noqa: RUF005


def _items():
    t = {"a": 1}

    def f(x):
        for _, k in t.items():
            x *= k
        return x

    return f, lambda: t.update(b=2), "t: {'a': 1} -> {'a': 1, 'b': 2}"


def _array():
    t = Thing(a=np.array([1.0, 2.0], np.float32))
    return (
        lambda x: x + t.a,
        lambda: setattr(t, "a", np.array([3.0, 2.0], np.float32)),
        "t.a: an array [1.0, 2.0] of float32 -> an array [3.0, 2.0] of float32",
    )


def _tensor():
    t = Thing(a=tf.constant(1.0))
    return lambda x: x + t.a, lambda: setattr(t, "a", tf.constant(2.0)), "t.a: a tensor 1.0"


def _variable():
    t = Thing(a=tf.Variable(1.0))
    return lambda x: x + t.a, lambda: setattr(t, "a", tf.Variable(2.0)), "t.a: "


def _function():
    t = Thing(a=tf.nn.relu)
    return lambda x: t.a(x), lambda: setattr(t, "a", tf.tanh), "t.a: relu (line"


def _compared_with_none():
    t = Thing(a=None)
    return lambda x: x if t.a is None else -x, lambda: setattr(t, "a", 1), "t.a: None -> not None"


def _getattr():
    t = Thing(k=1)
    return lambda x: x * getattr(t, "k"), lambda: setattr(t, "k", 2), "1 -> 2"  # noqa: B009


def _enum():
    t = Thing(mode=Mode.TRAIN)
    return (
        lambda x: x if t.mode is Mode.TRAIN else -x,
        lambda: setattr(t, "mode", Mode.TEST),
        "t.mode: <Mode.TRAIN: 1> -> <Mode.TEST: 2>",
    )


def _named_tuple():
    t = Thing(c=Pair(0.5, 3))
    return lambda x: x * t.c.rate, lambda: setattr(t, "c", Pair(0.7, 3)), "t.c.rate: 0.5 -> 0.7"


def _kind_of_number():
    t = Thing(k=1)
    return lambda x: x * t.k, lambda: setattr(t, "k", True), "t.k: 1 -> True"


def _sign_of_zero():
    t = Thing(k=0.0)
    return lambda x: x * t.k, lambda: setattr(t, "k", -0.0), "t.k: 0.0 -> -0.0"


def _property():
    class Owner:
        def __init__(self):
            self.k = 1

        @property
        def double(self):
            return 2 * self.k

    t = Owner()
    return lambda x: x * t.double, lambda: setattr(t, "k", 4), "self.k: 1 -> 4"


def _in_a_loop():
    t = Thing(k=1)

    def f(x):
        for _ in tf.range(3):
            x = x * t.k
        return x

    return f, lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


def _in_a_branch():
    t = Thing(k=1)

    def f(x):
        if tf.reduce_sum(x) > 0:
            x = x * t.k
        return x

    return f, lambda: setattr(t, "k", 2), "t.k: 1 -> 2"


CHANGES = [v for k, v in list(globals().items()) if k.startswith("_") and callable(v)]


# -- what is no change: each has a function, and what leaves it as it is ------------------------


def no_equal_number():
    t = Thing(k=1.5, text="ab")
    return lambda x: x * t.k if t.text else x, lambda: setattr(t, "k", float("1.5"))


def no_other_item():
    t = {"k": 1, "step": 0}
    return lambda x: x * t["k"], lambda: t.update(step=7, new=1)


def no_unread_attribute():
    t = Thing(k=1, step=0)
    return lambda x: x * t.k, lambda: setattr(t, "step", 1)


def no_equal_object():
    t = Thing(c=Config())
    return lambda x: x * t.c.rate, lambda: setattr(t, "c", Config(steps=9))


def no_assigned_variable():
    t = Thing(v=tf.Variable(1.0))
    return lambda x: x * t.v, lambda: t.v.assign(7.0)


def no_equal_tensor():
    t = Thing(v=tf.constant([1.0, 2.0]))
    return lambda x: x * t.v, lambda: setattr(t, "v", tf.constant([1.0, 2.0]))


def no_equal_array():
    t = Thing(v=np.arange(2.0, dtype="f4"))
    return lambda x: x * t.v, lambda: setattr(t, "v", np.arange(2.0, dtype="f4"))


def no_counter_of_the_trace():
    t = Thing(traces=0)

    def f(x):
        t.traces += 1
        return x * t.traces

    return f, lambda: setattr(t, "traces", 5)


def no_list_that_the_trace_grows():
    t = Thing(log=[])

    def f(x):
        t.log.append("traced")
        return x * len(t.log)

    return f, lambda: t.log.append("more")


def no_attribute_that_the_trace_sets():
    t = Thing(k=0)

    def f(x):
        t.k = 2
        return x * t.k

    return f, lambda: setattr(t, "k", 9)


def no_lazy_variable():
    t = Thing(w=None)

    def f(x):
        if t.w is None:
            t.w = tf.Variable([3.0, 4.0])
        return x * t.w

    return f, lambda: t.w.assign([0.0, 0.0])


def no_object_of_the_trace():
    def f(x):
        t = Thing(k=2)
        for k in [t.k, 3]:
            x = x * k
        return x

    return f, lambda: None


def no_nan():
    t = Thing(k=float("nan"))
    return lambda x: x * t.k, lambda: setattr(t, "k", float("nan"))


def no_same_function():
    def make(k):
        return lambda x: x * k

    t = Thing(f=make(2))
    return lambda x: t.f(x), lambda: setattr(t, "f", make(2))


def no_membership():
    t = {"a": 1}
    return lambda x: x if "a" in t else -x, lambda: t.update(b=1)


def no_truth():
    t = [1]
    return lambda x: x if t else -x, lambda: t.append(2)


def no_type():
    t = Thing(k=[1])
    return lambda x: x if isinstance(t.k, list) else -x, lambda: t.k.append(2)


UNCHANGED = [v for k, v in list(globals().items()) if k.startswith("no_")]
