"""Private names and those of TensorFlow 1, which libraries import; answers recorded from 2.21."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.composite import CompositeTensor
from intaglio.compat_v1 import constants, renamed
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.lookup import vocabularies
from intaglio.tensorflow_name import (
    convolved_lengths,
    eager_context,
    file_functions,
    framework,
    function_properties,
    identity_collections,
    inspection,
    internal_names,
    internals,
    metric_parts,
    numpy_dtypes,
    op_definitions,
    slice_updates,
    structures,
    tpu_contexts,
)
from intaglio.tensorflow_name import names as names_table
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


def test_import_of_all_names_of_a_private_module() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        from tensorflow.python.framework.tensor_shape import *
        from tensorflow.python.layers.utils import *
        import tensorflow as tf
        print(TensorShape is tf.TensorShape, conv_output_length(10, 3, "valid", 2))
        """
    ) == ["True 4"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((10, 3, "same", 2), (5, 19, 20)),
        ((10, 3, "valid", 2), (4, 21, 21)),
        ((10, 3, "full", 2), (6, 17, 17)),
        ((7, 4, "same", 3), (3, 18, 21)),
        ((None, 4, "same", 3), (None, None, None)),
    ],
)
def test_lengths_around_convolutions(arguments: Any, expected: Any) -> None:
    found = [
        function(*arguments)
        for function in (
            convolved_lengths.conv_output_length,
            convolved_lengths.conv_input_length,
            convolved_lengths.deconv_output_length,
        )
    ]
    assert tuple(found) == expected
    assert convolved_lengths.conv_output_length(10, 3, "valid", 1, dilation=2) == 6


def test_load_context() -> None:
    options = tf.saved_model.LoadOptions()
    with internals.load_context(options):
        assert internals.in_load_context() and internals.get_load_options() is options
        with internals.load_context(None):
            assert internals.in_load_context() and internals.get_load_options() is None
        assert internals.get_load_options() is options
    assert not internals.in_load_context()
    assert tf.__internal__.load_context is internals.load_context


@pytest.mark.parametrize(
    ("prefix", "suffix", "joined", "static"),
    [
        (3, [4, 5], [3, 4, 5], [3, 4, 5]),
        (tf.TensorShape([2, 3]), 4, [2, 3, 4], [2, 3, 4]),
        (tf.constant([3, 2]), tf.TensorShape([4]), [3, 2, 4], [3, 2, 4]),
        ([], 3, [3], [3]),
        ([None, 2], 3, None, [None, 2, 3]),
        (None, 4, None, None),
    ],
)
def test_concatenated_shapes(prefix: Any, suffix: Any, joined: Any, static: Any) -> None:
    assert framework.concatenated_shape(prefix, suffix, static=True) == static
    if joined is None:
        with pytest.raises(ValueError, match="Provided a prefix or suffix of None"):
            framework.concatenated_shape(prefix, suffix)
    else:
        found = framework.concatenated_shape(prefix, suffix)
        assert found.dtype == tf.int32 and found.numpy().tolist() == joined


def test_concatenated_shapes_of_graphs() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x: Any) -> Any:
        assert framework.concatenated_shape(tf.shape(x)[0], 4, static=True) is None
        return framework.concatenated_shape(tf.shape(x)[0], 4)

    assert f(tf.ones([2, 3])).numpy().tolist() == [2, 4]
    with pytest.raises(ValueError, match="must be either a scalar or vector"):
        framework.concatenated_shape(tf.ones([1, 1], tf.int32), 4)


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


def test_functions_with_jit_compile_are_an_xla_context_with_all_that_is_traced_inside() -> None:
    """TensorFlow 2.21 gave the same answers, which TensorFlow Probability and Keras 2 ask for."""
    seen: dict[str, bool] = {}

    def note(place: str, x: tf.Tensor) -> tf.Tensor:
        seen[place] = framework.in_xla_context(get_default_graph())
        return x

    @tf.custom_gradient
    def custom(x: tf.Tensor) -> Any:
        return note("custom", x), lambda d: note("backward", d)

    inner = tf.function(lambda x: note("inner", x), jit_compile=False)

    @tf.function(jit_compile=True)
    def compiled(x: tf.Tensor) -> tf.Tensor:
        tf.cond(x > 0.0, lambda: note("branch", x), lambda: x)
        tf.while_loop(lambda i: i < 2.0, lambda i: note("body", i + 1.0), [x])
        tf.map_fn(lambda v: note("mapped", v), tf.ones([3]))
        return inner(custom(x))

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compiled(x)
    tape.gradient(y, x)
    assert seen == dict.fromkeys(seen, True)
    assert seen.keys() == {"custom", "backward", "inner", "branch", "body", "mapped"}
    for jit_compile in (False, None):
        outer = tf.function(lambda x: compiled(note("outer", x)), jit_compile=jit_compile)
        outer(x)
        assert seen["outer"] is False
    note("eager", x)
    assert seen["eager"] is False


