"""Our ops are declared as TensorFlow declares them, so that GraphDefs mean the same."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.op import raw
from intaglio.op.op import Op

RECORDED: dict[str, Any] = json.loads(
    (pathlib.Path(__file__).parent / "op_defs.json").read_text(encoding="utf-8")
)["ops"]
# Kept in program order here although TensorFlow's runtime may drop or move them.
ORDERED_HERE = {"MatchingFiles", "NoOp", "ReadFile", "StatelessRandomGetAlg"}


def attributes(op: Op) -> dict[str, str]:
    """Attributes as a GraphDef has them, those implied by the inputs included."""
    found = {op.graphdef_names.get(a.name, a.name): a.kind for a in op.sig.attrs}
    for arg in op.sig.inputs:
        for name, kind in (
            (arg.var, "type"),
            (arg.number, "int"),
            (arg.types, "list(type)"),
        ):
            if name:
                found.setdefault(name, kind)
    return found


@pytest.mark.parametrize("name", sorted(raw.catalogue()))
def test_declared_as_in_tensorflow(name: str) -> None:
    op, theirs = getattr(raw, name), RECORDED.get(name)
    if theirs is None:
        assert name in RECORDED, "record it: tests/parity/record_op_defs.py"
        return  # an op of our own
    assert attributes(op) == theirs["attrs"]
    assert list(op.node_inputs) == theirs["inputs"]
    assert [a.name for a in op.sig.outputs] == theirs["outputs"]
    assert op.stateful == theirs["stateful"] or name in ORDERED_HERE
