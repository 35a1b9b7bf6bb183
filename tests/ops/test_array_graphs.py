"""What array functions record in graphs: op types, names and static shapes, as TensorFlow 2.21 answered."""

from __future__ import annotations

import pytest

from intaglio import tf
from intaglio.trace.graph import record

OPEN = (tf.float32, (None, 4), "x")
KNOWN = (tf.float32, (3, 4), "x")
NUMBER = (tf.int32, (), "n")
UNRANKED = (tf.float32, None, "x")


def recorded(function, *specs):
    """Names with types of the ops that compute, and the outputs."""
    graph, result = record(function, "f", specs)
    ops = [
        f"{n.name}:{n.type}"
        for n in graph.get_operations()
        if n.type not in ("Placeholder", "Const")
    ]
    return ops, result


def constants(function, *specs):
    """The names of the constants."""
    graph, _ = record(function, "f", specs)
    return [n.name for n in graph.get_operations() if n.type == "Const"]


NODES = [
    (lambda x: tf.reshape(x, [-1]), ["Reshape:Reshape"]),
    (lambda x: tf.transpose(x), ["transpose:Transpose"]),
    (lambda x: tf.expand_dims(x, 0), ["ExpandDims:ExpandDims"]),
    (lambda x: tf.concat([x, x], 0), ["concat:ConcatV2"]),
    (lambda x: tf.stack([x, x]), ["stack:Pack"]),
    (lambda x: tf.unstack(x, axis=1), ["unstack:Unpack"]),
    (lambda x: tf.split(x, 2, 1), ["split:Split"]),
    (lambda x: tf.split(x, [1, 3], 1), ["split:SplitV"]),
    (lambda x: tf.pad(x, [[0, 1], [1, 1]]), ["Pad:Pad"]),
    (lambda x: tf.pad(x, [[0, 1], [1, 1]], constant_values=1), ["PadV2:PadV2"]),
    (lambda x: tf.pad(x, [[0, 1], [1, 1]], "reflect"), ["MirrorPad:MirrorPad"]),
    (lambda x: tf.gather(x, [0]), ["GatherV2:GatherV2"]),
    (lambda x: tf.gather_nd(x, [[0, 0]]), ["GatherNd:GatherNd"]),
    (lambda x: x[0], ["strided_slice:StridedSlice"]),
    (lambda x: tf.zeros_like(x), ["zeros_like:ZerosLike"]),
    (lambda x: tf.ones_like(x), ["ones_like:OnesLike"]),
    (lambda x: tf.shape(x), ["Shape:Shape"]),
    (lambda x: tf.zeros(tf.shape(x)), ["Shape:Shape", "zeros:Fill"]),
    (lambda x: tf.identity(x), ["Identity:Identity"]),
    (lambda x: tf.identity_n([x, x]), ["IdentityN:IdentityN"]),
    (lambda x: tf.convert_to_tensor([x, x]), ["packed:Pack"]),
    (lambda x: tf.tile(x, [1, 2]), ["Tile:Tile"]),
    (lambda x: tf.roll(x, 1, 0), ["Roll:Roll"]),
    (lambda x: tf.reverse(x, [0]), ["ReverseV2:ReverseV2"]),
    (lambda x: tf.stop_gradient(x), ["StopGradient:StopGradient"]),
    (lambda x: tf.ensure_shape(x, [3, 4]), ["EnsureShape:EnsureShape"]),
    (lambda x: tf.linalg.diag(x), ["diag:MatrixDiagV3"]),
    (lambda x: tf.linalg.diag_part(x), ["diag_part:MatrixDiagPartV3"]),
    (lambda x: tf.linalg.band_part(x, 0, 1), ["MatrixBandPart:MatrixBandPart"]),
]


@pytest.mark.parametrize(("function", "wanted"), NODES)
def test_ops_and_names(function, wanted):
    assert recorded(function, OPEN)[0] == wanted


def test_known_shapes_are_constants():
    def function(x):
        tf.shape(x), tf.size(x), tf.rank(x), tf.zeros_like(x), tf.ones([2]), tf.eye(3)

    assert recorded(function, KNOWN)[0] == []
    assert constants(function, KNOWN) == ["Shape", "Size", "Rank", "zeros_like", "ones", "eye"]


