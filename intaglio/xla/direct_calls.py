"""Programs as functions of a call's arrays with as few calls as can be, for entries of functions.

What a program needs besides arrays and variables of the host, `Programs` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import jax
import numpy as np

from intaglio.base.errors import OpError
from intaglio.runtime.resources import Donation
from intaglio.xla.donated import apart, raise_if_lost

Run = Callable[..., tuple[Any, ...]]


def of_arrays(program: Any, otherwise: Run | None = None) -> Run:
    """A program of arrays alone. `otherwise` is called instead where it raises an error."""
    run, plain, has_one = program.run, program.plain, program.gives_one_array
    swap, set_back = jax.enable_x64.swap_local, jax.enable_x64.set_local

    def call(*arrays: Any) -> tuple[Any, ...]:
        before = swap(True)  # as a context it costs a microsecond
        try:
            return (np.asarray(run(*arrays)),) if has_one else plain(arrays)
        except Exception:
            if otherwise is None:
                raise
        finally:
            set_back(before)
        return otherwise(*arrays)

    return call


def with_variables(program: Any, otherwise: Run) -> Run:
    """A simple program, of the variables that it was made for."""
    run, variables_are, values_of = program.run, program.variables_are, program.values_of
    indices = program.argument_indices
    donated, read, passed = map(_getter, indices)
    writes = bool(indices[0])
    swap, set_back = jax.enable_x64.swap_local, jax.enable_x64.set_local

    def call(*arrays: Any) -> tuple[Any, ...]:
        if not variables_are(arrays):
            return otherwise(*arrays)
        before = swap(True)
        try:
            values = tuple(values_of(read(arrays)))
            if not writes:
                return tuple(map(np.asarray, run([], values, passed(arrays), [])[0]))
            variables = donated(arrays)
            with Donation(variables) as donation:
                try:
                    outputs, changed, _ = run(apart(donation), values, passed(arrays), [])
                    outputs = tuple(map(np.asarray, outputs))
                    donation.results = changed
                except Exception as e:
                    raise_if_lost(variables, donation.taken, e)
                    raise
            return outputs
        except OpError:
            raise
        except Exception:  # before a variable was written
            pass
        finally:
            set_back(before)
        return otherwise(*arrays)

    return call


def _getter(indices: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function, in C, of the elements of a tuple at these indices."""
    first = indices[0] if indices else 0
    if [*indices] == [*range(first, first + len(indices))]:
        return itemgetter(slice(first, first + len(indices)))
    return itemgetter(*indices)


__all__ = ["of_arrays", "with_variables"]