def test_getcallargs() -> None:
    def f(a: int, b: int = 2, *r: int, c: int = 3, **k: int) -> None: ...

    class C:
        def m(self, x: int, y: int = 1, **k: int) -> None: ...

    c = C()
    assert inspection.getcallargs(f, 1, z=5) == {"z": 5, "a": 1, "b": 2, "c": 3}
    assert inspection.getcallargs(f, 1, 2, 3, 4) == {"a": 1, "b": 2, "c": 3}
    assert inspection.getcallargs(f) == {"b": 2, "c": 3}
    assert inspection.getcallargs(C.m, 1, 2, q=3) == {"q": 3, "self": 1, "x": 2, "y": 1}
    assert inspection.getcallargs(c.m, 7, q=3) == {"q": 3, "self": c, "x": 7, "y": 1}


def test_parameters_are_those_of_functions_that_wrap_others() -> None:
    """`functools.wraps` does not hide a decorator's own parameters, `make_decorator` does; as in 2.21."""

    def f(self: Any, a: Any, b: Any = 2) -> None:
        pass

    @functools.wraps(f)
    def wrapping(self: Any) -> None:
        pass

    @functools.wraps(wrapping)
    def twice(x: Any, y: Any) -> None:
        pass

    decorated = inspection.make_decorator(f, lambda *args: None)
    behind = inspection.make_decorator(wrapping, lambda *args: None)
    assert inspection.getfullargspec(wrapping).args == ["self"]
    assert inspection.getfullargspec(twice).args == ["x", "y"]
    assert inspection.getfullargspec(decorated).args == ["self", "a", "b"]
    assert inspection.getfullargspec(behind).args == ["self"]
    assert inspection.getfullargspec(tf.function(f)).args == ["self", "a", "b"]
    assert inspection.getfullargspec(tf.custom_gradient(f)).args == ["self", "a", "b"]
    assert inspection.getcallargs(twice, 1, 2) == {"x": 1, "y": 2}
    assert inspection.unwrap(behind)[1] is wrapping
    assert tuple(inspection.getargspec(lambda x, *a, k=1, **q: 0)) == (["x", "k"], "a", "q", (1,))


def test_objects_of_libraries_may_say_that_they_are_tensors() -> None:
    class Like:
        is_tensor_like = True

    class Unlike:
        is_tensor_like = False

    class Deferred:
        @property
        def is_tensor_like(self) -> int:
            return 1

    assert [tf.is_tensor(x) for x in (Like(), Unlike(), Deferred(), object())] == [
        True,
        False,
        True,
        False,
    ]
    assert tf.get_static_value(Like()) is None
    assert isinstance(tf.get_static_value(Unlike()), Unlike)


def test_custom_gradients_lead_back_to_their_function() -> None:
    def f(x: tf.Tensor) -> Any:
        return x * 2.0, lambda d: d

    value, grad = tf.custom_gradient(f).__original_wrapped__(3.0)
    assert (value, grad(5.0)) == (6.0, 5.0)


def test_test_cases_turn_what_they_compare_into_arrays() -> None:
    case = tf.test.TestCase()
    for value in (tf.constant([1, 2]), [1, 2], (1, tf.constant(2)), np.array([1, 2])):
        found = case._GetNdArray(value)
        assert isinstance(found, np.ndarray)
        assert found.tolist() == [1, 2]


def test_with_dependencies_is_computed_after_them() -> None:
    with tf.Graph().as_default():
        first, second = tf.constant(1.0, name="first"), tf.constant(2.0, name="second")
        after = framework.with_dependencies([first.op], second)
        named = framework.with_dependencies([first], second, name="n")
        rows = framework.with_dependencies([first], tf.IndexedSlices(second, tf.constant([0])))
        parts = framework.with_dependencies([first], tf.sparse.from_dense([[1.0]]))
        for wrong in (None, object()):
            with pytest.raises(TypeError, match=r"Can not convert a .* into a Tensor or Operation"):
                framework.with_dependencies([wrong], second)
    assert after.name == "control_dependency:0"
    assert after.op.control_inputs == [first.op]
    assert named.name == "n:0"
    assert rows.values.name == "control_dependency_1:0"
    assert parts.values.name == "control_dependency_2/Identity_1:0"
    values = [2.0]
    assert framework.with_dependencies([1], values) is values


