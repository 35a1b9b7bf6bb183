"""`export_library`: functions as a library that C programs call, without Python."""

from __future__ import annotations

import os
import pathlib
import pickle
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.export import headers, transport
from intaglio.export.compilers import compiler
from intaglio.export.interface import Interface
from intaglio.export.linking import Toolchain, shared_suffix
from intaglio.export.signatures import (
    BatchSize,
    Dimensions,
    ExportError,
    Shapes,
    Sizes,
    exported_functions,
)
from intaglio.export.transport import Answer, Levels, Request
from intaglio.native.llvm.target import HOST, LEVELS, TARGETS

KINDS = ("object", "static", "shared")
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


class ExportedLibrary(NamedTuple):
    """What was written: the paths by kind (`"header"`, `"example"`, `"object"`, `"static"`, `"shared"`,
    `"weights"`), and the interface."""

    paths: dict[str, pathlib.Path]
    interface: Interface


def export_library(
    source: Any,
    path: str | os.PathLike[str],
    *,
    target: str = HOST,
    shapes: Shapes | None = None,
    sizes: Sizes | None = None,
    batch_size: BatchSize = None,
    signature: str | None = None,
    kinds: Sequence[str] = KINDS,
    weights: str = "inside",
    threads: int = 1,
) -> ExportedLibrary:
    """Writes a function as a C library: machine code that needs nothing but libc and libm.

    `source` is a `tf.function` with an `input_signature`, a ConcreteFunction, a `tf.Module` or Keras
    model, the folder of a SavedModel, or a dict of functions by name, which share their variables.
    Of the name of `path`, a letter and then letters, digits and `_`, all names in C begin;
    beside `path.h` and `path_example.c` there are the `kinds` that are asked for: `path.o` ("object"),
    `libNAME.a` ("static") and `libNAME.so` or `NAME.wasm` ("shared").

    `target` is `"host"`, the processor of this machine, or one of `"x86-64"`, which has code for the three levels
    of such processors and chooses when it runs, `"x86-64-v2"`, `"x86-64-v3"`, `"x86-64-v4"`, `"aarch64-linux"`, `"aarch64-macos"`, `"riscv64-linux"`, `"wasm32"`.

    Code is for numbers, so open dimensions are given by `shapes`, a dict of shapes by the input's name, or by
    `batch_size` for the first one. A dimension is an argument of the C function where `sizes` says which
    numbers it may be, `sizes={"x_dim1": range(1, 65)}`: code is written for each, and other numbers are errors.
    `shapes={"x": (1, "n"), "mask": (1, "n")}` names dimensions, and says which are the same. A first dimension
    of which nothing is said may be any number if each row of the results depends on the same row of the inputs
    alone; `batch_size=(1, 16)` says for which blocks of rows code is written. `signature` selects one of a
    SavedModel.
    `weights="beside"` writes them to `path.weights`, which the library maps into memory.

    With `threads`, up to that many threads of the caller work on a call: large loops and products are divided
    into tasks, which a function that the program gives to a context calls on threads of its own. Results do
    not depend on it.

    Variables that a function assigns to are part of the context which every call is passed, so steps of
    training work, and calls on several contexts may run at the same time.

    Raises ExportError, a ValueError, for what has no native code, naming op, line and what to write
    instead, and for options that do not fit.

    >>> import tempfile
    >>> f = tf.function(lambda x: {"y": 2.0 * x})
    >>> one = f.get_concrete_function(tf.TensorSpec([3], tf.float32, name="x"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = intaglio.export_library(one, folder + "/double", kinds=["object"])
    ...     sorted(made.paths)
    ['example', 'header', 'object']
    """
    base = pathlib.Path(path)
    if not _NAME.fullmatch(base.name):
        raise ExportError(
            f"{base.name!r} is no name in C: write a letter, then letters, digits and '_'."
        )
    known = (HOST, *LEVELS, *TARGETS)
    if target not in known:
        raise ExportError(f"target={target!r} is none of {', '.join(known)}.")
    unknown = [k for k in kinds if k not in KINDS]
    if unknown:
        raise ExportError(f"kinds: {unknown[0]!r} is none of {', '.join(KINDS)}.")
    if weights not in ("inside", "beside"):
        raise ExportError(f"weights={weights!r} is neither 'inside' nor 'beside'.")
    if threads < 1 or (threads > 1 and target == "wasm32"):
        raise ExportError(
            f"threads={threads!r}: write a number from 1 on, and 1 for wasm32, whose modules have one."
        )
    tools = Toolchain(target) if {"static", "shared"} & {*kinds} else None
    dimensions = Dimensions(shapes or {}, sizes or {}, batch_size)
    functions, captured = exported_functions(source, dimensions, signature)
    request = Request(
        base.name, functions, captured, weights == "beside", target in LEVELS, threads
    )
    answer = _compiled(request, target)
    return ExportedLibrary(_written(base, answer, kinds, tools), answer.library_interface)


def _compiled(request: Request, target: str) -> Answer:
    """What the process that writes code for the target answers."""
    try:
        sent = transport.written(request)
    except (TypeError, AttributeError, pickle.PicklingError) as e:
        raise ExportError(f"a node of the graph holds what only this process has: {e}") from e
    if target not in LEVELS:
        return _answer(sent, target, request.threads)
    answers = {level: _answer(sent, level, request.threads) for level in LEVELS[target]}
    return _answer(transport.written(Levels(target, answers)), LEVELS[target][0], request.threads)


def _answer(sent: bytes, target: str, threads: int) -> Answer:
    answer = compiler(target, threads).answer(sent)
    if answer.failure:
        raise ExportError(answer.failure)
    return answer


def _written(
    base: pathlib.Path, answer: Answer, kinds: Sequence[str], tools: Toolchain | None
) -> dict[str, pathlib.Path]:
    """Writes the files; gives their paths."""
    interface = answer.library_interface
    base.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "header": base.with_suffix(".h"),
        "example": base.with_name(f"{base.name}_example.c"),
        "object": base.with_suffix(".o"),
    }
    found["header"].write_text(headers.header(interface))
    found["example"].write_text(headers.example(interface))
    found["object"].write_bytes(answer.object)
    if answer.weights:
        found["weights"] = base.with_suffix(".weights")
        found["weights"].write_bytes(answer.weights)
    if tools is not None and "static" in kinds:
        found["static"] = base.with_name(f"lib{base.name}.a")
        tools.archive(str(found["static"]), [str(found["object"])])
    if tools is not None and "shared" in kinds:
        suffix = shared_suffix(interface.target)
        wasm = suffix == ".wasm"
        found["shared"] = base.with_name(f"{'' if wasm else 'lib'}{base.name}{suffix}")
        tools.shared(str(found["shared"]), str(found["object"]), exported_names(interface))
    if "object" not in kinds:
        found.pop("object").unlink()
    return found


def exported_names(interface: Interface) -> list[str]:
    """The functions of a library by their names in C."""
    names = [f.name for f in interface.functions]
    names += [f"{f.name}_get_shapes" for f in interface.functions if f.shaped]
    names += ["context_size", "initialize", "destroy", "error_text", "description"]
    if not (interface.weights_bytes and interface.target == "wasm32"):
        names.append("create")
    if interface.has_levels:
        names.append("processor")
    if interface.threads > 1:
        names.append("set_parallel_for")
    if interface.variables:
        names += ["get_variable", "set_variable"]
    return [f"{interface.name}_{name}" for name in names]
