"""Private names and those of TensorFlow 1, which libraries import; answers recorded from 2.21."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.compat_v1 import renamed
from intaglio.tensorflow_name import inspection, structures
from tests.tensorflow_name.process import printed_by


def test_tables_of_private_modules_lead_to_public_names() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        import tensorflow as tf
        import tensorflow.compat.v2 as tf2
        from tensorflow.python.framework import dtypes, tensor_shape, tensor_util
        from tensorflow.python.ops import array_ops, gen_math_ops, math_ops
        from tensorflow.python.util import deprecation, nest, tf_inspect
        print(tf2 is tf, math_ops.reduce_sum is tf.reduce_sum, dtypes.float32 is tf.float32)
        print(gen_math_ops.mat_mul([[1.]], [[2.]]).numpy(), array_ops.zeros([1]).numpy())
        print(tensor_util.constant_value_as_shape([2, -1]), tensor_shape.as_shape([1]))
        for text in ("import tensorflow.python.no.such", "math_ops.no_such"):
            try:
                exec(text)
            except (ImportError, AttributeError) as error:
                print(type(error).__name__, "no" in str(error))
        """
    ) == [
        "True True True",
        "[[2.]] [0.]",
        "(2, None) (1,)",
        "ModuleNotFoundError True",
        "AttributeError True",
    ]


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "expected"),
    [
        ("reduce_sum", ([[1, 2], [3, 4]],), {"reduction_indices": 1}, [3, 7]),
        ("reduce_max", ([[1, 2], [3, 4]], 0), {"keep_dims": True}, [[3, 4]]),
        ("argmax", ([1, 3, 2],), {"dimension": 0}, 1),
        ("expand_dims", ([1, 2],), {"dim": 0}, [[1, 2]]),
        ("squeeze", ([[1]],), {"squeeze_dims": [0]}, [1]),
        ("gather", ([[1, 2], [3, 4]], [1]), {"axis": 1}, [[2], [4]]),
        ("transpose", ([[1, 2]],), {}, [[1], [2]]),
        ("to_int32", (2.7,), {}, 2),
        ("div", (7, 2), {}, 3),
        ("zeros_like", ([1, 2],), {"optimize": False}, [0, 0]),
    ],
)
def test_functions_of_tensorflow_1_take_their_own_parameters(name, args, kwargs, expected) -> None:
    assert getattr(tf.compat.v1, name)(*args, **kwargs).numpy().tolist() == expected


def test_parameters_that_do_not_exist_or_say_one_thing_twice_are_errors() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        tf.compat.v1.reduce_sum([1], nothing=1)
    with pytest.raises(ValueError, match="Cannot specify both"):
        tf.compat.v1.reduce_sum([1], axis=0, reduction_indices=0)


def test_every_renamed_function_leads_somewhere() -> None:
    missing = [
        name for name in renamed.names() if not callable(getattr(renamed, name.replace(".", "__")))
    ]
    assert not missing


def test_variables_of_a_scope_are_found_again_in_a_graph() -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        with v1.variable_scope("a"):
            w = v1.get_variable("w", [2], initializer=v1.zeros_initializer())
            with pytest.raises(ValueError, match="already exists"):
                v1.get_variable("w", [2])
        with v1.variable_scope("a", reuse=True):
            assert v1.get_variable("w", [2]) is w
            with pytest.raises(ValueError, match="does not exist"):
                v1.get_variable("other", [2])
        assert w.name == "a/w:0"
        assert v1.trainable_variables() == [w]


def test_losses_are_weighted_as_in_tensorflow_1() -> None:
    losses = tf.compat.v1.losses
    assert losses.mean_squared_error([1.0, 2.0], [2.0, 4.0]).numpy() == 2.5
    weighted = losses.absolute_difference([1.0, 2.0], [2.0, 4.0], weights=[1.0, 0.0])
    assert weighted.numpy() == 1.0
    assert losses.huber_loss([0.0], [3.0]).numpy() == 2.5


def test_paths_and_shallow_structures() -> None:
    nested = {"b": [1, 2], "a": (3,)}
    assert list(structures.yield_flat_paths(nested)) == [("a", 0), ("b", 0), ("b", 1)]
    shallow = structures.get_traverse_shallow_structure(lambda s: isinstance(s, dict), nested)
    assert shallow == {"a": False, "b": False}
    assert structures.map_structure_up_to([0, 0], len, [[1, 2], [3]]) == [2, 1]


def test_libraries_may_take_calls_with_their_own_types() -> None:
    assert printed_by(
        """
        from intaglio import tf
        class Mine: pass
        class D(tf.__internal__.dispatch.GlobalOpDispatcher):
            def handle(self, op, args, kwargs):
                flat = tf.nest.flatten([args, kwargs])
                return op.__name__ if any(isinstance(x, Mine) for x in flat) else self.NOT_SUPPORTED
        D().register()
        print(tf.add(Mine(), 1), tf.concat([Mine(), Mine()], 0), tf.add(1, 2).numpy())
        """
    ) == ["add concat 3"]


def test_decorators_are_named_by_their_callers() -> None:
    """Without reading sources: a library has thousands of them."""

    def named(function: Any) -> Any:
        return inspection.make_decorator(function, lambda *args: function(*args))

    decorated = named(abs)
    assert decorated(-1) == 1 and decorated.__name__ == "abs"
    assert decorated._tf_decorator.decorator_name == "named"


def test_old_variables_take_what_keras_2_passes() -> None:
    made = tf.compat.v1.Variable(1.0, experimental_enable_variable_lifting=False, use_resource=True)
    assert made.numpy() == 1
