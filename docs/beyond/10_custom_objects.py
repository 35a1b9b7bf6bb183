"""Named tuples, attrs classes and enums are arguments by what they hold, on request data classes and frozen sets too; others by identity, of which `explain` tells."""

import dataclasses
import enum
from typing import NamedTuple

import intaglio
from intaglio import tf


class Mode(enum.Enum):
    FAST = 1
    EXACT = 2


class Scale(NamedTuple):
    by: float


@dataclasses.dataclass(frozen=True)
class Options:
    mode: Mode
    names: frozenset[str]
    scale: Scale
    offset: tf.Tensor


@tf.function
def f(x, options):
    return x * options.scale.by + options.offset


def options(by):
    return Options(Mode.FAST, frozenset(["a", "b"]), Scale(by), tf.constant(by))


x = tf.constant(2.0)
with intaglio.generalise("objects"):
    for _ in range(20):
        assert float(f(x, options(4.0))) == 12.0
    assert f.experimental_get_tracing_count() == 1
    f(x, options(5.0))
(change,) = f.explain()[1].changes
assert (change.path, change.was, change.now) == ("options.scale.by", "4.0", "5.0")


class Plain:
    scale, offset = Scale(3.0), 0.0


f(x, Plain())
f(x, Plain())
assert f.experimental_get_tracing_count() == 4
assert "objects are compared by ==" in f.explain()[-1].changes[0].advice
