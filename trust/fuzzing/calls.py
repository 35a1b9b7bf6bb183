"""Calls of single ops with arguments of any shape, size and value, right or wrong."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from intaglio import tf
from intaglio.base import dtypes
from intaglio.opdef import raw
from intaglio.opdef.signature import REQUIRED
from trust.fuzzing import mutation
from trust.fuzzing.runner import Format

SHAPES = ((), (), (0,), (1,), (2,), (3,), (2, 3), (3, 3), (0, 3), (2, 2, 3), (1, 4, 4, 2), (2, 0))
WORDS = ("", "SAME", "VALID", "NHWC", "NCHW", "UTF-8", "BYTE", "REFLECT", "a", "ij,jk->ik", "add")
TYPES = ("float32", "float64", "int32", "int64", "uint8", "bool", "string", "complex64", "bfloat16")
NUMBERS = (0, 1, 2, 3, -1, -2, 5, 100, 1 << 20, (1 << 31) - 1, -(1 << 31))


def arguments(op: Any, rng: random.Random) -> tuple[list[Any], dict[str, Any]]:
    """The inputs and attributes of a call of an op."""
    types: dict[str, Any] = {}
    inputs: list[Any] = []
    shape = rng.choice(SHAPES)
    for arg, (_, fixed, allowed) in zip(op.sig.inputs, op.slots, strict=True):
        dtype = fixed or types.get(arg.var or "")
        if dtype is None:
            found = sorted(allowed or [tf.float32], key=lambda d: d.name)
            dtype = rng.choice([d for d in found if d.is_numpy_compatible] or [tf.float32])
        if arg.var:
            types[arg.var] = dtype
        several = rng.randrange(4) if arg.is_list else 1
        values = [_array(rng, dtype, shape) for _ in range(several)]
        inputs.append(values if arg.is_list else values[0])
    attrs: dict[str, Any] = {}
    for attr in op.sig.attrs:
        limits = sorted(op.limits.get(attr.name, ()), key=str)
        if limits and rng.random() < 0.9:
            attrs[attr.name] = rng.choice(limits)
        elif attr.default is REQUIRED or rng.random() < 0.3:
            attrs[attr.name] = _attribute(rng, attr.kind)
    return inputs, attrs


def _array(rng: random.Random, dtype: Any, shape: tuple[int, ...]) -> Any:
    if not dtype.is_numpy_compatible:
        return np.zeros((), np.float32)
    dims = shape if rng.random() < 0.6 else rng.choice(SHAPES)
    count = int(np.prod(dims))
    if dtype is tf.string:
        texts = np.empty(count, object)
        texts[:] = [rng.choice(mutation.TEXTS).encode() for _ in range(count)]
        return texts.reshape(dims)
    small = rng.random() < 0.8
    numbers = [rng.randrange(-1, 4) if small else rng.choice(NUMBERS) for _ in range(count)]
    with np.errstate(all="ignore"):
        made = np.array(numbers, np.int64).astype(dtype.numpy).reshape(dims)
        if dtype in dtypes.FLOATING and rng.random() < 0.2:
            made = made * np.asarray(rng.choice(mutation.FLOATS)).astype(dtype.numpy)
    return np.asarray(made)


def _attribute(rng: random.Random, kind: str) -> Any:
    if kind.startswith("list("):
        return [_attribute(rng, kind[5:-1]) for _ in range(rng.randrange(5))]
    if kind == "int":
        return rng.choice((*NUMBERS, 1, 2, 3))
    if kind == "float":
        return rng.choice((*mutation.FLOATS, 0.1))
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "str":
        return rng.choice(WORDS)
    if kind == "type":
        return tf.dtypes.as_dtype(rng.choice(TYPES))
    return rng.choice((None, [], [None], [2, 3], [-1], [1 << 40]))


class Calls(Format):
    """Calls of the ops of the catalogue that compute something."""

    name, share = "op_call", 100_000

    def seeds(self) -> Any:
        return sorted(
            name
            for name, op in raw.catalogue().items()
            if not (op.internal or op.has_graphs or op.reaches_outside)
            and op.output_names
            and not any(
                a.dtype in (tf.resource, tf.variant) for a in (*op.sig.inputs, *op.sig.outputs)
            )
        )

    def prepare(self, seeds: Any) -> None:
        self.known = [name for name in seeds if raw.find(name) is not None]

    def make(self, rng: random.Random) -> Any:
        name = rng.choice(self.known)
        return name, *arguments(raw.find(name), rng)

    def valid(self) -> Any:
        return "AddV2", [np.ones(3, np.float32), np.ones(3, np.float32)], {}

    def run(self, value: Any) -> None:
        name, inputs, attrs = value
        op: Any = raw.find(name)
        given = [
            [tf.constant(x) for x in item] if isinstance(item, list) else tf.constant(item)
            for item in inputs
        ]
        op(*given, **attrs)
