"""Every op of the catalogue: kernel = graph = TensorFlow's recorded answer, and inference."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio.base import shapes
from intaglio.runtime import interpreter
from tests.ops import calls
from tests.ops.calls import NAMES, UNSAMPLED, samples_of
from tests.parity import answers

# How a graph is run, with how much hidden of the shapes: by generated code, and node by node.
RUNS = [
    *[(hidden, interpreter.run_graph) for hidden in calls.HIDING],
    ("no", calls.first_call),
    ("rank", calls.first_call),
]


@pytest.mark.parametrize("name", NAMES)
def test_has_samples(name):
    if name not in UNSAMPLED:
        assert samples_of(name), (
            f"op {name} has no samples: add some to tests/ops/samples/<family>.py"
        )


def test_samples_name_ops_that_exist():
    strangers = sorted(set(calls.ALL_SAMPLES) - set(calls.CATALOGUE))
    assert not strangers, f"samples of ops that are not in the catalogue: {strangers}"


@pytest.mark.parametrize("name", NAMES)
def test_graph_equals_eager(name):
    """The interpreter gives the kernel's result, whatever was known of the shapes."""
    for sample in samples_of(name):
        if sample.error or sample.graph is not True:
            continue
        eager = calls.eager(sample)
        for hidden, run in RUNS:
            specs, results = calls.traced(sample, hidden, run)
            where = f"{sample!r} with {hidden} shapes by {run.__name__}"
            assert len(specs) == len(results) == len(eager), where
            for spec, result, wanted in zip(specs, results, eager, strict=True):
                got = np.asarray(result)
                assert got.dtype == wanted.dtype, where
                assert spec.dtype.numpy == wanted.dtype, f"{where}: inferred {spec}"
                assert shapes.compatible(spec.shape, wanted.shape), (
                    f"{where}: inferred {spec}, but the result is {wanted.shape}"
                )
                if sample.nondeterministic:
                    continue
                calls.assert_same(got, wanted, where)
                if spec.value is not None:
                    calls.assert_same(np.asarray(spec.value), wanted, where)


@pytest.mark.parametrize("name", NAMES)
def test_error_samples(name):
    for sample in samples_of(name):
        if not sample.error:
            continue
        kind, phrase = sample.error
        with pytest.raises(Exception) as caught:
            calls.eager(sample)
        names = [c.__name__ for c in type(caught.value).__mro__]
        assert kind in names, f"{sample!r}: {kind} expected, got {caught.value!r}"
        assert phrase in str(caught.value), f"{sample!r}: {caught.value}"


@pytest.mark.parametrize("name", NAMES)
def test_tensorflow_gives_the_same(name):
    """Against the answers recorded in tests/parity (see tests/parity/record.py)."""
    for sample in samples_of(name):
        if sample.parity is not True or sample.error:
            continue
        recorded = answers.of(sample)
        if recorded is None:
            continue  # test_parity_is_complete says so
        wanted = answers.arrays(recorded)
        got = calls.eager(sample)
        assert len(got) == len(wanted), repr(sample)
        for mine, theirs in zip(got, wanted, strict=True):
            assert mine.dtype == theirs.dtype, f"{sample!r}: {mine.dtype}"
            assert mine.shape == theirs.shape, f"{sample!r}: {mine.shape}"
            if not sample.nondeterministic:
                calls.assert_close(mine, theirs, sample)


def test_parity_is_complete():
    missing = [
        sample.label
        for name in NAMES
        for sample in samples_of(name)
        if sample.parity is True and answers.of(sample) is None
    ]
    assert not missing, (
        f"{len(missing)} samples have no recorded answer, such as {missing[:5]}: "
        "run tests/parity/record.py where TensorFlow is installed"
    )
