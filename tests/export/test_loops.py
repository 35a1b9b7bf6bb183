"""Ops that libraries compute by loops over elements: equal to their kernels, in Python and as machine code."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf
from intaglio.export.loops import complex_matrices, matrices
from intaglio.opdef import raw
from tests.export.loaded import Loaded

needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def exported(function: Any, folder: pathlib.Path, *arrays: Any) -> tuple[dict[str, Any], Any]:
    """The results of a library, by name, and those in Python."""
    specs = [tf.TensorSpec(a.shape, a.dtype, name=f"x{i}") for i, a in enumerate(arrays)]
    concrete = tf.function(function).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, folder / "model", kinds=["shared"]))
    found = library.call("run", {f"x{i}": a for i, a in enumerate(arrays)})
    library.close()
    return found, concrete(*map(tf.constant, arrays))


def near(found: Any, expected: Any, tolerance: float) -> None:
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * largest)


def normal(*shape: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


def adjoint(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


# -- matrices -------------------------------------------------------------------------------------------

SQUARE: dict[str, Any] = {
    "lu": lambda x: tf.linalg.lu(x)._asdict(),
    "lu_int64": lambda x: {"p": tf.linalg.lu(x, tf.int64).p},
    "logarithm": lambda x: tf.linalg.slogdet(x)._asdict(),
    "exponential": lambda x: {"y": tf.linalg.expm(x), "large": tf.linalg.expm(x * 20.0)},
    "qr": lambda x: tf.linalg.qr(x)._asdict(),
}


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 5, 5), (33, 33)])
@pytest.mark.parametrize("name", SQUARE)
def test_square_matrices(
    name: str, shape: tuple[int, ...], dtype: str, tmp_path: pathlib.Path
) -> None:
    x = normal(*shape, dtype=dtype) / np.asarray(shape[-1], dtype)
    found, expected = exported(SQUARE[name], tmp_path, x)
    for label, value in expected.items():
        near(found[label], value, 2e-4 if dtype == "float32" else 1e-11)


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_matrices(dtype: str, tmp_path: pathlib.Path) -> None:
    """More rows than kernels of small matrices have lanes for, from both sides."""

    def f(x: Any, y: Any) -> Any:
        s = tf.matmul(x, x, transpose_b=True) / 40.0 + tf.eye(40, dtype=x.dtype)
        half = tf.linalg.cholesky(s)
        found = {"cholesky": half, "inverse": tf.linalg.inv(s), "determinant": tf.linalg.det(s)}
        for side in (False, True):
            found[f"solved_{side}"] = tf.linalg.solve(x + 9.0 * tf.eye(40, dtype=x.dtype), y, side)
            found[f"lower_{side}"] = tf.linalg.triangular_solve(half, y, True, side)
            found[f"upper_{side}"] = tf.linalg.triangular_solve(adjoint_of(half), y, False, side)
        return found

    def adjoint_of(x: Any) -> Any:
        return tf.linalg.matrix_transpose(x)

    found, expected = exported(
        f, tmp_path, normal(2, 40, 40, dtype=dtype), normal(2, 40, 3, dtype=dtype)
    )
    for label, value in expected.items():
        near(found[label], value, 2e-3 if dtype == "float32" else 1e-11)


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("shape", [(5, 3), (2, 3, 5), (4, 4), (1, 3), (6, 1)])
def test_orthogonal_factors(
    shape: tuple[int, ...], full: bool, dtype: str, tmp_path: pathlib.Path
) -> None:
    """QR has LAPACK's signs; those of singular vectors are free."""
    x = normal(*shape, dtype=dtype)

    def f(x: Any) -> Any:
        s, u, v = tf.linalg.svd(x, full_matrices=full)
        q, r = tf.linalg.qr(x, full_matrices=full)
        return {"s": s, "u": u, "v": v, "q": q, "r": r, "alone": tf.linalg.svd(x, compute_uv=False)}

    found, expected = exported(f, tmp_path, x)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for label in ("s", "alone", "q", "r"):
        near(found[label], expected[label], tolerance)
    least = min(shape[-2:])
    for label in ("u", "v"):
        vectors = found[label]
        assert vectors.shape == expected[label].shape
        one = adjoint(vectors) @ vectors
        near(one, np.broadcast_to(np.eye(one.shape[-1], dtype=dtype), one.shape), tolerance)
    product = (found["u"][..., :least] * found["s"][..., None, :]) @ adjoint(
        found["v"][..., :least]
    )
    near(product, x, tolerance)


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 3, 4, 4), (20, 20)])
def test_symmetric_matrices(shape: tuple[int, ...], dtype: str, tmp_path: pathlib.Path) -> None:
    """The lower triangle alone counts; values in ascending order."""

    def f(x: Any) -> Any:
        e, v = tf.linalg.eigh(x)
        return {"e": e, "v": v, "alone": tf.linalg.eigvalsh(x)}

    x = normal(*shape, dtype=dtype)
    found, expected = exported(f, tmp_path, x)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    near(found["e"], expected["e"], tolerance)
    near(found["alone"], expected["e"], tolerance)
    lower = np.tril(x)
    symmetric = lower + adjoint(np.tril(x, -1))
    near((found["v"] * found["e"][..., None, :]) @ adjoint(found["v"]), symmetric, 4 * tolerance)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 5),
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 1e-8, 1e8, 3.0]), min_size=25, max_size=25),
    st.booleans(),
)
def test_matrices_of_any_rank(rows: int, columns: int, elements: list[float], full: bool) -> None:
    """In Python: factors of matrices with zeros, equal rows and unlike sizes give the matrix."""
    x = np.array(elements[: rows * columns])
    m, n = max(rows, columns), min(rows, columns)
    k = m if full else n
    s, longer, shorter = np.empty(n), np.empty(m * k), np.empty(n * n)
    u, v = (shorter, longer) if rows < columns else (longer, shorter)
    own = np.empty(m * n), np.empty(n * n), np.empty(m * k), np.empty(n, np.int64), np.empty(n)
    matrices.svd(s, u, v, *own, x, 1, rows, columns, k, 1, 0, 1)
    us, vs = u.reshape(rows, -1), v.reshape(columns, -1)
    scale = max(np.abs(x).max(), 1e-300)
    np.testing.assert_allclose(
        (us[:, :n] * s) @ vs[:, :n].T, x.reshape(rows, columns), atol=1e-13 * scale
    )
    np.testing.assert_allclose(us.T @ us, np.eye(us.shape[1]), atol=1e-12)
    np.testing.assert_allclose(vs.T @ vs, np.eye(vs.shape[1]), atol=1e-12)
    assert (np.diff(s) <= 0).all()
    k = rows if full else n
    q, r = np.empty(rows * k), np.empty(k * columns)
    matrices.qr(
        q, r, np.empty(m * n), np.empty(n), np.empty(rows * k), x, 1, rows, columns, k, 0, 1
    )
    found = q.reshape(rows, k) @ r.reshape(k, columns)
    np.testing.assert_allclose(found, x.reshape(rows, columns), atol=1e-13 * scale)


