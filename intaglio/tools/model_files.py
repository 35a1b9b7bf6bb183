"""`intaglio show` and `intaglio run-signature`: what model files hold, and a signature run once."""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.errors import OpError
from intaglio.opdef import convert
from intaglio.saved_model import names, reader
from intaglio.tools.descriptions import described, records_of

# The beginning of a file of NumPy.
_NPY = b"\x93NUMPY"


def show(arguments: Sequence[str]) -> int:
    """The command `intaglio show`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="intaglio show",
        description="Describes a SavedModel, GraphDef, .keras, HDF5 or ONNX file, checkpoint or file of TFRecords.",
    )
    parser.add_argument("path")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    try:
        found = described(options.path)
    except (ValueError, OSError, ImportError, OpError) as e:
        text = str(e)
        where = "" if options.path in text else f"{options.path}: "
        print(f"intaglio show: {where}{text}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(_lines(found)))
    return 0


def _lines(value: dict[str, Any], indent: str = "") -> list[str]:
    """A description as indented lines."""
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, dict) and {*item} >= {"dtype", "shape"}:
            shape = "unknown rank" if item["shape"] is None else item["shape"]
            kind = f"{item['class']} of " if "class" in item else ""
            name = f"  {item['name']}" if "name" in item else ""
            text = f"{kind}{item['dtype']} {shape}".replace("None", "?")
            lines.append(f"{indent}{key}: {text}{name}")
        elif isinstance(item, dict):
            lines += [f"{indent}{key}:", *_lines(item, indent + "  ")]
        elif isinstance(item, list) and item and isinstance(item[0], dict):
            for part in item:
                lines += [f"{indent}{key}:", *_lines(part, indent + "  ")]
        elif isinstance(item, list):
            lines.append(f"{indent}{key}: {', '.join(map(str, item))}")
        else:
            lines.append(f"{indent}{key}: {item}")
    return lines


# -- running -------------------------------------------------------------------------------


def run_signature(arguments: Sequence[str]) -> int:
    """The command `intaglio run-signature`; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="intaglio run-signature",
        description="Runs a signature of a SavedModel once, on arrays in files of NumPy, or on strings "
        "that are the records of a file of TFRecords.",
    )
    parser.add_argument("folder", help="the folder of a SavedModel")
    parser.add_argument("--signature", default=names.DEFAULT_SIGNATURE)
    parser.add_argument(
        "--inputs",
        nargs="*",
        default=[],
        metavar="NAME=FILE",
        help="an array for each input: .npy, or TFRecords",
    )
    parser.add_argument("--output", metavar="FILE.npz", help="write the results here")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    options = parser.parse_args(arguments)
    try:
        results = _results(options.folder, options.signature, options.inputs)
        if options.output:
            np.savez(options.output, **results)
    except (ValueError, TypeError, OSError, ImportError, OpError) as e:
        print(f"intaglio run-signature: {e}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps({name: _listed(array) for name, array in results.items()}))
    elif not options.output:
        for name, array in results.items():
            print(f"{name}: {array.dtype}{[*array.shape]}\n{array}")
    return 0


def _results(folder: str, signature: str, inputs: Sequence[str]) -> dict[str, Any]:
    """The arrays that a signature returns. Raises ValueError for names that it has not."""
    loaded = reader.load(folder)
    if signature not in loaded.signatures:
        raise ValueError(
            f"no signature {signature!r}; there are {', '.join(loaded.signatures) or 'none'}."
        )
    function = loaded.signatures[signature]
    wanted = dict(zip(function.arg_keywords, itertools.chain(function.inputs), strict=False))
    arrays: dict[str, Any] = {}
    for text in inputs:
        name, equals, path = text.partition("=")
        if not equals:
            raise ValueError(f"--inputs {text}: write NAME=FILE.npy.")
        if name not in wanted:
            raise ValueError(f"no input {name!r}; there are {', '.join(wanted) or 'none'}.")
        arrays[name] = convert.to_tensor(_array(path), wanted[name].dtype)
    missing = [name for name in wanted if name not in arrays]
    if missing:
        raise ValueError(f"input {missing[0]!r} is missing: --inputs {missing[0]}=FILE.npy")
    return {name: value.numpy() for name, value in function(**arrays).items()}


def _array(path: str) -> np.ndarray:
    """The array in a file of NumPy, or the records of a file of TFRecords."""
    with open(path, "rb") as file:
        is_numpy = file.read(len(_NPY)) == _NPY
    if not is_numpy:
        try:
            return np.array([*records_of(path), None], object)[:-1]
        except ValueError as e:
            raise ValueError(f"{path} is no .npy file, and no file of TFRecords ({e}).") from None
    try:
        return np.load(path, allow_pickle=False)
    except ValueError as e:
        raise ValueError(
            f"{path}: {e}. Save strings as np.array(strings, dtype='S'), or as a file of TFRecords."
        ) from None


def _listed(array: Any) -> Any:
    """An array as JSON has it; bytes as text, complex numbers as pairs."""
    if array.dtype == object:
        return np.vectorize(lambda b: b.decode(errors="replace"), otypes=[object])(array).tolist()
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).tolist()
    return array.astype(np.float64).tolist() if array.dtype.kind == "V" else array.tolist()
