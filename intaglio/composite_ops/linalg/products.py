"""Products of `tf.linalg`: matmul, matvec, einsum, tensordot.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.opdef import convert, door, products, raw
from intaglio.opdef.dispatch import dispatchable, globally_dispatchable
from intaglio.opdef.operators import pair
from intaglio.opdef.tensor import Tensor


@dispatchable
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of two matrices, or of two batches of matrices: `a @ b`.

    `a` has the shape `[..., m, k]` and `b` `[..., k, n]`, before the transpositions and
    adjoints; the batch dimensions broadcast. The hints that an operand is mostly
    zeros are accepted and change nothing. Raises ValueError if an operand is to be
    transposed and adjoint both, or the shapes do not fit in a graph; InvalidArgumentError
    if they do not fit eagerly.

    `transpose_a` and `transpose_b` transpose an operand, `adjoint_a` and `adjoint_b` conjugate it
    as well; `output_type` is the dtype of the result of integer operands. `a_is_sparse`,
    `b_is_sparse`, `grad_a` and `grad_b` have no effect on results.

    https://www.tensorflow.org/api_docs/python/tf/linalg/matmul

    >>> print(tf.matmul([[1, 2], [3, 4]], [[10], [1]]).numpy())
    [[12]
     [34]]
    """
    return products.matmul(
        a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, output_type=output_type, name=name
    )


@dispatchable
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix `[..., m, k]` and a vector `[..., k]`: `[..., m]`.

    Raises as matmul does.

    `transpose_a` transposes the matrix, `adjoint_a` conjugates it as well; `a_is_sparse` and
    `b_is_sparse` have no effect on results.

    https://www.tensorflow.org/api_docs/python/tf/linalg/matvec

    >>> print(tf.linalg.matvec([[1, 2], [3, 4]], [10, 1]).numpy())
    [12 34]
    """
    with door.level().scoped(name or "MatVec"):
        a, b = pair(a, b)
        column = raw.ExpandDims(b, -1, name="ExpandDims")
        product = products.matmul(a, column, transpose_a, adjoint_a=adjoint_a)
        return raw.Squeeze(product, axis=[-1], name="Squeeze")


# -- einsum ----------------------------------------------------------------------------


@globally_dispatchable
def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """The sum of products that the equation describes: `tf.einsum("ij,jk->ik", a, b)`.

    Labels are letters; "..." is an ellipsis of further dimensions, which broadcast; a repeated
    label takes a diagonal; without "->" the output has the labels that occur once, in
    alphabetical order. More than two operands are contracted pair by pair, in an order
    found from their static shapes (`optimize`: "greedy" by default; "optimal" and
    "auto" are taken, too). Numeric dtypes, all the same. Raises ValueError for an
    equation that does not fit the operands.

    https://www.tensorflow.org/api_docs/python/tf/einsum

    >>> print(
    ...     tf.einsum(
    ...         "ij,j->i", tf.constant([[1, 2], [3, 4]]), tf.constant([10, 1])
    ...     ).numpy()
    ... )
    [12 34]
    """
    name = kwargs.pop("name", None)
    optimize = kwargs.pop("optimize", "greedy")
    if kwargs:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(kwargs)}. Expected: optimize, name."
        )
    with door.level().scoped(name or "einsum"):
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            inputs = tuple(inputs[0])
        terms, output = _terms(equation, len(inputs))
        tensors = _alike(inputs)
        while len(tensors) > 2:
            i, j = _next_pair(terms, output, tensors, optimize)
            rest = [t for k, t in enumerate(terms) if k not in (i, j)]
            result = _intermediate(terms[i], terms[j], rest, output)
            product = raw.Einsum(
                [tensors[i], tensors[j]], equation=f"{terms[i]},{terms[j]}->{result}"
            )
            tensors = [t for k, t in enumerate(tensors) if k not in (i, j)]
            terms, tensors = [*rest, result], [*tensors, product]
        return raw.Einsum(tensors, equation=f"{','.join(terms)}->{output}")


def _alike(inputs: Sequence[Any]) -> list[Tensor]:
    """The operands as tensors; Python values take the dtype of a tensor among them."""
    first = next((x for x in inputs if isinstance(x, Tensor)), None)
    hint = first.dtype if first is not None else None
    return [convert.to_tensor(x, dtype_hint=hint) for x in inputs]


def _terms(equation: str, count: int) -> tuple[list[str], str]:
    """The input subscripts and the output's. Raises ValueError."""
    plain = re.sub(r"\s", "", equation)
    match = re.fullmatch(r"([a-zA-Z,.]*)(->[a-zA-Z.]*)?", plain)
    if match is None:
        raise ValueError(
            f"Subscripts have incorrect format: {equation}. Write letters, commas and '...', "
            "as in 'ij,jk->ik'."
        )
    terms = match[1].split(",")
    if len(terms) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(terms)}')
    if match[2] is not None:
        output = match[2][2:]
        for label in output.replace(".", ""):
            if label not in match[1]:
                raise ValueError(
                    f"Output subscripts contain the label {label} not present in the input subscripts."
                )
        return terms, output
    letters = match[1].replace(",", "").replace(".", "")
    once = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return terms, ("..." if "..." in plain else "") + once


def _next_pair(
    terms: list[str], output: str, tensors: list[Tensor], optimize: Any
) -> tuple[int, int]:
    """The operands to contract next."""
    known = all(shapes.known(t.dims) for t in tensors)
    if not known:
        return 0, 1
    fakes = [np.broadcast_to(np.float32(0), t.dims) for t in tensors]  # type: ignore[arg-type]  # the caller has seen that all shapes are known
    equation = f"{','.join(terms)}->{output}"
    method = "optimal" if optimize in ("optimal", "branch-2", "branch-all") else "greedy"
    try:
        path = np.einsum_path(equation, *fakes, optimize=method)[0]
    except ValueError:
        return 0, 1
    first = sorted(path[1])[:2]
    return (first[0], first[1]) if len(first) == 2 else (0, 1)


