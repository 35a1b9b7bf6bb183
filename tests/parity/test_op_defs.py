"""Our ops are declared as TensorFlow declares them, so that GraphDefs mean the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.base import dtypes
from intaglio.base.dtypes import DType
from intaglio.opdef import index_types, raw
from intaglio.opdef.op import Op
from intaglio.opdef.signature import REQUIRED, Arg
from tests.parity import op_defs

# Kept in program order here although TensorFlow's runtime may drop or move them.
ORDERED_HERE = {"MatchingFiles", "NoOp", "ReadFile", "StatelessRandomGetAlg"}
# Types that our ops of ordinary numbers do without: nothing in the public API makes them
# inputs of these.
NOT_OURS = {"qint8", "quint8", "qint16", "quint16", "qint32", "variant"}
# Types allowed here and not by TensorFlow's declarations.
WIDER = {
    # float64: so that these, too, can be checked against finite differences
    "float64": "FusedBatchNorm FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 "
    "FusedBatchNormV2 FusedBatchNormV3 LRN LRNGrad MaxPool3D MaxPool3DGrad",
    # the statistics are in the dtype of the data where that is no float32
    "bfloat16": "FusedBatchNormV2",
    # TensorFlow's public function takes them, and its op does not
    "uint32": "MaxPool StatelessRandomUniformInt",
    "uint64": "MaxPool StatelessRandomUniformInt",
    "int8": "BatchMatMulV3",
    "uint8": "BatchMatMulV3",
}
# Inputs whose types are written otherwise.
OTHER_INPUTS = {
    # float64 again: TensorFlow's scale is float32 always
    ("FusedBatchNormGradV2", "scale"),
    ("FusedBatchNormGradV3", "scale"),
}
# Attributes that TensorFlow requires and we do without: what the branches return says it.
SAID_OTHERWISE = {
    ("If", "Tout"),
    ("StatelessIf", "Tout"),
    ("Case", "Tout"),
    ("StatelessCase", "Tout"),
}


def attributes(op: Op) -> dict[str, str]:
    """Attributes as a GraphDef has them, those implied by the inputs included."""
    found = {op.graphdef_names.get(a.name, a.name): a.kind for a in op.sig.attrs}
    for arg in op.sig.inputs:
        for name, kind in ((arg.var, "type"), (arg.number, "int"), (arg.types, "list(type)")):
            if name:
                found.setdefault(name, kind)
    return found


def written(arg: Arg) -> str:
    """The type of an input or output as the declarations write it."""
    one = arg.var or (arg.dtype.name if arg.dtype else "")
    if arg.types:
        return f"*{arg.types}"
    return f"{arg.number}*{one}" if arg.number else one


def plain(value: Any) -> Any:
    """A default as JSON has it."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return float(np.float32(value)) if isinstance(value, float) else value


def both() -> list[Any]:
    """The ops that both have."""
    known = op_defs.read()
    return [n for n in sorted(raw.catalogue()) if known.get(n)]


def pair(name: str) -> tuple[Op, dict[str, Any]]:
    """Our op and TensorFlow's declaration."""
    theirs = op_defs.read()[name]
    assert theirs is not None
    return getattr(raw, name), theirs


def test_every_op_was_looked_up() -> None:
    strangers = set(raw.catalogue()) - set(op_defs.read())
    assert not strangers, "record them: tests/parity/record_op_defs.py"


@pytest.mark.parametrize("name", both())
def test_declared_as_in_tensorflow(name: str) -> None:
    op, theirs = pair(name)
    assert attributes(op) == {n: a["kind"] for n, a in theirs["attrs"].items()}
    assert list(op.node_inputs) == list(theirs["inputs"])
    assert [a.name for a in op.sig.outputs] == list(theirs["outputs"])
    assert op.stateful == theirs["stateful"] or name in ORDERED_HERE
    inputs = zip(op.node_inputs, op.sig.inputs, strict=True)
    mine = {n: written(a) for n, a in inputs if (name, n) not in OTHER_INPUTS}
    assert mine.items() <= theirs["inputs"].items()
    assert {a.name: written(a) for a in op.sig.outputs} == theirs["outputs"]


@pytest.mark.parametrize("name", both())
def test_defaults_are_tensorflows(name: str) -> None:
    op, theirs = pair(name)
    for attr in op.sig.attrs:
        known = theirs["attrs"][op.graphdef_names.get(attr.name, attr.name)]
        if attr.kind == "tensor":
            continue  # op_defs/ does not have these
        if "default" not in known:
            required = attr.default is REQUIRED
            assert required or (name, attr.name) in SAID_OTHERWISE, attr.name
        else:
            assert plain(attr.default) == known["default"], attr.name


@pytest.mark.parametrize("name", both())
def test_types_are_tensorflows(name: str) -> None:
    op, theirs = pair(name)
    for attr, known in theirs["attrs"].items():
        allowed = getattr(type(op), attr, None)
        if known["kind"] != "type" or allowed is None:
            continue
        mine = {t.name for t in allowed}
        wanted = set(known.get("allowed", (d.name for d in dtypes.ALL)))
        beyond = {t for t in mine - wanted if name not in WIDER.get(t, "").split()}
        assert not beyond, f"{attr}: TensorFlow does not allow {beyond}"
        if "allowed" in known:
            assert not wanted - mine - NOT_OURS, f"{attr}: {wanted - mine} is allowed"


@pytest.mark.parametrize("name", both())
def test_type_variables_have_tensorflows_defaults(name: str) -> None:
    """Those of shapes, axes and counts: arrays of other types are converted to them."""
    op, theirs = pair(name)
    for var in op.vars:
        known = theirs["attrs"][op.graphdef_names.get(var, var)]
        mine = index_types.default(op, var)
        assert mine is None or known.get("default") == mine.name, var