def test_definitions_of_ops_name_their_outputs() -> None:
    known = op_definitions.ApiDefMap()
    assert {"AddV2", "TopKV2"} <= set(known.op_names())
    assert [o.name for o in known.get_op_def("TopKV2").output_arg] == ["values", "indices"]
    with pytest.raises(ValueError, match="No op_def found for op name NoSuchOp"):
        known.get_op_def("NoSuchOp")


def test_what_constants_determine_is_evaluated() -> None:
    """TensorFlow's answers to `tensor_util.try_evaluate_constant`."""
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None])
        assert framework.try_evaluate_constant(tf.constant(1) > 0)
        assert framework.try_evaluate_constant(tf.reduce_sum(tf.constant([1.0, 2.0])) + 1.0) == 4.0
        for unknown in (x * 0.0, tf.shape(x), tf.random.normal([2])):
            assert framework.try_evaluate_constant(unknown) is None


def test_collections_by_identity() -> None:
    a, b = [1], [1]
    found = identity_collections.ObjectIdentitySet([a, a, b])
    assert len(found) == 2 and a in found and [1] not in found
    assert list(found.difference([a])) == [b]
    assert list(found.union([[1]])) == [a, b, [1]]
    numbers = identity_collections.ObjectIdentityDictionary({})
    numbers[a], numbers[b] = 1, 2
    assert (numbers[a], numbers.get([1])) == (1, None)


def test_weak_collections_forget_what_nothing_holds() -> None:
    class Thing:
        pass

    kept, dropped = Thing(), Thing()
    found = identity_collections.ObjectIdentityWeakSet([kept, dropped])
    del dropped
    assert list(found) == [kept]


def test_parameters_of_functions() -> None:
    def step(features: Any, labels: Any, *, mode: Any, **rest: Any) -> None:
        """Does nothing."""

    assert function_properties.fn_args(step) == ("features", "labels", "mode")
    part = functools.partial(step, mode=1)
    assert function_properties.fn_args(part) == ("features", "labels")
    assert function_properties.has_kwargs(step)
    assert function_properties.get_func_name(part) == "step"
    assert function_properties.get_func_code(part) is step.__code__
    with pytest.raises(TypeError, match="function-like object"):
        function_properties.has_kwargs(1)


