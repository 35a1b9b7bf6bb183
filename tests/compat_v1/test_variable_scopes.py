"""Names of scopes that are entered again, getters, and templates; TensorFlow 2.21 was asked for each name."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.compat_v1 import variable_scopes
from intaglio.tensorflow_name import framework
from intaglio.tensorflow_name import names as private

tf1 = tf.compat.v1


def names(scopes: list[Any]) -> list[tuple[str, str]]:
    return [(s.name, s.original_name_scope) for s in scopes]


def test_default_names_count_from_the_beginning_in_a_scope_that_is_entered_again():
    found: list[Any] = []

    def layer() -> None:
        with tf1.variable_scope(None, "dense") as scope:
            found.append(scope)
            tf1.get_variable("w", [1])

    with tf1.Graph().as_default():
        with tf1.variable_scope("net") as net:
            layer()
            layer()
        with tf1.variable_scope(net, reuse=True):
            layer()
            layer()
        with tf1.variable_scope("net", reuse=True):
            layer()
        layer()
        layer()
        created = [v.name for v in tf1.global_variables()]
    assert names(found) == [
        ("net/dense", "net/dense/"),
        ("net/dense_1", "net/dense_1/"),
        ("net/dense", "net_1/dense/"),
        ("net/dense_1", "net_1/dense_1/"),
        ("net/dense", "net_2/dense/"),
        ("dense", "dense/"),
        ("dense_1", "dense_1/"),
    ]
    assert created == ["net/dense/w:0", "net/dense_1/w:0", "dense/w:0", "dense_1/w:0"]


def test_given_names_count_too():
    with tf1.Graph().as_default():
        found = []
        for name, default in (("x", None), (None, "x"), ("x", None), (None, "x"), ("p/q", None)):
            with tf1.variable_scope(name, default) as scope:
                found.append(scope)
        with tf1.variable_scope(found[3], reuse=True), tf1.variable_scope("deep") as deep:
            found.append(deep)
        with tf1.variable_scope("p/q", auxiliary_name_scope=False) as scope:
            found.append(scope)
    assert names(found) == [
        ("x", "x/"),
        ("x_1", "x_1/"),
        ("x", "x_2/"),
        ("x_2", "x_3/"),
        ("p/q", "p/q/"),
        ("x_2/deep", "x_2_1/deep/"),
        ("p/q", ""),
    ]
    assert [s.reuse for s in found] == [False, False, False, False, False, True, False]


def test_the_getter_of_a_scope_has_that_of_the_scope_above():
    def adding(suffix: str) -> Any:
        return lambda getter, name, *args, **kwargs: getter(name + suffix, *args, **kwargs)

    with (
        tf1.Graph().as_default(),
        tf1.variable_scope("a", custom_getter=adding("_g1")),
        tf1.variable_scope("b", custom_getter=adding("_g2")),
    ):
        assert tf1.get_variable("w", [1]).name == "a/b/w_g2_g1:0"
        assert tf1.get_variable("z", [1], custom_getter=adding("_g3")).name == "a/b/z_g3:0"


def layers(x: Any) -> Any:
    random = tf1.random_normal_initializer()
    with tf1.variable_scope(None, "dense"):
        first = tf1.get_variable("w", [1], initializer=random)
    with tf1.variable_scope(None, "dense"):
        return x * first * tf1.get_variable("w", [1], initializer=random)


def test_templates_in_a_graph():
    with tf1.Graph().as_default():
        one, other = tf1.make_template("t", layers), tf1.make_template("t", layers)
        now = tf1.make_template("now", layers, create_scope_now_=True)
        for template in (one, one, other, now, now):
            template(1.0)
        assert [v.name for v in one.variables] == ["t/dense/w:0", "t/dense_1/w:0"]
        assert [v.name for v in other.trainable_variables] == ["t_1/dense/w:0", "t_1/dense_1/w:0"]
        assert [v.name for v in now.global_variables] == ["now/dense/w:0", "now/dense_1/w:0"]
        assert (one.name, one.variable_scope.name, one.func) == ("t", "t", layers)
        named = tf1.make_template("n", lambda: tf1.get_variable("v", [1]), unique_name_="nn")
        assert named() is named()
        with pytest.raises(ValueError, match="nn/v already exists"):
            tf1.make_template("n", lambda: tf1.get_variable("v", [1]), unique_name_="nn")()


def test_templates_create_variables_once():
    def of_name(name: str) -> Any:
        return tf1.get_variable(name, [1])

    with tf1.Graph().as_default():
        template = tf1.make_template("x", of_name)
        template("a")
        with pytest.raises(ValueError, match="x/b does not exist"):
            template("b")
        plain = tf1.make_template("y", lambda: tf1.Variable(1.0))
        plain()
        with pytest.raises(ValueError, match="created when calling a template after the first"):
            plain()
    eager = tf1.make_template("x", of_name)
    eager("a")
    with pytest.raises(ValueError, match="Trainable variable created when calling a template"):
        eager("b")
    with pytest.raises(ValueError, match="unique_name_"):
        tf1.make_template("x", of_name, unique_name_="y")


def test_eager_templates(tmp_path: Any):
    one, other = tf1.make_template("t", layers), tf1.make_template("t", layers)
    np.testing.assert_array_equal(one(1.0), one(1.0))
    assert float(other(1.0)[0]) != float(one(1.0)[0])
    assert [v.name for v in one.variables] == ["t/dense/w:0", "t/dense_1/w:0"]
    assert [v.name for v in other.variables] == ["t_1/dense/w:0", "t_1/dense_1/w:0"]
    path = tf.train.Checkpoint(t=one).write(str(tmp_path / "c"))
    keys = [k for k, _ in tf.train.list_variables(path) if "VALUE" in k]
    assert keys == [f"t/dense{n}.Sw/.ATTRIBUTES/VARIABLE_VALUE" for n in ("", "_1")]


def test_an_eager_getter_does_not_make_variables_anew():
    template = tf1.make_template(
        "t", layers, custom_getter_=lambda getter, name, *a, **k: getter(name, *a, **k)
    )
    np.testing.assert_array_equal(template(1.0), template(1.0))


def test_nested_eager_templates():
    inner = tf1.make_template("in", lambda: tf1.get_variable("v", [1]))
    outer = tf1.make_template("out", lambda: inner() + tf1.get_variable("u", [1]))
    np.testing.assert_array_equal(outer(), outer())
    assert [v.name for v in outer.variables] == ["out/in/v:0", "out/u:0"]
    assert [v.name for v in inner.variables] == ["out/in/v:0"]


def test_a_library_may_keep_the_variables():
    """As Keras 2 does for layers that call code of TensorFlow 1, eagerly and in functions."""
    with_store = private_names_module().with_variable_store

    class Own:
        def __init__(self) -> None:
            self.variables: dict[str, Any] = {}
            self.given: list[dict[str, Any]] = []

        def get_variable(self, name: str, shape: Any = None, **options: Any) -> Any:
            self.given.append(options)
            if name not in self.variables:
                with tf.init_scope():
                    self.variables[name] = tf.Variable(tf.zeros(shape), name=name)
            return self.variables[name]

    own = Own()

    def model(x: Any) -> Any:
        with tf1.variable_scope("model", reuse=tf1.AUTO_REUSE):
            return x + tf1.get_variable("w", [2], trainable=False)

    with with_store(own):
        assert private_names_module()._get_default_variable_store() is own
        first = model(tf.ones([2]))
        second = tf.function(model)(tf.ones([2]))
    np.testing.assert_array_equal(first, second)
    assert [v.name for v in own.variables.values()] == ["model/w:0"]
    assert [o["trainable"] for o in own.given] == [False, False]
    assert all(o["reuse"] is tf1.AUTO_REUSE for o in own.given)
    with with_store(own), tf1.variable_scope("m", custom_getter=lambda getter, name, **o: 3.0):
        assert tf1.get_variable("w", [2]) == 3.0
    assert private_names_module()._get_default_variable_store() is not own


def private_names_module() -> Any:
    table = private.PRIVATE["python.ops.variable_scope"]
    assert table["with_variable_store"].endswith(":with_variable_store")
    return types.SimpleNamespace(
        with_variable_store=variable_scopes.with_variable_store,
        _get_default_variable_store=variable_scopes.default_variable_store,
    )


def test_scopes_without_a_name_scope_and_with_tensors():
    """TensorFlow 2.21 was asked for the scope's name and what getters are given."""
    with tf1.Graph().as_default(), tf1.variable_scope("outer"):
        with tf1.variable_scope("inner", auxiliary_name_scope=False) as scope:
            assert scope.original_name_scope == "outer/"
        with tf1.variable_scope("first", initializer=tf.constant([0.5])):
            assert tf1.get_variable("w").shape == [1]
        given: list[Any] = []

        def getter(_: Any, *args: Any, **kwargs: Any) -> Any:
            given.append((kwargs["synchronization"], kwargs["aggregation"]))

        with tf1.variable_scope("own", custom_getter=getter):
            tf1.get_variable("w", [1])
        assert given == [(tf.VariableSynchronization.AUTO, tf.VariableAggregation.NONE)]
        with pytest.raises(ValueError, match=r"custom_getter .* not callable: 3"):
            tf1.get_variable("v", [1], custom_getter=3)
        with pytest.raises(TypeError, match="must be `True` or `False`"):
            tf1.variable_scope("x", auxiliary_name_scope="invalid").__enter__()


