"""`intaglio compile`: a model on disk as a library for C programs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from intaglio.base import later
from intaglio.base.errors import OpError
from intaglio.export.library import KINDS, export_library
from intaglio.export.signatures import ExportError
from intaglio.native.llvm.target import HOST, LEVELS, TARGETS
from intaglio.tensorflow_name.names import install_as_tensorflow


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="intaglio compile",
        description="Writes a SavedModel or a .keras file as a C library: header, example, object file, "
        "static and shared library, which need neither Python nor Intaglio.",
    )
    parser.add_argument("model", help="the folder of a SavedModel, or a .keras file")
    parser.add_argument(
        "--output", "-o", default="", help="path of the library without suffix (default: ./NAME)"
    )
    parser.add_argument("--signature", help="a signature of the SavedModel (default: all)")
    parser.add_argument("--target", default=HOST, choices=[HOST, *LEVELS, *TARGETS])
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=1,8,8,1",
        help="the shape of an input with open dimensions; 1,n,8: the dimension n is an argument; may be repeated",
    )
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="n=1:64",
        help="what an open dimension may be, with code for each number: 1:64 or 16,32,64; may be repeated",
    )
    parser.add_argument(
        "--batch-size",
        type=_sizes,
        help="the first dimension where it is open; 1,16: any number, with code for these",
    )
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="what to write (default: all)"
    )
    parser.add_argument("--weights", default="inside", choices=["inside", "beside"])
    parser.add_argument(
        "--threads", type=int, default=1, help="for how many threads of the caller work is divided"
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    return parser


def _sizes(text: str) -> int | tuple[int, ...]:
    """`8`, or several numbers."""
    numbers = tuple([int(part) for part in text.split(",")])
    return numbers[0] if len(numbers) == 1 else numbers


def compile_model(arguments: Sequence[str]) -> int:
    """The command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        shapes, sizes = dict(map(_shape, options.shape)), dict(map(_size, options.size))
        name = os.path.basename(os.path.abspath(options.model)).split(".")[0]
        output = options.output or name.replace("-", "_")
        library = export_library(
            loaded(options.model),
            output,
            target=options.target,
            shapes=shapes,
            sizes=sizes,
            batch_size=options.batch_size,
            signature=options.signature,
            kinds=options.kind or KINDS,
            weights=options.weights,
            threads=options.threads,
        )
    except (ExportError, OSError, ValueError, OpError) as e:
        print(f"intaglio compile: {e}", file=sys.stderr)
        return 1
    written = {kind: str(path) for kind, path in library.paths.items()}
    if options.json:
        print(json.dumps(written))
        return 0
    for kind, path in written.items():
        print(f"{kind:8} {path} ({os.path.getsize(path)} bytes)")
    for function in library.interface.functions:
        inputs = ", ".join([f"{p.label}: {p.described}" for p in function.inputs])
        outputs = ", ".join([f"{p.label}: {p.described}" for p in function.outputs])
        print(f"{library.interface.name}_{function.name}({inputs}) -> {outputs}")
    return 0


def _shape(text: str) -> tuple[str, tuple[int | str, ...]]:
    """`x=1,n` as a name and a shape. Raises ExportError for other texts."""
    name, _, dims = text.partition("=")
    parts = [d.strip() for d in dims.split(",") if d.strip()]
    if not all(d.isidentifier() or d.isdecimal() for d in parts):
        raise ExportError(f"--shape {text}: write NAME=1,8,8,1")
    return name, tuple([int(d) if d.isdecimal() else d for d in parts])


def _size(text: str) -> tuple[str, Sequence[int]]:
    """`n=1:64`, both included, or `n=16,32`. Raises ExportError for other texts."""
    name, _, numbers = text.partition("=")
    first, colon, last = numbers.partition(":")
    try:
        return name, range(int(first), int(last) + 1) if colon else [*map(int, numbers.split(","))]
    except ValueError:
        raise ExportError(f"--size {text}: write n=1:64, or n=16,32") from None


def loaded(path: str) -> Any:
    """A model of Keras, for files of its own; other paths as they are."""
    if not path.endswith((".keras", ".h5")):
        return path
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    install_as_tensorflow()
    return later.named("keras.saving").load_model(path)