def test_large_fills_are_computed():
    assert recorded(lambda: tf.zeros([2000, 3]))[0] == ["zeros:Fill"]
    assert constants(lambda: tf.zeros([20, 3])) == ["zeros"]


def test_slices_name_their_constants():
    names = ["strided_slice/stack", "strided_slice/stack_1", "strided_slice/stack_2"]
    assert constants(lambda x: x[0], KNOWN) == names
    again = [n.replace("strided_slice", "strided_slice_1") for n in names]
    assert constants(lambda x: (x[0], x[1:]), KNOWN) == names + again


def test_slices_with_tensors():
    ops, result = recorded(lambda x, n: x[:n, 0], OPEN, NUMBER)
    assert ops[-1] == "strided_slice:StridedSlice"
    assert ops[:-1] == ["strided_slice/stack_1:Pack"]
    assert result.dims == (None,)


def shapes_of(function, *specs):
    """The static shapes of what the function returns."""
    return [t.dims for t in recorded(function, *specs)[1]]


def test_shape_vectors_keep_what_is_known():
    def function(x):
        shape = tf.shape(x)
        return [
            tf.reshape(x, [shape[0], 2, 2]),
            tf.reshape(x, tf.concat([shape[:1], [2, 2]], 0)),
            tf.reshape(x, tf.stack([shape[1], -1])),
            tf.reshape(x, tf.gather(shape, [1, 0])),
            tf.reshape(x, shape * 2 // 2),
            tf.zeros(tf.cast(shape, tf.int64)),
            tf.zeros(tf.split(shape, 2)[1]),
            tf.zeros(tf.unstack(shape)),
            tf.zeros(tf.squeeze(shape[1:])),
            tf.zeros(tf.split(shape, [1, -1])[1]),
            tf.zeros(tf.slice(shape, [1], [-1])),
            tf.zeros(tf.reverse(shape, [0])),
            tf.zeros(tf.reshape(tf.reshape(shape, [-1]), [2])),
        ]

    assert shapes_of(function, OPEN) == [
        (None, 2, 2),
        (None, 2, 2),
        (4, None),
        (4, None),
        (None, 4),
        (None, 4),
        (4,),
        (None, 4),
        (4,),
        (4,),
        (4,),
        (4, None),
        (None, 4),
    ]


def test_unknown_rank():
    def function(x):
        return [
            x[0],
            tf.transpose(x),
            tf.transpose(x, [1, 0]),
            tf.squeeze(x),
            tf.reshape(x, [2, -1]),
            tf.shape(x),
            tf.rank(x),
            tf.stack([x, x]),
        ]

    assert shapes_of(function, UNRANKED) == [
        None,
        None,
        (None, None),
        None,
        (2, None),
        (None,),
        (),
        None,
    ]


def test_static_values():
    def function(x, n):
        assert tf.get_static_value(tf.shape(x)) is None
        assert tf.get_static_value(tf.shape(x), partial=True).tolist() == [None, 4]
        assert tf.get_static_value(tf.shape(x)[1]) == 4
        assert tf.get_static_value(tf.stack([n, 3]), partial=True).tolist() == [None, 3]
        assert tf.get_static_value(tf.range(3)).tolist() == [0, 1, 2]
        assert tf.get_static_value(x) is None
        return []

    recorded(function, OPEN, NUMBER)


def test_shapes_that_do_not_broadcast_are_an_error_of_the_run() -> None:
    """TensorFlow traces such functions, too."""
    for op in (tf.raw_ops.BroadcastArgs, tf.raw_ops.BroadcastGradientArgs):
        f = tf.function(lambda op=op: op(s0=[3, 2], s1=[2, 2])).get_concrete_function()
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[3,2\] vs. \[2,2\]"
        ):
            f()


def test_tensors_of_several_parts_have_no_static_value():
    """As on TensorFlow; what is no tensor is its own value."""
    ragged, sparse = tf.ragged.constant([[1]]), tf.sparse.from_dense([1])
    for value in (ragged, sparse, tf.IndexedSlices([1], [0]), tf.Variable(1)):
        assert tf.get_static_value(value) is None
    spec = tf.TensorSpec([])
    assert tf.get_static_value(spec) is spec


