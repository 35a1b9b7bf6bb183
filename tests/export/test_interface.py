"""The C interface: wrong arguments are errors, whatever they are; what cannot be exported is named."""

from __future__ import annotations

import json
import pathlib
import re
import shutil
import subprocess
from typing import Any

import pytest

import intaglio
from intaglio import tf
from intaglio.export.library import exported_names
from tests.export import models
from tests.export.programs import SECONDS

FUZZ = str(pathlib.Path(__file__).with_name("fuzz.c"))
HAS_CC = bool(shutil.which("cc"))


def build(folder: pathlib.Path, concrete: Any, counts: tuple[int, int], *flags: str) -> str:
    library = intaglio.export_library(concrete, folder / "model", kinds=["object"])
    path = str(folder / "fuzz")
    sizes = [f"-DMODEL_INPUT={counts[0]}", f"-DMODEL_OUTPUT={counts[1]}", f"-I{folder}"]
    command = ["cc", "-O1", "-g", *flags, *sizes, FUZZ, str(library.paths["object"]), "-lm"]
    done = subprocess.run([*command, "-o", path], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
@pytest.mark.parametrize("flags", [(), ("-fsanitize=address,undefined",)], ids=["plain", "address"])
@pytest.mark.parametrize(
    ("make", "counts"), [(models.digits, (64, 10)), (models.loops_of_floats, (12, 6))]
)
def test_wrong_arguments(
    make: Any, counts: tuple[int, int], flags: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    path = build(tmp_path, make(), counts, *flags)
    for seed in range(3):
        done = subprocess.run([path, str(seed)], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, (seed, done.returncode, done.stderr)


def test_the_library_says_what_it_has(tmp_path: pathlib.Path) -> None:
    """All functions are declared in the header; every error has a name and a text of its own."""
    made = intaglio.export_library(models.training(), tmp_path / "model", kinds=["object"])
    header = made.paths["header"].read_text()
    for name in exported_names(made.interface):
        assert re.search(rf"\b{name}\(", header), name
    errors = made.interface.errors
    assert len({e.code for e in errors}) == len({e.name for e in errors}) == len(errors)
    for error in errors:
        assert f"MODEL_{error.name} = {error.code}," in header
    assert json.dumps([f.name for f in made.interface.functions]) == '["step", "predict"]'


# Names that a library has itself, that C reserves or headers define, and that differ in case alone.
FUNCTIONS = [
    *[
        "run",
        "run_get_shapes",
        "run_inputs",
        "Run",
        "create",
        "error_text",
        "OK",
        "ERROR_NULL",
        "H",
        "while",
    ],
    *["get_variable", "context_size", "a", "a_input", "tasks"],
]
ARGUMENTS = ["linux", "x", "X", "class", "data", "count", "NULL", "input0_x", "a b", "a_b"]


@pytest.mark.skipif(not HAS_CC, reason="there is no C compiler")
@pytest.mark.parametrize("name", ["MODEL", "run"])
def test_any_names(name: str, tmp_path: pathlib.Path) -> None:
    """Of functions, arguments, results, sizes and variables: the example compiles, and runs."""
    w, v = tf.Variable([1.0], name="w"), tf.Variable([2.0], name="W")

    def g(*arguments: Any) -> Any:
        v.assign_add(w)
        w.assign(v)
        results = [x + v for x in arguments]
        return dict(zip(["x", "X", *ARGUMENTS[2:], "y"], results, strict=False))

    specs = [tf.TensorSpec([None], tf.float32, name=f"x{i}") for i, _ in enumerate(ARGUMENTS)]
    concrete = tf.function(g).get_concrete_function(*specs)
    concrete.arg_keywords[:] = ARGUMENTS
    made = intaglio.export_library(
        dict.fromkeys(FUNCTIONS, concrete),
        tmp_path / name,
        kinds=["object"],
        shapes={a: ("n" if i % 2 else "N",) for i, a in enumerate(ARGUMENTS)},
        sizes={"n": [1, 2], "N": [3]},
        threads=2,
    )
    path, source, code = tmp_path / "example", made.paths["example"], made.paths["object"]
    command = ["cc", "-Wall", "-Werror", str(source), str(code), "-lm", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(path)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    results = [p for function in made.interface.functions for p in function.outputs]
    assert len(done.stdout.splitlines()) == len(results) > len(FUNCTIONS)
    assert len({e.name for e in made.interface.errors}) == len(made.interface.errors)


def f(x: Any) -> Any:
    return x + 1.0


OPEN = tf.TensorSpec([None, 3], tf.float32, name="x")


def printing(x: Any) -> Any:
    tf.print(x)
    return f(x)


def called(x: Any) -> Any:
    return tf.numpy_function(lambda a: a, [x], tf.float32)


def over_a_dataset(x: Any) -> Any:
    """Its ops are of a layer that the process which compiles does not import by itself."""
    return tf.data.Dataset.from_tensor_slices(x).reduce(tf.zeros([3]), lambda a, row: a + row)


def decoded(x: Any) -> Any:
    logits = tf.reshape(x, [-1, 1, 3])
    return tf.nn.ctc_greedy_decoder(logits, [1])[1]


def text(x: Any) -> Any:
    return tf.strings.as_string(x)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (printing, r"\(test_interface.py:\d+\) prints text"),
        (
            called,
            r"\(test_interface.py:\d+\) calls Python, which a library cannot. Write the function",
        ),
        (over_a_dataset, r"ReduceDataset '\w+' \(test_interface.py:\d+\)"),
        (decoded, r"CTCGreedyDecoder '\w+' \(test_interface.py:\d+\)"),
        (
            text,
            r"Identity 'Identity' \(test_interface.py:\d+\): 'output' has elements of type string, which C has no type for",
        ),
    ],
)
def test_what_has_no_code_is_named(function: Any, message: str, tmp_path: pathlib.Path) -> None:
    concrete = tf.function(function).get_concrete_function(OPEN)
    with pytest.raises(intaglio.ExportError, match=message):
        intaglio.export_library(concrete, tmp_path / "model", shapes={"x": (2, 3)}, kinds=[])
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shapes": {"x": (2, 4)}}, r"shapes: 'x' has the shape \(None, 3\), which \(2, 4\) does"),
        ({"shapes": {"x": (2, 3), "z": (1,)}}, "shapes: no input 'z'; there are x"),
        ({"target": "vax"}, "target='vax' is none of host, x86-64, x86-64-v2"),
        ({"kinds": ["dll"]}, "kinds: 'dll' is none of object, static, shared"),
        ({"weights": "outside"}, "weights='outside' is neither"),
        ({"path": "1st"}, "'1st' is no name in C"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str, tmp_path: pathlib.Path) -> None:
    concrete = tf.function(f).get_concrete_function(OPEN)
    path = tmp_path / options.pop("path", "model")
    with pytest.raises(intaglio.ExportError, match=message):
        intaglio.export_library(concrete, path, **{"kinds": [], **options})


def test_only_first_dimensions_may_be_open(tmp_path: pathlib.Path) -> None:
    concrete = tf.function(f).get_concrete_function(
        tf.TensorSpec([None, None], tf.float32, name="x")
    )
    message = r"input 'x' has the shape \(None, None\).*Give shapes=\{'x': \(8, 8\)\}.*; the first"
    with pytest.raises(intaglio.ExportError, match=message):
        intaglio.export_library(concrete, tmp_path / "model", kinds=[])
    made = intaglio.export_library(
        concrete, tmp_path / "model", shapes={"x": (None, 3)}, kinds=["object"]
    )
    assert made.interface.functions[0].has_rows


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (tf.function(f), "the function has no signature, or several. Pass one trace of it"),
        (tf.Module(), "Module has no function to export. Pass one of its functions"),
        ({"f": f}, "f is a function. Export a tf.function, one of its concrete functions"),
    ],
)
def test_sources_are_checked(source: Any, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(intaglio.ExportError, match=message):
        intaglio.export_library(source, tmp_path / "model", kinds=[])
