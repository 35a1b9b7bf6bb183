"""Random programs of `trust` as C libraries: how many are exported and equal to native code in this process.

    python -m tests.export.random_programs [FIRST LAST | SEED ...]

prints a line for each program that is not exported, and the numbers.
"""

from __future__ import annotations

import collections
import pathlib
import sys
import tempfile
import warnings
from typing import Any

import numpy as np

import intaglio
from intaglio import tf
from intaglio.base.errors import OpError
from intaglio.export import loop_rules
from intaglio.ir import walk
from intaglio.opdef import raw
from tests.export.programs import CProgram, within_ulps
from trust.generator import draw
from trust.programs import load, namespace


def _compiled(function: Any, **options: Any) -> Any:
    return tf.function(function, jit_compile=True)


def _traced(function: Any, **options: Any) -> Any:
    return tf.function(function)


def outcome(seed: int, folder: pathlib.Path) -> tuple[str, str]:
    """What became of a program: "equal", "refused" with the function, or "not exported"; and why.

    Raises AssertionError where results differ.
    """
    program = draw(seed)
    variables = {n: tf.Variable(a, name=n) for n, a in program.variables.items()}
    f = load(program.source(), namespace(program, variables, _compiled))
    arguments = [tf.constant(a) for a in program.inputs[0]]
    try:
        concrete = tf.function(f, jit_compile=True).get_concrete_function(*arguments)
    except (OpError, ValueError, TypeError, NotImplementedError):
        return "not traced", ""
    try:
        library = intaglio.export_library(concrete, folder / "model", kinds=["object"])
    except intaglio.ExportError as e:
        assert "error of Intaglio" not in str(e), f"seed {seed}: {e}"
        lines = str(e).splitlines()
        return "not exported", lines[1 if len(lines) > 1 else 0].strip()
    inputs = library.interface.functions[0].inputs
    values = {p.label: a.numpy() for p, a in zip(inputs, arguments, strict=True)}
    plain = load(program.source(), namespace(program, variables, _traced))
    expected = _expected(plain, concrete, arguments)
    try:
        found, changed = CProgram(library, ["run"], folder).run(values)
    except RuntimeError as e:
        # What the interpreter computes after a guard, a library refuses by name.
        assert "is out of range" in str(e) or expected is None, f"seed {seed}: {e}"
        return "refused", ""
    assert expected is not None, f"seed {seed} raises, and the library does not"
    # Factorisations and exponentials of matrices are other algorithms than those of this process, and so are the
    # gamma functions of few numbers of float64, which NumPy computes here.
    is_other = any(
        op.name in loop_rules.OPS or op in (raw.Digamma, raw.Lgamma)
        for op in walk.all_ops(concrete.frozen)
    )
    ulps = 32.0 if is_other else 2.0
    results = tf.nest.flatten(expected)
    outputs = library.interface.functions[0].outputs
    labels = {p.name: p.label for p in outputs}
    for port, value in zip(outputs, results, strict=False):
        name, array = port.label, found[0][port.label]
        try:
            if port.extent:  # its shape depends on data
                dims = [d for d in found[0][labels[port.extent]].tolist() if d >= 0]
                array = array[: int(np.prod(dims))].reshape(dims)
            within_ulps(array, value.numpy(), ulps)
        except AssertionError as e:
            raise AssertionError(f"seed {seed}, result {name}: {e}\n{program.script()}") from e
    named = {v.name: v for v in library.interface.variables}
    own = {v.name.split(":")[0]: v.numpy() for v in concrete.variables}
    for name, array in changed.items():
        within_ulps(array, own[named[name].label], ulps)
    return "equal", ""


def _expected(plain: Any, concrete: Any, arguments: list[Any]) -> Any:
    """The results in this process; None if it raises.

    Texts that stay in a function have code in libraries, but none with jit_compile=True, as in TensorFlow: they
    are computed by the program `plain`, in which no function is compiled.
    """
    try:
        return concrete(*arguments)
    except OpError as e:
        if "works on strings" not in str(e):
            return None
    try:
        return tf.function(plain)(*arguments)
    except OpError:
        return None


def main(arguments: list[str]) -> None:
    """The command."""
    numbers = [int(a) for a in arguments] or [0, 200]
    seeds = range(*numbers) if len(numbers) == 2 else numbers
    found: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                kind, why = outcome(seed, pathlib.Path(folder))
            except AssertionError as e:
                kind, why = "wrong", str(e)[:300]
            found[kind] += 1
            if kind not in ("equal", "refused"):
                print(seed, kind, why, flush=True)
    print(dict(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
