"""Random programs of `trust` as C libraries: equal to native code in this process.

An export either gives the results of the function with `jit_compile=True`, refuses as that function
raises, or names the op that has no code. Selected by `-m targets`; `EXPORT_PROGRAMS` is how many.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import warnings
from typing import Any

import pytest

import intaglio
from intaglio import tf
from intaglio.base.errors import OpError
from tests.export.programs import CProgram, within_ulps
from trust.generator import draw
from trust.programs import load, namespace

pytestmark = [
    pytest.mark.targets,
    pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler"),
]
COUNT = int(os.environ.get("EXPORT_PROGRAMS", "200"))
GROUP = 100
# At least so many of a group are exported. The others draw ops without code, or shapes that are data.
EXPORTED = 35


def _compiled(function: Any, **options: Any) -> Any:
    return tf.function(function, jit_compile=True)


def outcome(seed: int, folder: pathlib.Path) -> str:
    """What became of a program: "equal", "refused" with the function, or "not exported"."""
    program = draw(seed)
    variables = {n: tf.Variable(a, name=n) for n, a in program.variables.items()}
    f = load(program.source(), namespace(program, variables, _compiled))
    arguments = [tf.constant(a) for a in program.inputs[0]]
    try:
        concrete = tf.function(f, jit_compile=True).get_concrete_function(*arguments)
    except (OpError, ValueError, TypeError, NotImplementedError):
        return "not traced"
    try:
        library = intaglio.export_library(concrete, folder / "model", kinds=["object"])
    except intaglio.ExportError as e:
        assert "error of Intaglio" not in str(e), f"seed {seed}: {e}"
        return "not exported"
    inputs = library.interface.functions[0].inputs
    values = {p.label: a.numpy() for p, a in zip(inputs, arguments, strict=True)}
    try:
        expected: Any = concrete(*arguments)
    except OpError:
        expected = None
    try:
        found, changed = CProgram(library, ["run"], folder).run(values)
    except RuntimeError as e:
        # What the interpreter computes after a guard, a library refuses by name.
        assert "is out of range" in str(e) or expected is None, f"seed {seed}: {e}"
        return "refused"
    assert expected is not None, f"seed {seed} raises, and the library does not"
    results = tf.nest.flatten(expected)
    for name, value in zip(found[0], results, strict=True):
        try:
            within_ulps(found[0][name], value.numpy())
        except AssertionError as e:
            raise AssertionError(f"seed {seed}, result {name}: {e}\n{program.script()}") from e
    named = {v.name: v for v in library.interface.variables}
    own = {v.name.split(":")[0]: v.numpy() for v in concrete.variables}
    for name, array in changed.items():
        within_ulps(array, own[named[name].label])
    return "equal"


@pytest.mark.parametrize("first", range(0, COUNT, GROUP))
def test_programs(first: int, tmp_path: pathlib.Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [outcome(seed, tmp_path) for seed in range(first, min(first + GROUP, COUNT))]
    assert found.count("equal") >= EXPORTED, found
    print({kind: found.count(kind) for kind in {*found}})
