"""An op for several dtypes in one function gives what it gives for each of them alone.

Kernels of one module are told apart by their names; float16 and bfloat16, or signed and unsigned
integers, have the same number of bits.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.dtypes import from_numpy
from tests.ops import calls
from trust import catalogue

SIXTEEN_BITS = (tf.float16, tf.bfloat16)


def _signature(sample: Any) -> tuple[Any, ...]:
    return tuple([from_numpy(a.dtype) for a in calls.flat(list(calls.inputs_of(sample).values()))])


def _by_dtypes(samples: list[Any]) -> list[Any]:
    """A sample for each combination of dtypes, without those of the only floats and complex numbers of a size."""
    found = {_signature(s): s for s in reversed(samples)}
    return [s for k, s in found.items() if any(d.is_integer or d in SIXTEEN_BITS for d in k)]


def _fed(samples: list[Any]) -> tuple[list[Any], list[list[str]]]:
    """The floats of the samples, to be given as arguments, and the names that they have."""
    names = [
        [
            k
            for k, v in calls.inputs_of(s).items()
            if isinstance(v, np.ndarray) and v.dtype.kind in "fV"
        ]
        for s in samples
    ]
    return [
        calls.inputs_of(s)[k] for s, keys in zip(samples, names, strict=True) for k in keys
    ], names


def _compiled(samples: list[Any]) -> list[np.ndarray[Any, Any]]:
    arrays, names = _fed(samples)

    def run(*given: Any) -> list[Any]:
        left = list(given)
        found: list[Any] = []
        for sample, keys in zip(samples, names, strict=True):
            inputs = {**calls.inputs_of(sample), **{k: left.pop(0) for k in keys}}
            found += calls.call(sample, inputs)
        return found

    results = tf.function(run, jit_compile=True)(*[tf.constant(a) for a in arrays])
    return [t.numpy() for t in results]


@functools.cache
def _several() -> list[tuple[str, list[Any]]]:
    """Ops with samples of both 16-bit floats, which most have that have some of integers."""
    found: list[tuple[str, list[Any]]] = []
    for name, samples in catalogue.numeric():
        chosen = _by_dtypes(samples)
        if all(any(d in _signature(s) for s in chosen) for d in SIXTEEN_BITS):
            found.append((name, chosen))
    return found


@pytest.mark.parametrize(("name", "samples"), _several(), ids=[n for n, _ in _several()])
def test_results_are_those_of_functions_of_one_dtype(name: str, samples: list[Any]) -> None:
    together = _compiled(samples)
    alone = [array for sample in samples for array in _compiled([sample])]
    for got, want in zip(together, alone, strict=True):
        assert got.dtype == want.dtype
        calls.assert_same(got, want, name)
