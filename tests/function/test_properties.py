"""Random arguments: traced and eager agree, by binding and by entries."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

leaves = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, -1.5, 2.0, 0.0, -0.0]),
    st.booleans(),
    st.none(),
    st.sampled_from(["a", "b"]),
    st.lists(st.sampled_from([1.0, 2.0, 3.0]), min_size=1, max_size=3).map(tf.constant),
    st.integers(-5, 5).map(tf.constant),
    st.lists(st.integers(-5, 5), min_size=2, max_size=2).map(np.array),
)
structures = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from("xyz"), inner, max_size=2),
    ),
    max_leaves=5,
)
calls = st.tuples(
    st.lists(structures, max_size=2),
    st.dictionaries(st.sampled_from(["k", "m"]), structures, max_size=2),
)


def summary(*args, **kwargs):
    """A number from every leaf; which numbers depend on types and positions."""
    total = tf.constant(0.0, tf.float64)
    paths = []
    for place, leaf in enumerate(tf.nest.flatten([args, sorted(kwargs.items())])):
        if isinstance(leaf, str | None):
            paths.append(leaf)
        elif isinstance(leaf, tf.Tensor | np.ndarray):
            value = tf.convert_to_tensor(leaf)
            flat = tf.raw_ops.Cast(x=value, DstT=tf.float64)
            axes = list(range(len(value.shape)))
            total = total + (place + 1.0) * tf.raw_ops.Sum(input=flat, axis=axes)
        else:
            total = total + (place + 1.0) * float(leaf)
            paths.append(str(leaf))
    return total, tf.constant(",".join(map(str, paths)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(calls, min_size=1, max_size=4))
def test_traced_and_eager_agree(some):
    f = tf.function(summary)
    expected = [summary(*args, **kwargs) for args, kwargs in some]
    for _ in range(4):
        for (args, kwargs), want in zip(some, expected, strict=True):
            got = f(*args, **kwargs)
            assert float(got[0]) == float(want[0])
            assert got[1].numpy() == want[1].numpy()
    assert f.experimental_get_tracing_count() <= len(some)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(calls, calls)
def test_types_order_as_values_do(one, other):
    f = tf.function(lambda *args, **kwargs: None)
    first, second = (
        f.get_concrete_function(*args, **kwargs).function_type for args, kwargs in (one, other)
    )
    assert first.is_supertype_of(first)
    joined = first.most_specific_common_subtype([second])
    if joined is not None:
        assert joined.is_supertype_of(first) and joined.is_supertype_of(second)
