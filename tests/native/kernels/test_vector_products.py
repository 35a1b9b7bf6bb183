"""Products of matrices and vectors against float64, for every remainder of rows and lanes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import matmul, sequence, vector_products

LENGTHS = st.one_of(st.integers(1, 40), st.integers(41, 1300))


def product(a, b, transpose_a=False, transpose_b=False):
    run = matmul.product(a.shape, b.shape, transpose_a, transpose_b, a.dtype)
    assert run is not None
    return run(a, b)


def operands(rows, inner, columns, transpose_a, transpose_b, dtype):
    """Matrices, the same as they lie in memory, and the bound on the error of their product."""
    rng = np.random.default_rng(rows + 7 * inner + columns)
    a = rng.normal(size=(rows, inner)).astype(dtype)
    b = rng.normal(size=(inner, columns)).astype(dtype)
    stored = [
        np.ascontiguousarray(m.T if t else m) for m, t in ((a, transpose_a), (b, transpose_b))
    ]
    bound = inner * np.finfo(dtype).eps * (np.abs(a) @ np.abs(b)) + 1e-37
    return a, b, stored, bound


@settings(deadline=None, max_examples=120)
@given(
    LENGTHS,
    LENGTHS,
    st.integers(1, 14),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["float32", "float64"]),
)
def test_any_shape(count, inner, few, is_row, transpose_a, transpose_b, dtype):
    rows, columns = (few, count) if is_row else (count, few)
    form = rows, inner, columns, transpose_a, transpose_b
    a, b, stored, bound = operands(*form, dtype)
    got = product(*stored, transpose_a, transpose_b)
    assert got.shape == (rows, columns)
    assert got.dtype == dtype
    assert np.all(np.abs(got - a.astype(np.longdouble) @ b) <= bound)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("columns", [1, 3])
def test_results_do_not_depend_on_the_number_of_threads(monkeypatch, transposed, columns):
    _, _, (a, b), _ = operands(1500, 401, columns, transposed, False, "float32")
    alone = product(a, b, transposed)
    monkeypatch.setattr(matmul, "MIN_SHARED_MULTIPLICATIONS", 1)
    for threads in (2, 3, 16):
        monkeypatch.setattr(matmul, "thread_count", lambda n=threads: n)
        np.testing.assert_array_equal(product(a, b, transposed), alone)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("count", [1, 3, 8, 21, 64, 65, 300])
def test_what_is_not_finite_stays_in_its_row(count, columns, transposed):
    """The lanes beyond the end of a row, and repeated rows, add nothing to another result."""
    matrix, vector = np.ones((count, 37), "float32"), np.ones((37, columns), "float32")
    matrix[count // 2, 5] = np.inf
    matrix[count - 1, 36] = np.nan
    got = product(np.ascontiguousarray(matrix.T) if transposed else matrix, vector, transposed)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(got, matrix @ vector)


@pytest.mark.parametrize(
    "shapes",
    [((9, 20), (20, 1)), ((2, 20), (20, 1)), ((1, 20), (20, 9)), ((1, 20), (20, 200)),
     ((40, 200), (200, 3)), ((3, 200), (200, 40))],
)  # fmt: skip
def test_what_results_overwrite_is_not_added(monkeypatch, shapes):
    a, b = (np.ones(s, "float32") for s in shapes)
    results = []

    def allocator(shape, dtype):
        def allocate():
            results.append(np.full(shape, np.nan, dtype))
            return results[-1]

        return allocate

    monkeypatch.setattr(matmul.entry, "allocator", allocator)
    monkeypatch.setattr(sequence, "allocator", allocator)
    np.testing.assert_array_equal(product(a, b), a @ b)
    assert all([not np.isnan(r).any() for r in results])


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("batches", [((2, 3), (2, 3)), ((5,), ()), ((1,), (4,))])
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 70), (33, 1), (1, 1), (3, 70), (70, 3), (12, 40), (2, 2)]
)
def test_batches(batches, transposed, rows, columns):
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        a = rng.integers(-4, 5, (*batches[0], rows, 99)).astype(dtype)
        b = rng.integers(-4, 5, (*batches[1], 99, columns)).astype(dtype)
        left = np.ascontiguousarray(a.swapaxes(-1, -2)) if transposed[0] else a
        right = np.ascontiguousarray(b.swapaxes(-1, -2)) if transposed[1] else b
        run = matmul.products(left.shape, right.shape, *transposed, dtype)
        assert run is not None
        np.testing.assert_array_equal(run(left, right), a @ b)


def test_rows_of_a_batch_by_one_matrix_are_one_product():
    run = matmul.products((40, 1, 30), (30, 50))
    assert run is not None
    words = run.steps[0].frame[-5:]
    assert words[:3] == [40, 50, 30]


def test_every_number_of_vectors_has_registers():
    for vectors in range(1, matmul.MAX_VECTORS + 1):
        form = vector_products.along(100, 300, vectors, 0)
        assert vectors <= form.part * vectors <= max(vector_products.SUMS, vectors)


def steps(*product):
    """The number of kernels that compute a product."""
    run = matmul.product(*product)
    assert run is not None
    return len(run.steps)


def test_transpositions_only_where_vectors_or_results_do_not_lie_as_computed():
    assert steps((500, 300), (300, 1)) == steps((300, 500), (300, 1), True) == 1
    assert steps((500, 300), (3, 300), False, True) == steps((3, 300), (500, 300), False, True) == 1
    assert steps((500, 300), (300, 3)) == 2
    assert steps((300, 3), (500, 300), True, True) == 2
    assert steps((300, 500), (300, 3), True) == 2
    assert steps((300, 500), (300, 500), True) == 1
    assert steps((3, 300), (300, 500)) == 1


@pytest.mark.parametrize(
    "equation",
    ["ij,jk->ik", "ij,jk->ki", "ji,jk->ik", "bij,bkj->bki", "jbi,bj->bi", "ibj,kjb->bik"],
)
def test_einsum_by_few_vectors(equation):
    sizes = {"b": 4, "i": 60, "j": 130, "k": 3}
    rng = np.random.default_rng(0)
    left, right = equation.split("->")[0].split(",")
    a, b = (
        tf.constant(rng.integers(-4, 5, [sizes[n] for n in names]), "float32")
        for names in (left, right)
    )
    f = tf.function(lambda a, b: tf.einsum(equation, a, b) + 1.0, jit_compile=True)
    np.testing.assert_array_equal(f(a, b), np.einsum(equation, a, b) + 1)
    assert "NumPy" not in f.compile_report()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_loop_of_products_is_that_of_eager_calls(dtype):
    rng = np.random.default_rng(1)
    m = tf.constant(rng.normal(size=(90, 90)) / 10, dtype)

    def f(v):
        for _ in tf.range(5):
            v = tf.linalg.matvec(m, tf.linalg.matvec(m, v), transpose_a=True)
            v = v / tf.sqrt(tf.tensordot(v, v, 1))
        return v

    v = tf.constant(rng.normal(size=90), dtype)
    rtol = 1e-4 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(tf.function(f, jit_compile=True)(v), f(v), rtol, rtol)