def _intermediate(left: str, right: str, rest: list[str], output: str) -> str:
    """The labels of a pair's product that are needed later."""
    needed = set("".join(rest) + output)
    dots = "..." if "..." in left or "..." in right else ""
    letters = dict.fromkeys((left + right).replace(".", ""))
    return dots + "".join(c for c in letters if c in needed)


# -- tensordot -------------------------------------------------------------------------


@dispatchable
def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """The sum of products over pairs of axes of `a` and `b`.

    `axes` is a number n (the last n axes of `a`, the first n of `b`), a pair of axes, or
    a pair of lists of axes; it may be an int32 tensor whose value is known. The result has
    the other axes of `a`, then those of `b`. Raises ValueError if the axes do not fit.

    https://www.tensorflow.org/api_docs/python/tf/tensordot

    >>> print(tf.tensordot([[1, 2], [3, 4]], [[5, 6], [7, 8]], axes=[[0], [1]]).numpy())
    [[23 31]
     [34 46]]
    """
    with door.level().scoped(name or "Tensordot") as scope:
        a, b = pair(a, b)
        left, right = _axes(a, axes)
        x, free_x = _as_matrix(a, left, last=True)
        y, free_y = _as_matrix(b, right, last=False)
        product = products.matmul(x, y)
        if isinstance(free_x, list) and isinstance(free_y, list):
            whole = [*free_x, *free_y]
            if product.dims == tuple(whole):
                return product
            return raw.Reshape(product, np.asarray(whole, np.int32), name=scope or None)
        return raw.Reshape(product, raw.ConcatV2([_vector(free_x), _vector(free_y)], 0), name=scope)


def _vector(sizes: Any) -> Any:
    return np.asarray(sizes, np.int32) if isinstance(sizes, list) else sizes


def _axes(a: Tensor, axes: Any) -> tuple[list[int], list[int]]:
    """The axes of both operands. Raises ValueError."""
    if isinstance(axes, Tensor):
        value = getattr(axes, "_array", None)
        if value is None:
            value = axes.spec.value
        if value is None:
            raise ValueError(
                "`axes` of tensordot must have a value that is known when the graph is recorded: give a list"
            )
        axes = value.tolist()
    if isinstance(axes, (int, np.integer)):
        n = int(axes)
        if n < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        if a.dims is None:
            return list(range(-n, 0)), list(range(n))
        if n > len(a.dims):
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received {axes}, vs tensor dimensions {len(a.dims)}."
            )
        return list(range(len(a.dims) - n, len(a.dims))), list(range(n))
    if not isinstance(axes, (list, tuple)) or len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    left, right = axes
    left = [int(left)] if np.ndim(left) == 0 else [int(i) for i in left]
    right = [int(right)] if np.ndim(right) == 0 else [int(i) for i in right]
    if len(left) != len(right):
        raise ValueError(
            f"Different number of contraction axes `a` and `b`, {len(left)} != {len(right)}."
        )
    return left, right


def _as_matrix(x: Tensor, axes: list[int], last: bool) -> tuple[Tensor, Any]:
    """The tensor as a matrix with `axes` as its columns (`last`) or rows, and its other sizes."""
    if x.dims is None:
        return _as_matrix_late(x, axes, last)
    rank = len(x.dims)
    if any(not -rank <= i < rank for i in axes):
        raise ValueError(f"Axes {axes} do not fit a tensor of rank {rank}")
    axes = [i % rank for i in axes]
    free = [i for i in range(rank) if i not in axes]
    order = free + axes if last else axes + free
    if order != list(range(rank)):
        x = raw.Transpose(x, np.asarray(order, np.int32))
    if rank == 2 and len(axes) == 1:
        known = [x.dims[0 if last else 1]]  # type: ignore[index]  # its rank was checked above
        if None not in known:
            return x, known
    dims: Any = x.dims
    count = len(free) if last else len(axes)
    first, second = dims[:count], dims[count:]
    sizes = first if last else second
    if None not in dims:
        matrix = [math.prod(first), math.prod(second)]
        return raw.Reshape(x, np.asarray(matrix, np.int32)), list(sizes)
    shape = raw.Shape(x)
    free_sizes = raw.StridedSlice(shape, [0 if last else count], [count if last else rank], [1])
    inner = raw.StridedSlice(shape, [count if last else 0], [rank if last else count], [1])
    return _reshaped(x, free_sizes, inner, last), (free_sizes if None in sizes else list(sizes))


def _reshaped(x: Tensor, free: Any, inner: Any, last: bool) -> Tensor:
    rows, depth = raw.Prod(free, [0]), raw.Prod(inner, [0])
    return raw.Reshape(x, raw.Pack([rows, depth] if last else [depth, rows], axis=0))


def _as_matrix_late(x: Tensor, axes: list[int], last: bool) -> tuple[Tensor, Any]:
    """`_as_matrix` for a rank known when the graph runs."""
    rank, shape = raw.Rank(x), raw.Shape(x)
    numbers = np.asarray(axes, np.int32)
    at = raw.SelectV2(numbers < 0, raw.AddV2(numbers, rank), numbers)
    zero, one = np.int32(0), np.int32(1)
    free = raw.ListDiff(raw.Range(zero, rank, one), at).out
    order = raw.ConcatV2([free, at] if last else [at, free], 0)
    free_sizes = raw.GatherV2(shape, free, zero)
    inner = raw.GatherV2(shape, at, zero)
    return _reshaped(raw.Transpose(x, order), free_sizes, inner, last), free_sizes