ERRORS = [
    (lambda k: k[3], "slice index 3 of dimension 0 out of bounds."),
    (lambda k: k[0, 0, 0], "Index out of range using input dim 2; input has only 2 dims"),
    (
        lambda k: tf.reshape(k, [5]),
        "Cannot reshape a tensor with 12 elements to shape [5] (5 elements)",
    ),
    (lambda k: tf.reshape(k, [-1, 5]), "Dimension size must be evenly divisible by 5 but is 12"),
    (
        lambda k: tf.concat([k, tf.transpose(k)], 0),
        "Dimension 0 in both shapes must be equal, but are 4 and 3. Shapes are [4] and [3].",
    ),
    (lambda k: tf.concat([k, k], 2), "Shape must be at least rank 3 but is rank 2"),
    (lambda k: tf.stack([k, tf.transpose(k)]), "From merging shape 0 with other shapes."),
    (lambda k: tf.split(k, 2, 0), "Dimension size must be evenly divisible by 2 but is 3"),
    (lambda k: tf.squeeze(k, 0), "Can not squeeze dim[0], expected a dimension of 1, got 3"),
    (lambda k: tf.expand_dims(k, 5), "dim 5 not in the interval [-3, 2]."),
    (lambda k: tf.gather(k, [0], axis=3), "Shape must be at least rank 4 but is rank 2"),
    (lambda k: tf.broadcast_to(k, [2, 4]), "Dimensions must be equal, but are 3 and 2"),
    (lambda k: tf.math.top_k(k, 5), "input must have last dimension >= k = 5 but is 4"),
    (lambda k: tf.ensure_shape(k, [2, 4]), "Shapes are [2,4] and [3,4]."),
    (lambda k: tf.range(3, 0), "Requires start <= limit when delta > 0: 3/0"),
    (
        lambda k: tf.scatter_nd([[0], [1]], [1, 2, 3], [4]),
        "but are 2 and 3. Shapes are [2] and [3].",
    ),
]


@pytest.mark.parametrize(("function", "phrase"), ERRORS)
def test_errors_while_tracing(function, phrase):
    with pytest.raises(ValueError) as caught:
        recorded(function, KNOWN)
    assert phrase in str(caught.value)


def test_lists_of_mixed_types():
    with pytest.raises(TypeError, match="Tensors in list passed to 'values' of 'Pack'"):
        recorded(lambda k: tf.stack([k, tf.cast(k, tf.int32)]), KNOWN)


def test_gathers_have_sparse_gradients():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [[1], [1]])
    sparse = tape.gradient(y, x)
    assert isinstance(sparse, tf.IndexedSlices)
    assert sparse.indices.numpy().tolist() == [1, 1]
    assert tf.convert_to_tensor(sparse).numpy().tolist() == [[0, 0], [2, 2]]


def test_static_values_of_stacked_values():
    """TensorFlow 2.21 was asked: what is stacked of known values is known, in any rank."""

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def f(x):
        rank = tf.rank(x)
        for stacked, wanted in (
            ([[0, rank]], [[0, 2]]),
            ([[0, rank], [rank, 1]], [[0, 2], [2, 1]]),
            ([tf.stack([0, rank])], [[0, 2]]),
            ([rank, 2], [2, 2]),
            ([tf.stack([rank, 1]), [3, 4]], [[2, 1], [3, 4]]),
        ):
            assert tf.get_static_value(tf.stack(stacked)).tolist() == wanted
        across = tf.get_static_value(tf.stack([[0, rank], [3, 4]], axis=1))
        assert across.tolist() == [[0, 3], [2, 4]]
        assert tf.get_static_value(tf.stack([[0, tf.shape(x)[0]]])) is None
        paddings = tf.stack([[0, 0], [rank, 1]])
        assert tf.pad(x, paddings).shape.as_list() == [None, 6]
        return x

    f(tf.zeros([2, 3]))


def test_sizes_that_are_known_wrap_as_the_elements_do():
    """A cast to fewer bits of a vector of which one element is known."""

    @tf.function
    def f(n):
        sizes = tf.cast(tf.cast(tf.stack([259, n]), tf.uint8), tf.int32)
        return tf.fill(sizes, 1.0)

    (result,) = f.get_concrete_function(tf.TensorSpec([], tf.int32)).outputs
    assert result.shape.as_list() == [3, None]
    assert f(tf.constant(2)).shape == (3, 2)
