"""Einstein summation of one or two operands, as transpositions and matrix products."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import NUMERIC, float32, float64, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import conjugate, spec_of, unbroadcast
from intaglio.ops.linalg.matmul import brackets, in_parts, parts, product_of_batches
from intaglio.ops.math.summation import is_long_product, long_product

DOTS = "..."
# A label is a letter, or (for a dimension of the ellipsis) its position from the right.
Labels = tuple[Any, ...]


@functools.lru_cache(maxsize=1024)
def terms(equation: str) -> tuple[tuple[Labels, ...], Labels]:
    """The labels of the inputs and of the output; the dots count as one label.

    Raises ShapeError for an invalid equation.
    """
    left, arrow, right = equation.partition("->")
    if not arrow or "->" in right:
        raise ShapeError(f"Expecting exactly one '->' in einsum equation: {equation}")
    inputs = tuple([_labels(t, equation) for t in left.split(",")])
    if not 1 <= len(inputs) <= 2:
        raise ShapeError(
            f"Expecting 1 or 2 input subscripts in equation '{equation}' but got: {len(inputs)}"
        )
    output = _labels(right, equation)
    missing = [x for x in output if x != DOTS and not any(x in t for t in inputs)]
    if missing:
        raise ShapeError(
            f"Einsum equation {equation!r}: output subscript {missing[0]!r} is in no input"
        )
    return inputs, output


def _labels(term: str, equation: str) -> Labels:
    found = re.findall(r"\.\.\.|[A-Za-z]", term)
    if "".join(found) != term.replace(" ", "") or found.count(DOTS) > 1:
        raise ShapeError(
            f"Einsum equation {equation!r}: {term!r} is no sequence of letters with at most one '...'"
        )
    return tuple(found)


def text(labels: Labels) -> str:
    """Labels as they are written."""
    return "".join(labels)


def _written_out(labels: Labels, hidden: int) -> Labels:
    """The labels, with one for each dimension of the ellipsis."""
    if DOTS not in labels:
        return labels
    at = labels.index(DOTS)
    return (*labels[:at], *range(-hidden, 0), *labels[at + 1 :])


def _spelled(labels: Labels, rank: int, position: int) -> Labels:
    """The labels of an input of this rank. Raises InvalidArgumentError if they do not fit."""
    named = len(labels) - (DOTS in labels)
    if rank < named or (rank != named and DOTS not in labels):
        least = "at least " if DOTS in labels else ""
        raise invalid_argument(
            f"Expected input {position} to have rank {least}{named} but got: {rank}"
        )
    return _written_out(labels, rank - named)


# -- kernel ----------------------------------------------------------------------------


def _simplified(x: Any, labels: Labels, keep: set[Any]) -> tuple[Any, Labels]:
    """Takes diagonals of repeated labels and sums over those not kept."""
    unique = tuple(dict.fromkeys(labels))
    if len(unique) != len(labels):
        numbers = {label: i for i, label in enumerate(unique)}
        for label in unique:
            axes = [i for i, n in enumerate(labels) if n == label]
            for at in axes[1:]:
                if x.shape[at] != x.shape[axes[0]]:
                    raise _size_mismatch(x.shape[axes[0]], at, x)
        x = np.einsum(x, [numbers[n] for n in labels], list(range(len(unique))))
    summed_axes = tuple([i for i, n in enumerate(unique) if n not in keep])
    if summed_axes:
        x = x.sum(axis=summed_axes, dtype=x.dtype)
        unique = tuple([n for n in unique if n in keep])
    return x, unique


def _size_mismatch(wanted: int, at: int, x: Any) -> Exception:
    return invalid_argument(
        f"Expected dimension {wanted} at axis {at} of the input shaped "
        f"{brackets(x.shape)} but got dimension {x.shape[at]}"
    )


def _arranged(x: Any, labels: Labels, groups: Sequence[Sequence[Any]]) -> Any:
    """The array with its dimensions in the order of the groups; absent ones of size 1."""
    wanted = [n for group in groups for n in group]
    present = [n for n in wanted if n in labels]
    x = x.transpose([labels.index(n) for n in present])
    if len(present) == len(wanted):
        return x
    sizes = iter(x.shape)
    return x.reshape([next(sizes) if n in labels else 1 for n in wanted])


def _pair(x: Any, left: Labels, y: Any, right: Labels, output: Labels) -> tuple[Any, Labels]:
    """The product of two operands summed over the labels that the output has not."""
    wanted = set(output)
    x, left = _simplified(x, left, wanted | set(right))
    y, right = _simplified(y, right, wanted | set(left))
    _check_sizes(x, left, y, right)
    shared = [n for n in left if n in right]
    # Dimensions behind the dots broadcast, which matmul does for batches.
    dots = sorted({n for n in (*left, *right) if isinstance(n, int) and n in wanted})
    batch = dots + [n for n in shared if n in wanted and n not in dots]
    inner = [n for n in shared if n not in wanted]
    if any(isinstance(n, int) for n in inner):
        x, y = _stretched(x, left, y, right, inner)
    rows = [n for n in left if n not in batch and n not in inner]
    columns = [n for n in right if n not in batch and n not in inner]
    a = _arranged(x, left, (batch, rows, inner))
    b = _arranged(y, right, (batch, inner, columns))
    nb, nr, ni = len(batch), len(rows), len(inner)
    row_sizes, column_sizes = a.shape[nb : nb + nr], b.shape[nb + ni :]
    depth = int(np.prod(a.shape[nb + nr :], dtype=np.int64))
    a = a.reshape(*a.shape[:nb], int(np.prod(row_sizes, dtype=np.int64)), depth)
    b = b.reshape(*b.shape[:nb], depth, int(np.prod(column_sizes, dtype=np.int64)))
    if is_long_product(a, b):
        product = long_product(a, b)
    else:
        product = np.multiply(a, b) if not inner and depth == 1 else product_of_batches(a, b)
    sizes = (*product.shape[:nb], *row_sizes, *column_sizes)
    return product.reshape(sizes), (*batch, *rows, *columns)


def _check_sizes(x: Any, left: Labels, y: Any, right: Labels) -> None:
    for i, n in enumerate(left):
        if n in right:
            at = right.index(n)
            have, wanted = y.shape[at], x.shape[i]
            if have != wanted and not (isinstance(n, int) and 1 in (have, wanted)):
                raise _size_mismatch(wanted, at, y)


def _stretched(
    x: Any, left: Labels, y: Any, right: Labels, inner: Sequence[Any]
) -> tuple[Any, Any]:
    """Broadcasts the dimensions behind the dots that are summed over."""
    sizes = {
        n: max(x.shape[left.index(n)], y.shape[right.index(n)]) for n in inner if isinstance(n, int)
    }
    return (
        np.broadcast_to(x, [sizes.get(n, s) for n, s in zip(left, x.shape, strict=True)]),
        np.broadcast_to(y, [sizes.get(n, s) for n, s in zip(right, y.shape, strict=True)]),
    )


def _reordered(x: Any, labels: Labels, output: Labels) -> np.ndarray:
    """The array in the output's order; a label that is repeated there makes a diagonal."""
    unique = tuple(dict.fromkeys(output))
    x = x.transpose([labels.index(n) for n in unique])
    if len(unique) == len(output):
        return np.ascontiguousarray(x) if x.ndim else np.asarray(x)
    sizes = dict(zip(unique, x.shape, strict=True))
    result: Any = np.zeros([sizes[n] for n in output], x.dtype)
    numbers = {n: i for i, n in enumerate(unique)}
    diagonal = np.einsum(result, [numbers[n] for n in output], list(range(len(unique))))
    diagonal[...] = x
    return result


