"""Every op of the catalogue: carried out for all rows = carried out for each row."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from intaglio import tf
from tests.ops import calls
from tests.ops.calls import NAMES, samples_of

MOST_SAMPLES = 6
ROWS = 3
# Ops that are carried out row by row on purpose: what comes out has another size in each row,
# or Python, files or a state of their own are involved. Others must have a rule.


def rows_of(array: np.ndarray, shuffle: bool) -> np.ndarray:
    """The array three times; the last with its elements in another order if that is wanted."""
    last = np.roll(array, 1) if shuffle else array
    return np.stack([array, array, last])


def places(inputs: dict[str, Any]) -> list[tuple[str, int | None]]:
    """The arrays among the inputs, by name and place in a list."""
    found: list[tuple[str, int | None]] = []
    for name, value in inputs.items():
        if isinstance(value, list):
            found.extend((name, i) for i in range(len(value)))
        else:
            found.append((name, None))
    return found


def chosen(where: list[tuple[str, int | None]]) -> list[tuple[Any, ...]]:
    """Which inputs differ from row to row: each by itself, and all that can."""
    return [(p,) for p in where] + ([tuple(where)] if len(where) > 1 else [])


def put(inputs: dict[str, Any], values: dict[Any, Any]) -> dict[str, Any]:
    """The inputs with some of the arrays exchanged."""
    made = {n: list(v) if isinstance(v, list) else v for n, v in inputs.items()}
    for (name, place), value in values.items():
        if place is None:
            made[name] = value
        else:
            made[name][place] = value
    return made


def get(inputs: dict[str, Any], place: tuple[str, int | None]) -> np.ndarray:
    """One of the arrays."""
    value = inputs[place[0]]
    return np.asarray(value if place[1] is None else value[place[1]])


def each_row(sample: Any, inputs: Any, stacked: dict[Any, np.ndarray]) -> Any:
    """The op for one row after the other, stacked; None if a row fails or has another shape."""
    results: list[list[np.ndarray]] = []
    for i in range(ROWS):
        own = {p: s[i, ...] for p, s in stacked.items()}
        try:
            outputs = calls.call(sample, put(inputs, own))
        except Exception:
            return None
        results.append([np.asarray(t._array) for t in outputs])
    columns = list(zip(*results, strict=True))
    if any(len({a.shape for a in c}) > 1 for c in columns):
        return None
    return [np.stack(c) for c in columns]


def assert_near(got: np.ndarray, wanted: np.ndarray, where: str) -> None:
    """Equal, but for the rounding that another order of additions gives."""
    assert got.dtype == wanted.dtype, where
    assert got.shape == wanted.shape, where
    if wanted.dtype.kind in "biuOS" or wanted.size == 0:
        assert np.array_equal(got, wanted), where
        return
    wide = "complex128" if wanted.dtype.kind == "c" else "float64"
    kind = {"complex64": "float32", "complex128": "float64"}.get(wanted.dtype.name, wanted.dtype)
    eps = float(ml_dtypes.finfo(kind).eps)
    got, wanted = got.astype(wide), wanted.astype(wide)
    scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1.0)
    np.testing.assert_allclose(got, wanted, rtol=64 * eps, atol=64 * eps * scale, err_msg=where)


@pytest.mark.parametrize("name", NAMES)
def test_all_rows_equal_each_row(name):
    for sample in itertools.islice(samples_of(name), MOST_SAMPLES):
        if sample.error or sample.nondeterministic or calls.CATALOGUE[name].stateful:
            continue
        inputs = calls.inputs_of(sample)
        for subset in chosen(places(inputs)):
            for shuffle in (True, False):
                stacked = {p: rows_of(get(inputs, p), shuffle) for p in subset}
                wanted = each_row(sample, inputs, stacked)
                if wanted is not None:
                    break
            else:
                continue

            def one(rows: Any, inputs=inputs, subset=subset, sample=sample) -> Any:
                own = dict(zip(subset, rows, strict=True))
                return calls.call(sample, put(inputs, own))

            where = f"{sample!r} with rows of {subset}"
            elems = [tf.constant(s) for s in stacked.values()]
            got = tf.vectorized_map(one, elems, warn=False)
            for a, b in zip(got, wanted, strict=True):
                assert_near(np.asarray(a._array), b, where)
