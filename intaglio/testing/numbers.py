"""Assertions on the numbers of tensors, and on other things: methods of `tf.test.TestCase`.

Follows https://www.tensorflow.org/api_docs/python/tf/test/TestCase.
"""

from __future__ import annotations

import dataclasses
import math
import unittest
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.compat_v1.values import RaggedTensorValue
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.tensor import RaggedTensor
from intaglio.sparse.tensor import SparseTensor, SparseTensorValue
from intaglio.state.variable import Variable

# The largest array of which a failed comparison of shapes shows the contents.
_SHOWN_SIZE = 500
_SHOWN_ELEMENTS = 10


class IndexedSlicesValue(NamedTuple):
    """The arrays of `tf.IndexedSlices`."""

    values: Any
    indices: Any
    dense_shape: Any


def evaluated(value: Any) -> Any:
    """The value of a structure of tensors, as `TestCase.evaluate` gives it eagerly.

    A sparse tensor is a SparseTensorValue, a ragged one a RaggedTensorValue, IndexedSlices an
    IndexedSlicesValue, and None is None. Functions are called. Raises ValueError for leaves of other types.
    """
    return None if value is None else nest.map_structure(_evaluated_leaf, value)


def _evaluated_leaf(leaf: Any) -> Any:
    if isinstance(leaf, SparseTensor):
        return SparseTensorValue(
            *(t.numpy() for t in (leaf.indices, leaf.values, leaf.dense_shape))
        )
    if isinstance(leaf, RaggedTensor):
        return RaggedTensorValue(_evaluated_leaf(leaf.values), leaf.row_splits.numpy())
    if isinstance(leaf, IndexedSlices):
        shape = leaf.dense_shape
        dense_shape = None if shape is None else shape.numpy()
        return IndexedSlicesValue(leaf.values.numpy(), leaf.indices.numpy(), dense_shape)
    if callable(getattr(leaf, "numpy", None)):
        return leaf.numpy()
    if callable(leaf):
        return evaluated(leaf())
    if leaf is None:
        return None
    raise ValueError(f"Unsupported type {type(leaf).__name__!r}.")


def valued(value: Any) -> Any:
    """Tensors of a structure as NumPy values; composite tensors as their components."""

    def one(leaf: Any) -> Any:
        if isinstance(leaf, (Tensor, Variable)):
            return leaf.numpy()
        to_list: Any = getattr(leaf, "to_list", None)
        return to_list() if isinstance(leaf, CompositeTensor) and to_list else leaf

    return nest.map_structure(one, value)


def array(value: Any) -> np.ndarray:
    """A tensor, number, text or nested list of them as an array."""
    found = valued(value)
    if isinstance(found, (list, tuple)):
        found = [array(v) if isinstance(v, np.ndarray) else v for v in found]
    result = np.asarray(found)
    return result.astype(object) if result.dtype.kind == "S" else result


def _nested(value: Any) -> Any:
    """A ragged or dense tensor, or nested lists of such, as nested lists."""
    to_list = getattr(value, "to_list", None)
    if to_list is not None:
        return to_list()
    if isinstance(value, (list, tuple)):
        return [_nested(v) for v in value]
    found = valued(value)
    return found.tolist() if isinstance(found, (np.ndarray, np.generic)) else found


def _comparable(value: Any) -> np.ndarray:
    result = array(value)
    if result.dtype.kind == "U":
        return np.char.encode(result).astype(object)
    if result.dtype == object:
        flat = [v.encode() if isinstance(v, str) else v for v in result.ravel()]
        result = np.array(flat, object).reshape(result.shape)
    return result