def test_files_as_texts(tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    file_functions.atomic_write_string_to_file(path, "text")
    assert file_functions.read_file_to_string(path) == "text"
    assert file_functions.read_file_to_string(path, binary_mode=True) == b"text"
    assert file_functions.file_crc32(path) == "0x3b8ba7c7"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_functions.atomic_write_string_to_file(path, "other", overwrite=False)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_tables_of_vocabularies(tmp_path: Any) -> None:
    (tmp_path / "words").write_text("a\nb\n")
    words = tf.constant(["b", "z"])
    for table in (
        vocabularies.index_table_from_tensor(["a", "b"]),
        vocabularies.index_table_from_file(str(tmp_path / "words")),
    ):
        assert table.lookup(words).numpy().tolist() == [1, -1]
    spread = vocabularies.index_table_from_tensor(["a", "b"], num_oov_buckets=1)
    assert spread.lookup(words).numpy().tolist() == [1, 2]
    numbers = tf.constant([0, 5], tf.int64)
    for table in (
        vocabularies.index_to_string_table_from_tensor(["a", "b"]),
        vocabularies.index_to_string_table_from_file(str(tmp_path / "words")),
    ):
        assert table.lookup(numbers).numpy().tolist() == [b"a", b"UNK"]
    with pytest.raises(ValueError, match="vocabulary_list"):
        vocabularies.index_table_from_tensor(None)


def test_names_inside_scopes() -> None:
    assert framework.prepend_name_scope("^a/b", "scope") == "^scope/a/b"
    assert framework.strip_name_scope("loc:@scope/a", "scope") == "loc:@a"
    assert framework.prepend_name_scope("a", "") == "a"
    assert framework.unknown_shape(2).as_list() == [None, None]


def test_parts_of_variables() -> None:
    assert framework.slice_variable(tf.Variable([1, 2, 3]), slice(1, None)).numpy().tolist() == [
        2,
        3,
    ]


def test_devices_are_listed() -> None:
    found = eager_context.list_local_devices()
    assert (found[0].name, found[0].device_type) == ("/device:CPU:0", "CPU")


def test_slices_stay_inside() -> None:
    x = tf.range(6)
    assert slice_updates.dynamic_slice(x, [5], [3]).numpy().tolist() == [3, 4, 5]


def test_graphs_of_frozen_functions() -> None:
    v = tf.Variable(2.0)
    concrete = tf.function(lambda x: x * v).get_concrete_function(tf.TensorSpec([]))
    frozen, graph = constants.convert_variables_to_constants_v2_as_graph(concrete)
    assert float(frozen(tf.constant(3.0))[0]) == 6
    assert "Placeholder" in {node.op for node in graph.node}


def test_names_that_libraries_ask_for_at_import() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        from tensorflow.python.types.core import TensorLike, TensorProtocol
        from tensorflow.python.data.ops import load_op
        from tensorflow.python.client import device_lib
        from tensorflow.python.util.object_identity import ObjectIdentitySet
        from tensorflow.python.platform import resource_loader
        from tensorflow.python.saved_model import signature_constants
        from tensorflow.python.ops import partitioned_variables, variables
        import tensorflow.compat.v1 as tf
        print(isinstance(1, load_op._LoadDataset), signature_constants.PREDICT_INPUTS)
        print(variables.PartitionedVariable is partitioned_variables.PartitionedVariable)
        print(tf.flags.DEFINE_string.__module__)
        """
    ) == ["False inputs", "True", "absl.flags._defines"]


def test_names_of_ops_begin_with_a_scope_only_in_graphs() -> None:
    # TensorFlow's `ops.name_scope` answers None eagerly unless it is asked not to.
    with framework.op_name_scope(None, "scope", [1]) as scope:
        assert scope is None
    with framework.op_name_scope("scope", skip_on_eager=False) as scope:
        assert scope == "scope/"
    with tf.Graph().as_default(), framework.op_name_scope(None, "scope", [1]) as scope:
        assert (scope, tf.constant(1).name) == ("scope/", "scope/Const:0")


@pytest.mark.parametrize(
    "labels, predictions, difference, ranks",
    [
        ((2, 1), (2,), 0, (1, 1)),
        ((2,), (2, 1), 0, (1, 1)),
        ((2,), (2, 3, 1), 1, (1, 2)),
        ((2, 3), (2,), 0, (2, 1)),
        ((2, None), (2,), 0, (1, 1)),
    ],
)
def test_last_dimensions_of_one_element_are_removed_where_ranks_differ(
    labels: Any, predictions: Any, difference: int, ranks: tuple[int, int]
) -> None:
    shapes: list[tuple[int, int]] = []

    @tf.function
    def traced(a: Any, b: Any) -> Any:
        found = metric_parts.remove_squeezable_dimensions(a, b, difference)
        shapes.append((found[0].shape.rank, found[1].shape.rank))
        return found

    traced.get_concrete_function(tf.TensorSpec(labels), tf.TensorSpec(predictions))
    assert shapes == [ranks]


def test_weights_get_the_rank_of_predictions() -> None:
    values = metric_parts.same_ranks(tf.ones([2, 1]), tf.ones([2]), tf.ones([2, 1]))
    assert [v.shape.as_list() for v in values] == [[2], [2], [2]]
    assert metric_parts.same_ranks(tf.ones([2]), None, tf.ones([]))[2].shape.rank == 0


def test_shards_are_those_of_the_block() -> None:
    assert tpu_contexts.get_tpu_context().number_of_shards is None
    with tpu_contexts.tpu_shard_context(4):
        assert tpu_contexts.get_tpu_context().number_of_shards == 4
        with pytest.raises(NotImplementedError, match="nested"), tpu_contexts.tpu_shard_context(2):
            pass
    assert tpu_contexts.get_tpu_context().number_of_shards is None
    with tpu_contexts.sequential_embeddings():
        assert not tpu_contexts.embedding_pipelining_state.enabled
    assert tpu_contexts.embedding_pipelining_state.enabled


def test_floats_of_python_are_float32_where_that_is_preferred() -> None:
    assert numpy_dtypes.default_float_type() is np.float64
    numpy_dtypes.set_prefer_float32(True)
    try:
        assert numpy_dtypes.default_float_type() is np.float32
        assert tf.experimental.numpy.array(1.0).dtype == tf.float32
    finally:
        numpy_dtypes.set_prefer_float32(False)
    with pytest.raises(NotImplementedError, match="prefer_float32"):
        numpy_dtypes.set_allow_float64(False)


def test_counts_at_thresholds() -> None:
    with tf.Graph().as_default():
        counts, updates = metric_parts.confusion_matrix_at_thresholds(
            [1.0, 0.0, 1.0], [0.9, 0.6, 0.2], [0.5, 0.8], includes=("tp", "fp")
        )
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.local_variables_initializer())
            after = session.run(updates)
            assert {k: v.tolist() for k, v in after.items()} == {"tp": [1, 1], "fp": [1, 0]}
            session.run(updates)
            assert session.run(counts)["tp"].tolist() == [2, 2]
        with pytest.raises(ValueError, match="Invalid key"):
            metric_parts.confusion_matrix_at_thresholds([1.0], [1.0], [0.5], includes=["true"])


def test_the_host_is_divided_before_it_is_used() -> None:
    assert printed_by(
        """
        import intaglio
        intaglio.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow.python.distribute import strategy_combinations
        strategy_combinations.set_virtual_cpus_to_at_least(3)
        strategy_combinations.set_virtual_cpus_to_at_least(2)
        print(len(tf.config.list_logical_devices("CPU")))
        for number in (0, 5):
            try:
                strategy_combinations.set_virtual_cpus_to_at_least(number)
            except (RuntimeError, ValueError) as error:
                print(type(error).__name__)
        """
    ) == ["3", "ValueError", "RuntimeError"]


def test_declared_names_lead_somewhere() -> None:
    """Names of Keras 2 excepted: it need not be installed."""
    missing: list[str] = []
    for module, names in {**names_table.PRIVATE, **internal_names.INTERNAL}.items():
        for name, target in names.items():
            home, _, path = target.partition(":")
            if path.startswith("compat.v1.nn.rnn_cell"):
                continue
            found: Any = importlib.import_module(home)
            for part in filter(None, path.split(".")):
                found = getattr(found, part, None)
            if found is None:
                missing.append(f"{module}.{name} -> {target}")
    assert missing == []


class _Pair(CompositeTensor):
    """A composite value whose parts may be variables or such values, as those of libraries are."""

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def _convert_variables_to_tensors(self) -> Any:
        return _Pair(*framework.convert_variables_to_tensors(self.parts))


def test_variables_inside_of_composite_values_become_tensors() -> None:
    first, second = tf.Variable([1.0, 2.0]), tf.Variable(3)
    found = framework.convert_variables_to_tensors({"a": [first], "b": _Pair(_Pair(second), 4)})
    inner, constant = found["b"].parts
    assert tf.is_tensor(found["a"][0]) and found["a"][0].numpy().tolist() == [1.0, 2.0]
    assert tf.is_tensor(inner.parts[0]) and inner.parts[0].numpy() == 3
    assert constant == 4
    ragged = tf.ragged.constant([[1], []])
    assert framework.convert_variables_to_tensors([ragged])[0] is ragged


def test_a_registered_function_may_make_a_composite_value() -> None:
    """As Probability's distributions do; `tf.convert_to_tensor` wants a tensor."""

    class OfTwo:
        """What the function is registered for."""

    class Plain:
        """A function makes a tensor of it."""

    sparse = tf.SparseTensor([[0]], [1.0], [2])
    tf.register_tensor_conversion_function(OfTwo, lambda value, *_, **__: sparse)
    assert framework.convert_to_tensor_or_composite(OfTwo()) is sparse
    with pytest.raises(RuntimeError, match="returned non-Tensor"):
        tf.convert_to_tensor(OfTwo())
    with pytest.raises(RuntimeError, match="requested = int32, actual = float32"):
        framework.convert_to_tensor_or_composite(OfTwo(), tf.int32)
    tf.register_tensor_conversion_function(Plain, lambda value, *_, **__: tf.constant(1.0))
    assert framework.convert_to_tensor_or_composite(Plain()).numpy() == 1.0
    with pytest.raises(RuntimeError, match="incompatible dtype"):
        framework.convert_to_tensor_or_composite(Plain(), tf.int32)
    assert framework.convert_to_tensor_or_composite([1, 2]).numpy().tolist() == [1, 2]