STRUCTURED = {
    "one number": np.full((7, 7), 0.1),
    "one number, tall": np.full((6, 3), 2.0),
    "checkerboard": np.add.outer(np.arange(16), np.arange(16)) % 2 * 1.0,
    "tiles": np.tile([[10.0, 20.0], [30.0, 40.0]], (8, 8)),
    "cosines": np.fft.fft(np.eye(16)).real,
    "smooth": np.exp(-0.5 * np.subtract.outer(np.arange(20) / 7, np.arange(20) / 7) ** 2),
    "zeros": np.zeros((4, 4)),
    "tall": 0.1 + np.cos(np.pi * np.arange(6) * ((np.arange(400) + 0.5) / 400)[:, None]),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_singular_values_of_structured_matrices(name: str) -> None:
    """In Python: columns that others make zero leave numbers too small to be orthogonal."""
    x = STRUCTURED[name]
    m, n = x.shape
    s, u, v = np.empty(n), np.empty(m * n), np.empty(n * n)
    own = np.empty(m * n), np.empty(n * n), np.empty(m * n), np.empty(n, np.int64), np.empty(n)
    matrices.svd(s, u, v, *own, x.ravel(), 1, m, n, n, 1, 0, 1)
    us, vs = u.reshape(m, n), v.reshape(n, n)
    largest = max(np.abs(x).max(), 1e-300)
    np.testing.assert_allclose(s, np.linalg.svd(x, compute_uv=False), atol=2e-13 * largest)
    np.testing.assert_allclose((us * s) @ vs.T, x, atol=1e-13 * largest)
    np.testing.assert_allclose(us.T @ us, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(vs.T @ vs, np.eye(n), atol=1e-12)


# What TensorFlow 2.21 gives for determinants was asked: of a singular matrix 0, and for its logarithm the
# sign 0 and minus infinity; of one with NaN both are NaN.
SPECIAL: dict[str, Any] = {
    "singular": lambda n: np.outer(np.arange(1.0, n + 1), np.arange(n)),
    "zeros": lambda n: np.zeros((n, n)),
    "NaN": lambda n: np.where(np.arange(n)[:, None] == n - 1, np.nan, np.eye(n) + 0.1),
    "infinity": lambda n: np.diag([np.inf, *np.arange(1.0, n)]),
    "negative": lambda n: np.diag([*np.arange(1.0, n), -2.0]),
}


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1, 3, 33])
def test_determinants_of_any_matrix(rows: int, dtype: str, tmp_path: pathlib.Path) -> None:
    """By kernels of small matrices and by loops: none is an error."""

    def f(x: Any) -> Any:
        return {"value": tf.linalg.det(x), **tf.linalg.slogdet(x)._asdict()}

    x = np.stack([special(rows) for special in SPECIAL.values()]).astype(dtype)
    found, expected = exported(f, tmp_path, x)
    for label, value in expected.items():
        np.testing.assert_allclose(found[label], value, rtol=1e-6, err_msg=label)
    assert found["value"][1] == 0.0
    assert np.isnan([v[2] for v in found.values()]).all()