def compute(equation: str, arrays: Sequence[Any]) -> np.ndarray:
    """The summation. Raises InvalidArgumentError if shapes and equation do not fit."""
    inputs, output = terms(equation)
    if len(inputs) != len(arrays):
        raise invalid_argument(f"Expected {len(inputs)} inputs but got: {len(arrays)}")
    spelled = [_spelled(t, a.ndim, i) for i, (t, a) in enumerate(zip(inputs, arrays, strict=True))]
    most = max([sum(isinstance(n, int) for n in t) for t in spelled])
    wanted = _written_out(output, most)
    dtype = arrays[0].dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        arrays = [a.astype(np.float32) for a in arrays]
    if len(arrays) == 1:
        x, labels = _simplified(arrays[0], spelled[0], set(wanted))
    else:
        x, labels = _pair(arrays[0], spelled[0], arrays[1], spelled[1], wanted)
    return _reordered(np.asarray(x), labels, wanted).astype(dtype, copy=False)


# -- inference -------------------------------------------------------------------------


def _inferred(equation: str, specs: Sequence[Spec]) -> Any:
    inputs, output = terms(equation)
    if len(inputs) != len(specs):
        raise ShapeError(
            f"Expected {len(inputs)} inputs for equation {equation!r} but got: {len(specs)}"
        )
    sizes: dict[Any, int | None] = {}
    dots: Any = ()
    for labels, spec in zip(inputs, specs, strict=True):
        if spec.shape is None:
            dots = None if DOTS in labels else dots
            continue
        hidden = _note_sizes(sizes, labels, spec.shape)
        dots = None if dots is None else shapes.broadcast(dots, hidden)
    dims: list[int | None] = []
    for label in output:
        if label != DOTS:
            dims.append(sizes.get(label))
        elif dots is None:
            return None
        else:
            dims.extend(dots)
    return tuple(dims)


