"""`to_python`: programs of NumPy alone that give what the graph gives."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.insight.numpy_forms import FORMS
from intaglio.insight.numpy_program import NumpyProgram, to_python
from intaglio.ir.graph import Graph
from intaglio.trace.graph import record
from tests.ops import calls


def loaded(program: NumpyProgram) -> dict[str, Any]:
    """The names that a program defines."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(program, space)
    return space


def of_sample(sample: Any) -> tuple[Graph, list[Any]]:
    """A graph of the op alone, its small integer inputs constants as in most programs; its arrays."""
    inputs = calls.inputs_of(sample)
    fixed = {k: v for k, v in inputs.items() if getattr(v, "dtype", None) in (np.int32, np.int64)}
    if len(fixed) == len(inputs):
        fixed = {}
    fed = {k: v for k, v in inputs.items() if k not in fixed}
    arrays = calls.flat(list(fed.values()))
    specs = [(calls.from_numpy(a.dtype), a.shape, "x") for a in arrays]

    def function(*tensors: Any) -> list[Any]:
        left = list(tensors)
        given = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in fed.items()
        }
        return calls.call(sample, {**given, **fixed})

    graph, outputs = record(function, sample.op, specs)
    graph.outputs.extend(outputs)
    return graph.freeze_function(), arrays


def _is_finite(array: Any) -> bool:
    return array.dtype.kind not in "fcV" or bool(np.isfinite(array).all())


def candidates() -> list[str]:
    """Ops that are written as NumPy: by a form of their own, or by what they declare."""
    return [
        n
        for n in calls.NAMES
        if calls.samples_of(n)
        and not calls.CATALOGUE[n].stateful
        and (
            n in FORMS
            or "scalar" in calls.CATALOGUE[n].rules
            or calls.CATALOGUE[n].reduces
            or isinstance(calls.CATALOGUE[n].kernel_fn, np.ufunc)
        )
    ]


@pytest.mark.parametrize("name", candidates())
def test_ops_give_what_their_kernels_give(name: str) -> None:
    tried = 0
    for sample in calls.samples_of(name)[:40]:
        if sample.error or sample.nondeterministic:
            continue
        try:
            graph, arrays = of_sample(sample)
        except TypeError:  # the op takes other than tensors
            continue
        program = to_python(graph)
        if program.missing or (name in ORDERS and not all(map(_is_finite, arrays))):
            continue
        if not sum([a.size for a in calls.eager(sample)]):
            continue
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing
            found = loaded(program)["program"](*arrays)
            wanted = calls.eager(sample)
        found = found if isinstance(found, tuple) else [found]
        for got, want in zip(found, wanted, strict=True):
            got = np.asarray(got, object if want.dtype == object else None)
            assert got.dtype == want.dtype
            assert got.shape == want.shape
            if want.dtype.kind in "fc":
                wide = 1e-2 if want.dtype.itemsize == 2 else 1e-4
                np.testing.assert_allclose(got, want, rtol=wide, atol=wide / 10)
            else:
                assert np.array_equal(got, want)
        tried += 1
    assert tried or name in REFUSED


# Ops of which no sample has a form: their `scalar` rules are of functions that NumPy lacks.
REFUSED = {
    *("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1"),
    *("BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Betainc", "Dawsn"),
    *(
        "Digamma",
        "Erf",
        "Erfc",
        "Erfinv",
        "Expint",
        "FresnelCos",
        "FresnelSin",
        "Igamma",
        "Igammac",
    ),
    *("Lgamma", "LeftShift", "Ndtri", "Polygamma", "RightShift", "Spence", "Zeta"),
}
# Where NaN goes is the op's own order.
ORDERS = ("ArgMax", "ArgMin", "TopKV2")


def test_a_program_runs_on_numpy_alone(tmp_path: pathlib.Path) -> None:
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3))

    @tf.function
    def step(x: Any, n: Any) -> Any:
        total = tf.zeros([2])
        rows = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            total += tf.linalg.matvec(table, tf.nn.relu(x))
            rows = rows.write(i, total)
            if total[0] > 10.0:
                table.assign_sub(tf.ones([2, 3]))
        return total, rows.stack(), tf.nn.softmax(total)

    x = tf.constant([1.0, -2.0, 3.0])
    program = step.get_concrete_function(x, tf.constant(3)).to_python()
    assert program.missing == ()
    assert "relu" in program and "assign_sub" in program  # the user's lines are comments
    path = tmp_path / "program.py"
    path.write_text(program, encoding="utf-8")
    # Isolated, so that nothing else can be imported by accident.
    check = f"import runpy, sys; runpy.run_path({str(path)!r}, run_name='__main__'); "
    check += "assert not any(m.startswith(('intaglio', 'ml_dtypes')) for m in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", check], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    space = loaded(program)
    variable = space["Variable"](table.numpy())
    got = space["program"](x.numpy(), np.int32(3), variable)
    wanted = step(x, tf.constant(3))
    for mine, theirs in zip(got, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-6)
    np.testing.assert_array_equal(variable.value, table.numpy())


def test_what_numpy_lacks_is_named() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.math.lgamma(x) + tf.random.uniform([2])

    program = f.get_concrete_function(tf.TensorSpec([2])).to_python()
    assert program.missing == ("Lgamma", "RandomUniform")
    with pytest.raises(NotImplementedError, match=r"Lgamma has no NumPy form \(test_.*lgamma"):
        loaded(program)["program"](np.zeros(2, np.float32))


def test_a_function_without_traces_has_no_program() -> None:
    with pytest.raises(ValueError, match="_identity has no trace yet: call it"):
        to_python(tf.function(_identity))


def _identity(x: Any) -> Any:
    return x