REFUSED: dict[str, Any] = {
    "MatrixInverse": (tf.linalg.inv, "zeros"),
    "MatrixSolve": (lambda x: tf.linalg.solve(x, x[..., :1]), "zeros"),
    "Lu": (lambda x: tf.linalg.lu(x).lu, "zeros"),
}


@needs_cc
@pytest.mark.parametrize("rows", [3, 33])
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_result_is_an_error(name: str, rows: int, tmp_path: pathlib.Path) -> None:
    """As it is in Python, of many rows as of few; NaN is a reason for one where it comes first."""
    function, special = REFUSED[name]
    specs = [tf.TensorSpec((2, rows, rows), tf.float64, name="x")]
    concrete = tf.function(lambda x: {"y": function(x)}).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    good = np.eye(rows) * 2.0
    x = np.stack([good, SPECIAL[special](rows)])
    for second in (SPECIAL[special](rows), good * np.nan):
        x = np.stack([good, second])
        with pytest.raises(tf.errors.InvalidArgumentError):
            concrete(tf.constant(x))
        with pytest.raises(RuntimeError, match=rf": {name} '.*"):
            library.call("run", {"x": x})
    later = good.copy()
    later[rows - 1, 1] = np.nan
    for second in (good, later):
        x = np.stack([good, second])
        found = library.call("run", {"x": x})["y"]
        # Which other elements are NaN depends on the order of steps.
        expected = concrete(tf.constant(x))["y"]
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        assert np.isnan(found[1]).any() == np.isnan(expected[1]).any() == (second is later)
    library.close()