def _note_sizes(
    sizes: dict[Any, int | None], labels: Labels, dims: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """Takes note of the labels' sizes. Returns the dimensions behind the dots."""
    named = len(labels) - (DOTS in labels)
    if len(dims) < named or (DOTS not in labels and len(dims) != named):
        least = "at least " if DOTS in labels else ""
        raise ShapeError(f"Shape must be {least}rank {named} but is rank {len(dims)}")
    at = labels.index(DOTS) if DOTS in labels else named
    after = named - at
    pairs = [
        *zip(labels[:at], dims[:at], strict=True),
        *zip(labels[len(labels) - after :], dims[len(dims) - after :], strict=True),
    ]
    for label, size in pairs:
        known = sizes.get(label)
        if known is not None and size is not None and known != size:
            raise ShapeError(f"Dimensions must be equal, but are {known} and {size}")
        sizes[label] = size if known is None else known
    return dims[at : len(dims) - after]


# -- gradient --------------------------------------------------------------------------


def _by_operand(
    d: Any, output: Labels, x: Any, labels: Labels, others: list[tuple[Any, Labels]]
) -> Any:
    """The gradient by one operand, as a summation of the gradient and the other operand."""
    named = tuple(dict.fromkeys([n for n in labels if n != DOTS]))
    front = (DOTS,) if DOTS in labels else ()
    reach = {n for t in (output, *[o for _, o in others]) for n in t}
    kept = [n for n in named if n in reach]
    sources = ",".join([text(output), *[text(o) for _, o in others]])
    g = raw.Einsum(
        [d, *[conjugate(y) for y, _ in others]], equation=f"{sources}->{text((*front, *kept))}"
    )
    target = (*front, *named)
    for i in range(len(named) - 1, -1, -1):
        if named[i] not in reach:
            g = raw.ExpandDims(g, np.asarray(i - len(named), np.int32))
    if len(kept) < len(named) or front:
        like = x
        if labels != target:
            like = raw.Einsum([x], equation=f"{text(labels)}->{text(target)}")
        if len(kept) < len(named) or DOTS not in reach:
            g = raw.Mul(g, raw.OnesLike(like))
        if front:
            g = unbroadcast(g, spec_of(like), spec_of(g))
    if labels != target:
        g = raw.Einsum([g], equation=f"{text(target)}->{text(labels)}")
    return g


def _simpler(equation: str, operands: Sequence[Any]) -> Any:
    """The summation without dots and complex numbers, after a reduction of each operand by itself.

    NotImplemented if there is nothing to reduce, and for diagonals and broadcasting.
    """
    written, output = terms(equation)
    found = [
        _spelled(t, len(x.dims), i) for i, (t, x) in enumerate(zip(written, operands, strict=True))
    ]
    if DOTS in output:
        most = max([-n for t in found for n in t if isinstance(n, int)], default=0)
        output = _written_out(output, most)
    sizes: dict[Any, int] = {}
    for labels, x in zip(found, operands, strict=True):
        for label, size in zip(labels, x.dims, strict=True):
            if len({*labels}) < len(labels) or sizes.setdefault(label, size) != size:
                return NotImplemented
    if len({*output}) < len(output):
        return NotImplemented
    letters = dict(zip(sizes, string.ascii_letters, strict=False))
    summed = list(operands)
    for i, labels in enumerate(found):
        others = {*output, *[n for other in found[:i] + found[i + 1 :] for n in other]}
        summed_axes = [at for at, n in enumerate(labels) if n not in others]
        if summed_axes:
            summed[i] = raw.Sum(operands[i], np.asarray(summed_axes, np.int32))
        found[i] = tuple([n for n in labels if n in others])
    left = ",".join(["".join([letters[n] for n in t]) for t in found])
    simple = f"{left}->{''.join([letters[n] for n in output])}"
    is_complex = operands[0].dtype.is_complex and len(operands) == 2
    if len(found) == 2 and _has_no_columns(found, output) and operands[0].dtype in SUMMED_APART:
        return _as_sum(summed, found, output)
    if found == [*written] and output == terms(equation)[1] and not is_complex:
        return NotImplemented
    if not is_complex:
        return raw.Einsum(summed, equation=simple)
    return in_parts(lambda x, y: raw.Einsum([x, y], equation=simple), *map(parts, summed))


# Products of others are summed in float32, and rounded once.
SUMMED_APART = (float32, float64, int32, int64)


def _has_no_columns(labels: Sequence[Labels], output: Labels) -> bool:
    """True for a product with a vector for each matrix of a batch, or with a number for each element.

    One vector for all is left to the product of matrices.
    """
    left, right = map(set, labels)
    batch, within = left & right & {*output}, left <= right or right <= left
    return within and bool(batch)


def _as_sum(operands: Sequence[Any], labels: Sequence[Labels], output: Labels) -> Any:
    """Such a product as elementwise products and their sums, in the order of the larger operand:
    only the smaller one is transposed, and no matrix has a single column."""
    (large, order), (small, names) = sorted(
        zip(operands, labels, strict=True), key=lambda pair: len(pair[1]), reverse=True
    )
    present = [n for n in order if n in names]
    if present != [*names]:
        small = raw.Transpose(small, np.asarray([names.index(n) for n in present], np.int32))
    sizes = dict(zip(order, large.dims, strict=True))
    dims = [sizes[n] if n in names else 1 for n in order]
    product = raw.Mul(large, raw.Reshape(small, np.asarray(dims, np.int32)))
    axes = [i for i, n in enumerate(order) if n not in output]
    kept = [n for n in order if n in output]
    found = raw.Sum(product, np.asarray(axes, np.int32)) if axes else product
    if kept == [*output]:
        return found
    return raw.Transpose(found, np.asarray([kept.index(n) for n in output], np.int32))


@op
class Einsum(Op):
    """A sum of products by an equation: `ij,jk->ik` is a matrix product."""

    signature = "inputs: N*T; equation: str -> output: T"
    bilinear = True
    T = NUMERIC

    def infer(self, inputs, equation) -> Spec:
        return Spec(inputs[0].dtype, _inferred(equation, inputs))

    def kernel(self, inputs, equation):
        return compute(equation, inputs)

    def native(self, inputs, equation) -> Any:
        return _simpler(equation, inputs)

    def gradient(self, inputs, doutput, equation) -> Any:
        labels, output = terms(equation)
        pairs = list(zip(inputs, labels, strict=True))
        return [
            functools.partial(_by_operand, doutput, output, x, own, pairs[:i] + pairs[i + 1 :])
            for i, (x, own) in enumerate(pairs)
        ]


__all__ = ["Einsum", "compute", "terms"]
