"""Data classes and frozen sets as arguments: by identity, and by their contents under `generalise("objects")`."""

import dataclasses

import pytest

import intaglio
from intaglio import tf

attr = pytest.importorskip("attr")


@dataclasses.dataclass(frozen=True)
class Frozen:
    by: float
    x: object = None


@dataclasses.dataclass
class Plain:
    by: float


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    by: float


@dataclasses.dataclass(eq=False)
class Identical:
    by: float


@pytest.mark.parametrize("kind", [Frozen, Plain, Slotted])
def test_by_contents(kind: type) -> None:
    f = tf.function(lambda x, o: x * o.by)
    with intaglio.generalise("objects"):
        assert [float(f(tf.constant(1.0), kind(by))) for by in (2.0, 2.0, 3.0, 2.0)] == [
            2.0,
            2.0,
            3.0,
            2.0,
        ]
    assert f.experimental_get_tracing_count() == 2


def test_tensors_in_them_are_inputs() -> None:
    f = tf.function(lambda o: o.x * o.by)
    with intaglio.generalise("objects"):
        for n in range(20):
            assert float(f(Frozen(2.0, tf.constant(float(n))))) == 2.0 * n
        assert f.traces[0].general_calls < 10  # an entry recognises them
    assert f.experimental_get_tracing_count() == 1
    assert not f.captures


def test_objects_with_other_state_stay_objects() -> None:
    f = tf.function(lambda o: tf.constant(o.by))
    with intaglio.generalise("objects"):
        one, other = Identical(1.0), Identical(1.0)
        f(one), f(other)
        more = Frozen(1.0)
        object.__setattr__(more, "extra", 1)
        f(more), f(Frozen(1.0))
    assert f.experimental_get_tracing_count() == 4


def test_frozen_sets() -> None:
    f = tf.function(lambda x, names: x * len(names))
    with intaglio.generalise("objects"):
        for _ in range(3):
            f(tf.constant(1), frozenset(["a", "b"]))
    assert f.experimental_get_tracing_count() == 1


def test_without_it_they_are_tensorflows() -> None:
    f = tf.function(lambda o: tf.constant(o.by))
    with pytest.raises(TypeError, match="Could not generate a generic TraceType"):
        f(Plain(1.0))
    f(Frozen(1.0))
    f(Frozen(1.0))  # the first one is gone
    assert f.experimental_get_tracing_count() == 2


def test_fields_of_attrs_classes_are_no_captures() -> None:
    @attr.s
    class A:
        by = attr.ib()

    @tf.function
    def f(x, a):
        return x * a.by

    for _ in range(20):
        f(tf.constant(1.0), A(2.0))
    assert not f.captures
    assert f.experimental_get_tracing_count() == 1
    assert f.traces[0].general_calls < 10
