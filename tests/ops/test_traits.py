"""What ops declare of themselves is what is observed, for every op with samples.

`batching` is observed in `tests/vectorize`, `native_exact` in `tests/native/test_reach.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.base.dtypes import string
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter
from tests.ops import calls

CATALOGUE = calls.CATALOGUE


def declaring(trait):
    """The names of the ops that declare a trait."""
    return [n for n, op in CATALOGUE.items() if getattr(op, trait) != getattr(Op, trait)]


def samples_declaring(trait):
    """Their samples that succeed."""
    return [s for n in declaring(trait) for s in calls.samples_of(n) if not s.error]


def results(sample, values):
    """The op's results for these inputs and the sample's attributes."""
    return calls.run(sample.op, {**values, **calls.attrs_of(sample)})


def zeros_like(array):
    """Another array of the same dtype and shape."""
    if array.dtype == object:
        return np.full(array.shape, b"", object)
    return np.zeros(array.shape, array.dtype)


@pytest.mark.parametrize("sample", samples_declaring("shape_only"), ids=repr)
def test_a_result_of_shapes_alone_ignores_elements(sample):
    values = calls.inputs_of(sample)
    zeros = {k: zeros_like(v) for k, v in values.items()}
    for mine, theirs in zip(results(sample, values), results(sample, zeros), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("sample", samples_declaring("shape_input"), ids=repr)
def test_the_input_that_is_the_shape_is_the_results(sample):
    values = calls.inputs_of(sample)
    shape = np.asarray(values[CATALOGUE[sample.op].shape_input]).tolist()
    (result,) = results(sample, values)
    assert len(result.shape) == len(shape)
    assert all(d in (n, -1) for n, d in zip(result.shape, shape, strict=True))


def test_the_input_that_is_the_shape_is_an_input():
    for name in declaring("shape_input"):
        op = CATALOGUE[name]
        assert op.shape_input in op.input_names, name
        assert not op.has_lists, "its position among the flat inputs is not fixed"


@pytest.mark.parametrize("sample", samples_declaring("fresh_result"), ids=repr)
def test_a_fresh_result_shares_no_memory(sample):
    op = CATALOGUE[sample.op]
    arrays = calls.flat(list(calls.inputs_of(sample).values()))
    attrs = {**op.defaults, **calls.attrs_of(sample)}
    made = interpreter.flat_result(op, interpreter.call_kernel(op, arrays, attrs))
    assert not any(np.shares_memory(a, b) for a in made for b in arrays)


def test_what_runs_graphs_has_graphs():
    for name in declaring("control_flow"):
        assert CATALOGUE[name].has_graphs, name


def test_what_carries_strings_may_have_some():
    """Placeholders and constants have no limits; a no-op has nothing."""
    for name in declaring("carries_strings"):
        op = CATALOGUE[name]
        ends = (*op.sig.inputs, *op.sig.outputs)
        allowed = [getattr(op, a.var or a.types or "", None) for a in ends]
        assert not ends or any(a is None or string in a for a in allowed), name


def test_what_reaches_outside_is_in_order_or_gives_strings_or_reads():
    """A pure function of its inputs reaches nothing."""
    for name in declaring("reaches_outside"):
        op = CATALOGUE[name]
        text = any(a.dtype is string for a in op.sig.outputs)
        assert op.stateful or text or op.reaches_outside == "python", name


def data_of(sample) -> list[np.ndarray]:
    """The inputs of a sample that are data."""
    op, values = CATALOGUE[sample.op], calls.inputs_of(sample)
    return [np.asarray(values[name]) for name in op.data_inputs if name in values]


MOVING = [
    s
    for s in samples_declaring("data_inputs")
    if CATALOGUE[s.op].combines in ("", "update") and all(a.dtype != object for a in data_of(s))
]


@pytest.mark.parametrize("sample", MOVING, ids=repr)
def test_data_movement_returns_elements_of_the_data(sample):
    """Each is an element of the inputs, or 0."""
    op, values = CATALOGUE[sample.op], calls.inputs_of(sample)
    elements = np.concatenate([a.reshape(-1) for a in data_of(sample)])
    if op is raw.ConjugateTranspose:
        elements = np.conj(elements)
    known = {e.tobytes() for e in elements} | {np.zeros((), elements.dtype).tobytes()}
    for result in results(sample, values):
        assert {e.tobytes() for e in result.reshape(-1)} <= known


@pytest.mark.parametrize("trait", ["data_inputs", "without_default"])
def test_what_a_trait_names_is_in_the_signature(trait):
    for name in declaring(trait):
        op = CATALOGUE[name]
        names = op.input_names if trait == "data_inputs" else op.vars
        assert {*getattr(op, trait)} <= {*names}, name
