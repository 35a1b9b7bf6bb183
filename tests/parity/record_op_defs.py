"""Writes down what TensorFlow's op declarations say of the ops we have: `op_defs/`.

    path/to/python-with-tensorflow -m tests.parity.record_op_defs [file ...]

from the repository's root. Reads the names of the ops in the sources, and writes for each file
that declares some (`intaglio/ops/math/scan.py`) one of the same name (`op_defs/ops/scan.json`).
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from tests.parity.op_defs import FOLDER

PACKAGE = Path(__file__).parents[2] / "intaglio"


def declared(source: Path) -> list[str]:
    """The names of the ops that a source file declares with `@op`."""
    text = source.read_text(encoding="utf-8")
    if "@op\n" not in text:
        return []
    return sorted(
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        and any(isinstance(d, ast.Name) and d.id == "op" for d in node.decorator_list)
    )


def _type(end: Any) -> str:
    """The type of an input or output, written as signatures write it."""
    one = end.type_attr or (tf.as_dtype(end.type).name if end.type else "")
    if end.type_list_attr:
        return f"*{end.type_list_attr}"
    return f"{end.number_attr}*{one}" if end.number_attr else one


def _allowed(values: Any) -> list[Any]:
    return [tf.as_dtype(t).name for t in values.list.type] + [s.decode() for s in values.list.s]


def _default(attr: Any) -> Any:
    value, kind = attr.default_value, attr.type
    if kind.startswith("list("):
        found = value.list
        return {
            "list(int)": list(found.i),
            "list(float)": list(found.f),
            "list(bool)": list(found.b),
            "list(string)": [s.decode() for s in found.s],
            "list(type)": [tf.as_dtype(t).name for t in found.type],
        }.get(kind, [])
    if kind == "type":
        return tf.as_dtype(value.type).name
    if kind == "shape":
        shape = tf.TensorShape(value.shape)
        return None if shape.rank is None else shape.as_list()
    one = {"int": value.i, "float": value.f, "bool": value.b}
    return one[kind] if kind in one else value.s.decode("latin-1")


def _attribute(attr: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": attr.type.replace("string", "str")}
    if attr.HasField("default_value"):
        found["default"] = _default(attr)
    if attr.HasField("allowed_values"):
        found["allowed"] = _allowed(attr.allowed_values)
    return found


def declaration(name: str) -> dict[str, Any] | None:
    """Inputs and outputs with their types, attributes, statefulness; None if unknown there."""
    found = op_def_registry.get(name)
    if found is None:
        return None
    return {
        "attrs": {a.name: _attribute(a) for a in found.attr},
        "inputs": {a.name: _type(a) for a in found.input_arg},
        "outputs": {a.name: _type(a) for a in found.output_arg},
        "stateful": found.is_stateful,
    }


def _sources(wanted: list[str]) -> Iterator[tuple[Path, list[str]]]:
    for source in sorted(PACKAGE.rglob("*.py")):
        names = declared(source)
        if names and (not wanted or source.stem in wanted):
            yield source, names


def main(wanted: list[str]) -> None:
    """Records the ops of the files named, or of all."""
    kept: set[Path] = set()
    for source, names in _sources(wanted):
        table = {"_tensorflow": tf.__version__} | {n: declaration(n) for n in names}
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in table.items()]
        path = FOLDER / source.relative_to(PACKAGE).with_suffix(".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        kept.add(path)
        print(f"{path.relative_to(FOLDER)}: {len(names)} ops")
    for path in [] if wanted else set(FOLDER.rglob("*.json")) - kept:
        path.unlink()  # its source is gone


if __name__ == "__main__":
    main(sys.argv[1:])