@needs_cc
@pytest.mark.parametrize("rows", [3, 33])
def test_roots_and_triangles_have_results(rows: int, tmp_path: pathlib.Path) -> None:
    """NaN where a matrix is not positive definite, infinities where one divides by 0."""

    def f(x: Any) -> Any:
        return {"root": tf.linalg.cholesky(x), "x": tf.linalg.triangular_solve(x, x[..., :2] + 1)}

    x = np.stack([2.0 * np.eye(rows), *[SPECIAL[s](rows) for s in ("zeros", "negative", "NaN")]])
    found, expected = exported(f, tmp_path, x)
    for label, value in expected.items():
        np.testing.assert_allclose(found[label], value, rtol=1e-12, err_msg=label)
    assert np.isinf(found["x"][1]).any()
    assert np.isnan(found["root"][2][-1]).all()


@needs_cc
def test_values_of_what_has_nan(tmp_path: pathlib.Path) -> None:
    """Singular values and eigenvalues are NaN, and the search for them ends."""

    def f(x: Any) -> Any:
        return {"s": tf.linalg.svd(x, compute_uv=False), "e": tf.linalg.eigvalsh(x)}

    x = normal(3, 3)
    x[1, 0] = np.nan
    concrete = tf.function(f).get_concrete_function(tf.TensorSpec((3, 3), tf.float64, name="x"))
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    found = library.call("run", {"x": x})
    library.close()
    assert np.isnan(found["s"]).all()
    assert np.isnan(found["e"]).all()


# -- the op ---------------------------------------------------------------------------------------------


def test_loops_are_an_op_with_a_kernel() -> None:
    """Interpreted, the op is the function itself."""
    x = normal(2, 3, 3)
    sign, size = raw._ElementLoops(
        [tf.constant(x)],
        function="intaglio.export.loops.matrices:log_determinant",
        integers=[2, 3],
        shapes=[(2,), (2,)],
        Tout=[tf.float64, tf.float64],
        owned_sizes=[9, 3],
        Towned=[tf.float64, tf.int64],
    )
    own = np.linalg.slogdet(x)
    np.testing.assert_allclose(sign, own.sign)
    np.testing.assert_allclose(size, own.logabsdet)