def test_what_keras_2_asks_of_graphs_and_ragged_tensors():
    class Captured:
        device = None

        def _set_device_from_string(self, device: str) -> None:
            self.device = device

    with tf1.Graph().as_default() as graph:
        plain, placed = Captured(), Captured()
        graph._apply_device_functions(plain)
        with tf1.device("/cpu:0"):
            graph._apply_device_functions(placed)
        graph._set_control_flow_context(graph._get_control_flow_context())
        assert graph._get_control_flow_context() is None
    assert (plain.device, placed.device) == (None, "/device:CPU:0")
    splits = [tf.constant([0, 1, 3])]
    assert len(framework.assert_splits_match([splits, splits])) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        framework.assert_splits_match([splits, [tf.constant([0, 2, 3])]])
    with pytest.raises(ValueError, match="identical ragged splits"):
        framework.assert_splits_match([splits, []])


def test_initializers_that_do_not_fit_the_shape():
    """TensorFlow's answers: without a shape, a function of the shape is no initializer."""
    zeros = tf1.zeros_initializer()
    with tf1.Graph().as_default():
        with pytest.raises(
            ValueError, match="Variable a did not get an initializer, so its `shape`"
        ):
            tf1.get_variable("a")
        cases = [
            {"initializer": zeros},
            {"shape": [None]},
            {"shape": [None, 2], "initializer": zeros},
            {"initializer": lambda shape, dtype: tf.zeros(shape, dtype)},
        ]
        for number, case in enumerate(cases):
            with pytest.raises(ValueError, match="The initializer passed is not valid"):
                tf1.get_variable(f"b{number}", **case)
        for number, function in enumerate((lambda: tf.ones([2]), lambda dtype=None: tf.ones([2]))):
            assert tf1.get_variable(f"c{number}", initializer=function).shape == [2]


