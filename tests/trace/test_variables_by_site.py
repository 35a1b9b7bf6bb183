"""`intaglio.variables`: variables that each line of a function makes once; the error without it."""

import pytest

import intaglio
from intaglio import tf


def test_later_traces_find_the_variable_of_the_line() -> None:
    @tf.function
    def f(x):
        v = tf.Variable(1.0)
        v.assign_add(tf.reduce_sum(x))
        return v.read_value()

    with intaglio.variables("once_per_site"):
        found = [float(f(x)) for x in (tf.constant(1.0), tf.constant([1.0]), tf.constant(1.0))]
    assert found == [2.0, 3.0, 4.0]


def test_a_line_that_runs_twice_makes_two() -> None:
    def layer(x):
        w = tf.Variable(1.0)
        return x * w, w

    @tf.function
    def f(x):
        made = []
        for _ in range(3):
            x, w = layer(x)
            made.append(w)
        x, w = layer(x)
        kept.append([*made, w])
        return x

    kept: list[list[object]] = []
    with intaglio.variables("once_per_site"):
        f(tf.constant(1.0))
        f(tf.constant([1.0]))
    assert len(set(map(id, kept[0]))) == 4
    assert [id(v) for v in kept[0]] == [id(v) for v in kept[-1]]


def test_objects_have_variables_of_their_own() -> None:
    class Layer:
        @tf.function
        def __call__(self, x):
            self.w = tf.Variable(x)
            return self.w + x

    one, other = Layer(), Layer()
    with intaglio.variables("once_per_site"):
        assert float(one(tf.constant(1.0))) == 2.0
        assert float(other(tf.constant(3.0))) == 6.0
    assert one.w is not other.w


def test_outside_of_functions_each_call_makes_one() -> None:
    with intaglio.variables("once_per_site"):
        made = [tf.Variable(1.0) for _ in range(2)]
    assert made[0] is not made[1]


def test_the_error_has_both_lines() -> None:
    class Layer:
        @tf.function
        def __call__(self, x):
            self.w = tf.Variable(2.0)
            return x * self.w

    with pytest.raises(ValueError, match="singleton") as e:
        Layer()(tf.constant(1.0))
    notes = "\n".join(e.value.__notes__)
    assert "A variable would be made in test_variables_by_site.py:" in notes
    assert "The first trace has made 1, in test_variables_by_site.py:" in notes
    assert "Make self.w once" in notes


def test_another_mode() -> None:
    with pytest.raises(ValueError, match="variables takes"), intaglio.variables("twice"):  # type: ignore[arg-type]
        pass
