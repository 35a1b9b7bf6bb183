"""Straight-line programs: every tier has the same bits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from hypothesis import assume, given, note

from intaglio import tf
from intaglio.function import pipeline as runs
from intaglio.ir import text, verify
from intaglio.runtime import interpreter

from .expressions import Program, expressions
from .programs import Outcome, examples, is_documented, load, same

MASKED = re.compile(r"\w\[x\d+\]")  # `x1[x0]`: a mask as well


def maps_nothing(program: Program) -> bool:
    """True where an eager map over no rows gives no rows of no size, as in TensorFlow 2.21."""
    return "map_fn" in program.source and any(0 in a.shape for a in program.inputs)


def constants(program: Program) -> list[Any]:
    return [tf.constant(a) for a in program.inputs]


def arrays_of(values: Any) -> Outcome:
    return Outcome(lambda: [tf.constant(np.asarray(v)) for v in values()])


@examples(1.5)
@given(expressions())
def test_every_tier_has_the_same_bits(program: Program) -> None:
    assume(not maps_nothing(program))
    function = load(program.source)
    inputs = constants(program)
    want = Outcome(lambda: function(*inputs))
    traced = tf.function(function)
    for _ in range(2):
        got = Outcome(lambda: traced(*inputs))
        assert same(want, got), (want, got)
    concrete = traced.get_concrete_function(*inputs)
    graph = concrete.frozen
    verify.verify(graph)
    passed = [*program.inputs, *concrete.capture_arrays]
    read = text.parse(text.format_graph(graph))
    for name, run in (
        ("settled", runs.optimized_run(graph)),
        ("text", interpreter.compiled(read)),
        ("settled text", runs.optimized_run(read)),
    ):
        got = arrays_of(lambda r=run: r(*passed))
        assert same(want, got), (name, want, got)


@examples(1.5)
@given(expressions())
def test_unknown_shapes(program: Program) -> None:
    assume(not maps_nothing(program))
    function = load(program.source)
    inputs = constants(program)
    want = Outcome(lambda: function(*inputs))
    for shape in (lambda a: [None] * a.ndim, lambda a: None):
        specs = [tf.TensorSpec(shape(a), a.dtype) for a in program.inputs]
        if "len(" in program.source and shape(np.zeros(1)) is None:
            continue
        note(str(specs))
        traced = tf.function(function, input_signature=specs)
        for _ in range(3):
            got = Outcome(lambda t=traced: t(*inputs))
            if got.error is not None and is_documented(got.error):
                break
            assert same(want, got), (want, got)
        else:
            concrete = traced.get_concrete_function()
            run = runs.optimized_run(concrete.frozen)
            got = arrays_of(lambda r=run, c=concrete: r(*program.inputs, *c.capture_arrays))
            assert same(want, got), ("settled", want, got)


@examples(1.5)
@given(expressions(failing=True))
def test_what_fails_eagerly_fails_in_the_graph(program: Program) -> None:
    assume(not maps_nothing(program))
    function = load(program.source)
    inputs = constants(program)
    want = Outcome(lambda: function(*inputs))
    assert (want.error is not None) == program.fails
    for specs in (None, [tf.TensorSpec([None] * a.ndim, a.dtype) for a in program.inputs]):
        got = Outcome(lambda s=specs: tf.function(function, input_signature=s)(*inputs))
        masks = program.source.count("boolean_mask") + len(MASKED.findall(program.source))
        if masks > 1 or (masks and specs is not None):
            continue  # a mask of another length is found by static shapes alone
        if want.error is None:
            if got.error is None or not is_documented(got.error):
                assert same(want, got), (want, got)
        else:
            assert got.error is not None, (want, got)
            known = (tf.errors.OpError, ValueError, TypeError, IndexError, NotImplementedError)
            assert isinstance(got.error, known), (want, got)


@examples(1.0)
@given(expressions())
def test_graph_def_round_trip(program: Program) -> None:
    function = load(program.source)
    inputs = constants(program)
    concrete = tf.function(function).get_concrete_function(*inputs)
    want = Outcome(lambda: concrete(*inputs))
    proto = concrete.graph.as_graph_def().SerializeToString()
    given_names = [v.name for v in concrete.inputs]
    results = [v.name for v in concrete.outputs]

    @tf.function
    def imported(*values: Any) -> Any:
        return tf.graph_util.import_graph_def(
            proto, dict(zip(given_names, values, strict=True)), results, name=""
        )

    got = Outcome(lambda: imported(*inputs, *concrete.captured_inputs))
    assert same(want, got), (want, got)