def test_initializers_know_which_part_they_are_for() -> None:
    asked: list[tuple[list[int], list[int], list[int]]] = []

    def first(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        asked.append((list(shape), partition_info.full_shape, partition_info.var_offset))
        return tf.ones(shape, dtype)

    with tf.Graph().as_default():
        partitioner = tf.compat.v1.fixed_size_partitioner(2)
        whole = tf.compat.v1.get_variable("w", [5, 2], initializer=first, partitioner=partitioner)
        assert len(list(whole)) == 2
    assert asked == [([3, 2], [5, 2], [0, 0]), ([2, 2], [5, 2], [3, 0])]


def test_ops_of_initializers_are_named_after_their_variable():
    # TensorFlow was asked for the names.
    with tf.Graph().as_default() as graph, tf1.variable_scope("layer"):
        tf1.get_variable("w", [2, 2])
        tf1.get_variable("b", [2], initializer=tf1.truncated_normal_initializer())
        ops = [op.name for op in graph.get_operations()]
    of_w = ["shape", "min", "max", "RandomUniform", "sub", "mul"]
    of_b = ["shape", "mean", "stddev", "TruncatedNormal", "mul"]
    for variable, kind, parts in (("w", "random_uniform", of_w), ("b", "truncated_normal", of_b)):
        prefix = f"layer/{variable}/Initializer/{kind}"
        found = [name for name in ops if name.startswith(prefix)]
        assert found == [*[f"{prefix}/{part}" for part in parts], prefix]


def test_a_scope_lists_its_variables_and_sets_their_dtype():
    with tf.Graph().as_default():
        tf1.get_variable("outside", [1])
        with tf1.variable_scope("s") as scope:
            a = tf1.get_variable("a", [1])
            b = tf1.get_variable("b", [1], collections=[tf1.GraphKeys.LOCAL_VARIABLES])
            assert scope.get_collection(tf1.GraphKeys.GLOBAL_VARIABLES) == [a]
            assert scope.global_variables() == [a] and scope.local_variables() == [b]
            scope.set_dtype(tf.float64)
            assert tf1.get_variable("c", [1]).dtype == tf.float64


def test_colocation_with_an_operation_is_that_with_its_tensor():
    with tf.Graph().as_default() as graph:
        tensor = tf.constant(1.0, name="a")
        for colocated in (graph.colocate_with, tf1.colocate_with):
            for other in (tensor, tensor.op):
                with colocated(other):
                    assert tf.constant(2.0).op.colocation_groups() == [b"loc:@a"]
    with tf1.colocate_with(tf.constant(1.0)):  # eagerly nothing is placed
        assert float(tf.constant(2.0)) == 2.0


def test_a_sparse_tensor_is_evaluated_in_a_session():
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[1]], [5], [3])
        with pytest.raises(ValueError, match="No default session"):
            sparse.eval()
        with tf1.Session() as session:
            for found in (sparse.eval(), sparse.eval(session=session)):
                assert isinstance(found, tf1.SparseTensorValue)
                assert [part.tolist() for part in found] == [[[1]], [5], [3]]


def test_a_scope_that_is_entered_again_has_its_name():
    """As layers of Keras 2 enter theirs; TensorFlow 2.21 was asked."""
    with tf.Graph().as_default():
        block = tf1.variable_scope(None, "d")
        with block as first:
            x = tf1.get_variable("x", [])
        with block as second:
            y = tf1.get_variable("y", [])
        assert (first.name, second.name) == ("d", "d")
        assert (x.name, y.name) == ("d/x:0", "d/y:0")
        again = tf1.variable_scope(first, reuse=True, auxiliary_name_scope=False)
        for _ in range(2):
            with again:
                assert tf1.get_variable("x", []) is x
        with tf1.variable_scope(None, "d") as other:
            assert other.name == "d_1"


def test_arguments_of_scopes_are_checked_before_they_are_entered():
    with pytest.raises(TypeError, match="name_or_scope is required"):
        tf1.variable_scope(None)
    with pytest.raises(TypeError, match="auxiliary_name_scope must be"):
        tf1.variable_scope("a", auxiliary_name_scope=1)