class NumberAssertions(unittest.TestCase):
    """What `tf.test.TestCase` asserts of numbers."""

    def evaluate(self, tensors: Any) -> Any:
        """Tensors of a structure as NumPy values."""
        return evaluated(tensors)

    def _evaluated(self, value: Any) -> Any:
        """The structure with values for the tensors of a graph in it."""
        parts = nest.flatten(value, expand_composites=True)
        return self.evaluate(value) if any(isinstance(p, SymbolicTensor) for p in parts) else value

    def _GetNdArray(self, a: Any) -> np.ndarray:
        """What the comparisons of arrays compare; test cases of libraries override it."""
        return array(self._evaluated(a))

    def _same_shape(self, a: np.ndarray, b: np.ndarray, rest: str) -> None:
        if a.shape != b.shape:
            text = f"Shape mismatch: expected {a.shape}, got {b.shape}{rest}"
            self.assertEqual(a.shape, b.shape, text)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails unless both have the same shape and elements; nan equals nan.

        Ragged tensors are compared as nested lists.
        """
        if any(isinstance(v, (RaggedTensor, RaggedTensorValue)) for v in (a, b)):
            self.assertEqual(_nested(self._evaluated(a)), _nested(self._evaluated(b)), msg)
            return
        x, y = _comparable(self._GetNdArray(a)), _comparable(self._GetNdArray(b))
        small = y.ndim <= 3 or y.size < _SHOWN_SIZE
        contents = f". Contents: {y!r}" if small else ""
        self._same_shape(x, y, f"{contents}. \n{msg or ''}.")
        same = x == y
        if x.dtype.kind in "fc" and y.dtype.kind in "fc":
            same = same | (np.isnan(x) & np.isnan(y))
        differs = ~np.asarray(same, bool)
        if differs.any():
            where = np.where(differs) if differs.ndim else ()
            lines = [msg or "", *_locations(differs, "not equal")]
            lhs, rhs = np.asarray(x[where], x.dtype), np.asarray(y[where], y.dtype)
            lines += [f"not equal lhs = {lhs!r}", f"not equal rhs = {rhs!r}"]
            np.testing.assert_array_equal(x, y, err_msg="\n".join(lines))
            self.fail("\n".join(lines))

    def assertDictEqual(self, d1: Any, d2: Any, msg: Any = None) -> None:
        """Fails unless both have the same keys, and equal values; floats may differ as in `assertAllClose`."""
        try:
            super().assertDictEqual(d1, d2, msg)
        except (
            AssertionError,
            ValueError,
        ):  # tensors of several elements are neither true nor false
            if not isinstance(d1, dict) or not isinstance(d2, dict) or d1.keys() != d2.keys():
                raise
            for key, value in d1.items():
                exact = np.asarray(valued(value)).dtype.kind != "f"
                check = self.assertAllEqual if exact else self.assertAllClose
                check(value, d2[key], msg=f"{key}{f' {msg}' if msg else ''}")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails if both have the same shape and elements."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(
        self, a: Any, b: Any, rtol: Any = 1e-6, atol: Any = 1e-6, msg: str | None = None
    ) -> None:
        """Fails unless |a - b| <= atol + rtol * |b|; structures are compared part by part."""
        self._all_close(a, b, rtol, atol, msg)

    # A method of its own, so that a subclass may have an `assertAllClose` that calls this one.
    def _all_close(
        self, a: Any, b: Any, rtol: Any, atol: Any, msg: str | None, path: str = ""
    ) -> None:
        a, b = valued(self._evaluated(a)), valued(self._evaluated(b))
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
                raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg or ''}")
            keys = f"a{path} has keys {a.keys()}, but b{path} has keys {b.keys()}"
            self.assertCountEqual(a.keys(), b.keys(), f"mismatched keys: {keys}. {msg or ''}")
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, msg, f"{path}[{key}]")
            return
        if isinstance(a, (list, tuple)) and _is_ragged(a, b):
            sizes = f"a{path} has {len(a)} items, but b{path} has {len(b)} items"
            self.assertEqual(len(a), len(b), f"Mismatched length: {sizes}. {msg or ''}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._all_close(x, y, rtol, atol, msg, f"{path}[{i}]")
            return
        self._arrays_close(self._GetNdArray(a), self._GetNdArray(b), rtol, atol, msg, path)

    def _arrays_close(self, x: Any, y: Any, rtol: Any, atol: Any, msg: Any, path: str = "") -> None:
        self._same_shape(x, y, f" with contents {y}. {msg or ''}".rstrip(" "))
        dtype, shape = x.dtype, x.shape
        if ml_dtypes.bfloat16 in (x.dtype, y.dtype):
            x, y = x.astype(np.float32), y.astype(np.float32)
        differs = ~np.asarray(np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True))
        if not differs.any():
            return
        where = np.where(differs) if differs.ndim else ()
        lhs, rhs = x[where], y[where]
        lines = [
            f"Mismatched value: a{path} is different from b{path}. {msg or ''}",
            *_locations(differs, "not close"),
            f"not close lhs = {lhs}",
            f"not close rhs = {rhs}",
            f"not close dif = {np.abs(lhs - rhs)}",
            f"not close tol = {atol + rtol * np.abs(rhs)}",
            f"dtype = {dtype}, shape = {shape}",
        ]
        text = "\n".join(lines)
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=text)
        self.fail(text)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """As assertAllClose, with tolerances for the narrower of both dtypes."""
        x, y = self._GetNdArray(a), self._GetNdArray(b)
        wider = (
            ((np.float32, np.complex64), float_rtol, float_atol),
            ((np.float16,), half_rtol, half_atol),
            ((ml_dtypes.bfloat16,), bfloat16_rtol, bfloat16_atol),
        )
        for kinds, r, t in wider:
            if x.dtype in kinds or y.dtype in kinds:
                rtol, atol = max(rtol, r), max(atol, t)
        self._arrays_close(x, y, rtol, atol, msg)

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails if all elements are close."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(f"The two values are close at all elements. {msg or ''}")

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are greater."""
        self.assertGreater(self._GetNdArray(a).min(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are at least that."""
        self.assertGreaterEqual(self._GetNdArray(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are less."""
        self.assertLess(self._GetNdArray(a).max(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails unless all elements are at most that."""
        self.assertLessEqual(self._GetNdArray(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fails unless all elements are in the range, without its bounds where it is open."""
        x = self._GetNdArray(target)
        missing = np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, bool)
        if missing.any():
            self.fail(
                f"{int(missing.sum())} of the {x.size} element(s) are NaN. Subscripts(s) and value(s) "
                f"of the NaN element(s):\n  {_elements(x, missing)}"
            )
        above = x > lower_bound if open_lower_bound else x >= lower_bound
        below = x < upper_bound if open_upper_bound else x <= upper_bound
        outside = ~np.asarray(above & below)
        if outside.any():
            left, right = "(["[not open_lower_bound], ")]"[not open_upper_bound]
            self.fail(
                f"{int(outside.sum())} of the {x.size} element(s) are outside the range "
                f"{left}{lower_bound}, {upper_bound}{right}. Subscript(s) and value(s) of the "
                f"offending elements:\n  {_elements(x, outside)}"
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Fails unless all elements are among those expected."""
        found = np.unique(self._GetNdArray(target)).tolist()
        others = [v for v in found if v not in expected_set]
        if others:
            self.fail(
                f"{len(others)} unique element(s) are not in the set {expected_set}: {others}"
            )

    def assertNear(self, f1: Any, f2: Any, err: float, msg: str | None = None) -> None:
        """Fails unless |f1 - f2| <= err."""
        self.assertTrue(
            f1 == f2 or math.fabs(f1 - f2) <= err,
            f"{f1:f} != {f2:f} +/- {err:f} (difference: {math.fabs(f1 - f2):g})"
            f"{f' ({msg})' if msg else ''}",
        )

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Fails unless both are of one length and near, element by element."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Fails unless the norm of the difference is less than err."""
        distance = float(np.linalg.norm(self._GetNdArray(ndarray1) - self._GetNdArray(ndarray2)))
        self.assertTrue(distance < err, msg or f"the arrays are {distance} apart")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Fails unless both have the same shape."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails unless the dtype is that one: of NumPy, or of a tensor's elements."""
        found = self._GetNdArray(target).dtype
        expected = getattr(expected_dtype, "as_numpy_dtype", expected_dtype)
        if isinstance(target, (list, tuple)):
            self.assertTrue(all(self._GetNdArray(t).dtype == expected for t in target))
        else:
            self.assertEqual(found, np.dtype(expected))

    def assertDataclassEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """Fails unless both are of one dataclass with equal fields."""
        self.assertTrue(dataclasses.is_dataclass(first), msg)
        self.assertIs(type(first), type(second), msg)
        for field in dataclasses.fields(first):
            a, b = getattr(first, field.name), getattr(second, field.name)
            self.assertEqual(a, b, f"{field.name}: {msg or ''}")


def _locations(differs: np.ndarray, what: str) -> list[str]:
    """The line that says where arrays differ; none for scalars."""
    return [f"{what} where = {np.where(differs)}"] if differs.ndim else []


def _elements(x: np.ndarray, chosen: Any) -> str:
    """The first of the chosen elements, one a line, each behind its index."""
    x, chosen = np.atleast_1d(x), np.atleast_1d(chosen)
    at = [tuple(int(i) for i in index) for index in np.argwhere(chosen)]
    lines = [f"{list(index)} : {x[index]}" for index in at[:_SHOWN_ELEMENTS]]
    return "\n  ".join([*lines, *(["..."] if len(at) > _SHOWN_ELEMENTS else [])])


def _is_ragged(a: Any, b: Any) -> bool:
    """True for sequences that are no arrays."""
    try:
        for value in (a, b):
            array(value)
    except ValueError:
        return True
    return any(isinstance(v, (Mapping, tuple)) for v in a)