def test_refusals_of_loops_are_errors() -> None:
    """Interpreted, too."""
    x = np.stack([np.eye(2), np.zeros((2, 2))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the matrix is singular"):
        raw._ElementLoops(
            [tf.constant(x)],
            function="intaglio.export.loops.matrices:lu",
            integers=[2, 2],
            shapes=[(2, 2, 2), (2, 2)],
            Tout=[tf.float64, tf.int64],
            owned_sizes=[1, 4, 2],
            Towned=[tf.int64, tf.float64, tf.int64],
            refusal="the matrix is singular",
        )


# -- functions of complex matrices, special functions ------------------------------------------------------------


@needs_cc
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_functions_of_complex_matrices(dtype: str, n: int, tmp_path: pathlib.Path) -> None:
    """Of any, of unitary ones, triangular ones, and of those with eigenvalues on the negative axis."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(5, n, n)) + 1j * rng.normal(size=(5, n, n))
    x[1] = np.linalg.qr(x[1])[0]
    x[2] = np.triu(x[2])
    x[3] = np.diag(-1.0 - np.arange(n)) + 0j
    x[4] = np.eye(n)

    def f(x: Any) -> Any:
        return {"logarithm": tf.linalg.logm(x), "root": tf.linalg.sqrtm(x)}

    found, expected = exported(f, tmp_path, x.astype(dtype))
    for name, value in expected.items():
        near(found[name], value.numpy(), 1e-4 if dtype == "complex64" else 1e-12)


@needs_cc
def test_logarithms_of_singular_matrices(tmp_path: pathlib.Path) -> None:
    found, expected = exported(
        lambda x: {"y": tf.linalg.logm(x)}, tmp_path, np.zeros((1, 2, 2), np.complex64)
    )
    assert np.isnan(found["y"]).all()
    assert np.isnan(expected["y"].numpy()).all()


@needs_cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_of_incomplete_gamma_functions(dtype: str, tmp_path: pathlib.Path) -> None:
    """By the shape, and of samples: small and large ones, and at the edges of the domain."""
    rng = np.random.default_rng(0)
    a = np.exp(rng.uniform(-6, 6, 400))
    x = a * np.exp(rng.normal(size=400))
    a[:6], x[:6] = [0, 1, -1, np.inf, 2, np.nan], [1, 0, 2, 3, np.inf, 1]

    def f(a: Any, x: Any) -> Any:
        return {
            "slope": raw.IgammaGradA(a, x), "sample": raw.RandomGammaGrad(a, x),
            "broadcast": raw.IgammaGradA(a[0], x),
        }  # fmt: skip

    found, expected = exported(f, tmp_path, a.astype(dtype), x.astype(dtype))
    for name, value in expected.items():
        tolerance = 1e-6 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(found[name], value.numpy(), rtol=tolerance, err_msg=name)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_schur_forms(seed: int) -> None:
    """The loops themselves: Q is unitary, T is upper triangular, and Q T Q^H is the matrix."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    x = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)) * rng.integers(2)
    x *= rng.random((n, n)) < rng.random()
    h, q = np.array([x.real, x.imag]).reshape(2, -1), np.zeros((2, n * n))
    assert complex_matrices._schur(*h, *q, n)
    t, u = ((p[0] + 1j * p[1]).reshape(n, n) for p in (h, q))
    assert not np.tril(t, -1).any()
    np.testing.assert_allclose(u @ u.conj().T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(u @ t @ u.conj().T, x, atol=1e-12)


@needs_cc
@pytest.mark.parametrize("pivoting", [True, False])
def test_tridiagonal_matrices(pivoting: bool, tmp_path: pathlib.Path) -> None:
    """Of all sizes down to 1; a singular one has no numbers where rows are exchanged."""

    def f(x: Any, y: Any, z: Any) -> Any:
        solve = tf.linalg.tridiagonal_solve
        options = {"diagonals_format": "compact", "partial_pivoting": pivoting}
        return {"y": solve(x, y, **options), "one": solve(z, y[:, :1], **options)}

    x, z = normal(4, 3, 7), normal(4, 3, 1)
    x[1, 1] += 9.0
    if pivoting:
        x[2], x[3, 1] = 0.0, 0.0
    found, expected = exported(f, tmp_path, x, normal(4, 7, 2), z)
    for name, value in expected.items():
        near(found[name], value.numpy(), 1e-9)


@needs_cc
@pytest.mark.parametrize("depth", [1, 3, 4])
def test_drawn_boxes(depth: int, tmp_path: pathlib.Path) -> None:
    """Inside, outside, across the border, empty ones and none that is finite; in colours of both kinds."""
    rng = np.random.default_rng(depth)
    boxes = rng.uniform(-0.4, 1.4, (2, 8, 4)).astype(np.float32)
    boxes[:, :4] = np.sort(boxes[:, :4].reshape(2, 4, 2, 2), axis=2).reshape(2, 4, 4)
    boxes[0, 0], boxes[1, 1, 2] = [0, 0, 1, 1], np.nan
    colors = rng.random((3, depth)).astype(np.float32)

    def f(x: Any, b: Any, c: Any) -> Any:
        return {"y": tf.image.draw_bounding_boxes(x, b, c), "z": raw.DrawBoundingBoxes(x, b)}

    found, expected = exported(f, tmp_path, normal(2, 9, 7, depth, dtype="float32"), boxes, colors)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value.numpy(), err_msg=name)
