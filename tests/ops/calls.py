"""Samples as calls: eagerly, and recorded with more or less known of the shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import intaglio.tf  # declares the catalogue
from intaglio.base import dtypes
from intaglio.base.dtypes import DType, from_numpy
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.opdef.op import Op
from intaglio.opdef.raw import catalogue
from intaglio.runtime import interpreter, random_state
from intaglio.trace.graph import record
from tests.ops import samples

CATALOGUE = catalogue()
ALL_SAMPLES = samples.load()
NAMES = sorted(CATALOGUE)

# Ops that no plain data describes. Those that take graphs, resources or variants join
# them by rule, and are tested where graphs, variables and lists are.
UNSAMPLED = {
    "Placeholder": "an input of a graph has no kernel",
    "Const": "made by conversion, not called",
    "MatchingFiles": "reads the names of files",
    "ReadFile": "reads a file: tests/base/test_gfile.py",
    "WriteFile": "writes a file: tests/base/test_gfile.py",
    "QuantizeV2": "of quantised dtypes: tests/composite_ops/quantization/test_quantization.py",
    "Dequantize": "of quantised dtypes: tests/composite_ops/quantization/test_quantization.py",
    "QuantizedConcat": "of quantised dtypes: tests/composite_ops/quantization/test_quantization.py",
    "NoOp": "nothing goes in and nothing comes out",
    "_Relayout": "states a layout on a mesh: tests/distribute/test_dtensor.py",
    "_RelayoutLike": "states a layout on a mesh: tests/distribute/test_dtensor.py",
    "_Exchange": "of processes of a cluster: tests/distribute/test_processes.py",
    "_FirstOfReplicas": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_GatherOfReplicas": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_OfReplica": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_ReplicatedCall": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_SumOfReplicas": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_ToReplicas": "of replicas of a strategy: tests/distribute/test_spmd.py",
    "_AddAt": "made by the compiler, of gradients of rows: tests/native/test_program.py",
    "_ElementLoops": "made for libraries, of algorithms as loops: tests/export/test_loops.py",
    "_Refusal": "made for libraries, of errors of ops: tests/export/test_selected_rows.py",
    "_Perturb": "of random factors, for checks of machine code: tests/native/test_first_call.py",
    "_ReluMaxPool": "made by the compiler, of Relu before a pooling: tests/native/passes/test_layer_fusion.py",
    "_ReluMaxPoolGrad": "made by the compiler, of its gradient: tests/native/passes/test_layer_fusion.py",
    "FakeParam": "stands for a value that is never used, in a branch",
}
HANDLES = (dtypes.resource, dtypes.variant)


def _on_handles(op: Op) -> bool:
    ends = (*op.sig.inputs, *op.sig.outputs)
    kinds = {a.kind for a in op.sig.attrs}
    return any(a.dtype in HANDLES for a in ends) or bool(kinds & {"func", "list(func)", "object"})


UNSAMPLED |= {
    name: "takes graphs, resources or variants" for name, op in CATALOGUE.items() if _on_handles(op)
}

# How much a recorded call knows of its inputs' shapes; "constant": small integer inputs
# are constants, as the shapes and axes of most programs are.
HIDING = ("no", "constant", "dims", "rank")


def samples_of(name: str) -> list[samples.Sample]:
    """The op's samples."""
    return ALL_SAMPLES.get(name, [])


def inputs_of(sample: samples.Sample) -> dict[str, Any]:
    """The sample's inputs: arrays and lists of arrays."""
    names = CATALOGUE[sample.op].input_names
    return {n: sample.args[n] for n in names if n in sample.args}


def attrs_of(sample: samples.Sample) -> dict[str, Any]:
    """The sample's attributes."""
    names = CATALOGUE[sample.op].input_names
    return {n: v for n, v in sample.args.items() if n not in names}


def flat(result: Any) -> list[Any]:
    """What an op call returned as a flat list."""
    if result is None:
        return []
    if isinstance(result, (list, tuple)):
        return [leaf for item in result for leaf in flat(item)]
    return [result]


def _array(tensor: Any) -> np.ndarray:
    return np.asarray(tensor._array)


def call(sample: samples.Sample, inputs: dict[str, Any]) -> list[Any]:
    """The op with these inputs and the sample's attributes; its outputs, flat."""
    return flat(CATALOGUE[sample.op](**inputs, **attrs_of(sample)))


def run(op: str, arguments: dict[str, Any]) -> list[np.ndarray]:
    """An op's results for arguments of any kind; random ops draw the first of their stream."""
    random_state.SEEDS.set(1)
    return [_array(t) for t in flat(CATALOGUE[op](**arguments))]


def eager(sample: samples.Sample) -> list[np.ndarray]:
    """The kernel's results; random ops draw the first of their stream."""
    random_state.SEEDS.set(1)
    return [_array(t) for t in call(sample, inputs_of(sample))]


def _shape_shown(array: np.ndarray, hidden: str) -> Any:
    if hidden == "rank":
        return None
    return (None,) * array.ndim if hidden == "dims" else array.shape


def first_call(graph: Graph, arrays: list[Any]) -> list[Any]:
    """The graph run node by node, as its first call is."""
    return list(interpreter.run_nodes(graph, *arrays))


def traced(
    sample: samples.Sample, hidden: str, run: Callable[..., list[Any]] = interpreter.run_graph
) -> tuple[list[Any], list[Any]]:
    """The recorded call's inferred specs and what the interpreter computes."""
    inputs = inputs_of(sample)
    fixed = {
        k: v
        for k, v in inputs.items()
        if hidden == "constant"
        and isinstance(v, np.ndarray)
        and v.dtype.kind in "iu"
        and v.size <= 64
    }
    fed = {k: v for k, v in inputs.items() if k not in fixed}
    arrays: list[np.ndarray] = flat(list(fed.values()))
    specs: list[tuple[DType, Any, str]] = [
        (from_numpy(a.dtype), _shape_shown(a, hidden), "x") for a in arrays
    ]

    def function(*tensors: Any) -> list[Any]:
        left = list(tensors)
        given = {
            k: [left.pop(0) for _ in v] if isinstance(v, list) else left.pop(0)
            for k, v in fed.items()
        }
        return call(sample, {**given, **fixed})

    graph, outputs = record(function, sample.op, specs)
    outputs = [t for t in outputs if isinstance(t, SymbolicTensor)]
    graph.outputs.extend(outputs)
    frozen = graph.freeze_function()
    return [t.spec for t in outputs], run(frozen, arrays)


def assert_same(got: np.ndarray, wanted: np.ndarray, where: str) -> None:
    """Bit for bit, signs of zeros included, but for the kinds of NaN."""
    assert got.shape == wanted.shape, f"{where}: {got.shape}, not {wanted.shape}"
    if got.dtype.kind == wanted.dtype.kind == "c":
        assert_same(np.real(got), np.real(wanted), where)
        assert_same(np.imag(got), np.imag(wanted), where)
        return
    if got.dtype == object:
        pairs = zip(got.reshape(-1), wanted.reshape(-1), strict=True)
        off = [(mine, theirs) for mine, theirs in pairs if mine != theirs]
        assert not off, f"{where}: {off[0][0]} is not {off[0][1]}"
        return
    equal = (got == wanted) | ((got != got) & (wanted != wanted))
    if got.dtype.name in samples.DIFFERENTIABLE:
        equal &= (np.signbit(got) == np.signbit(wanted)) | (wanted != wanted)
    assert np.all(equal), f"{where}: {got} is not {wanted}"


def assert_close(got: np.ndarray, wanted: np.ndarray, sample: samples.Sample) -> None:
    """Within the sample's tolerance; exact for what is not floating."""
    name = got.dtype.name
    if name not in samples.DIFFERENTIABLE:
        assert_same(got, wanted, repr(sample))
        return
    if name in samples.COMPLEX:
        # An error in one part is as large as the number allows.
        size = np.abs(wanted)
        margin = _margin(size, sample)
        off = np.abs(got - wanted) > margin
        off |= ~np.isfinite(wanted) & ~((got == wanted) | (np.isnan(got) & np.isnan(wanted)))
    else:
        with np.errstate(all="ignore"):
            size = np.abs(wanted)
            same = (got == wanted) | ((got != got) & (wanted != wanted))
            wide = np.asarray(got, np.float64) - np.asarray(wanted, np.float64)
            off = ~same & ~(np.abs(wide) <= _margin(size, sample))
    assert not off.any(), f"{sample!r}: {got[off][:3]} here, {wanted[off][:3]} in TensorFlow"


def _margin(size: np.ndarray, sample: samples.Sample) -> np.ndarray:
    if sample.tol is not None:
        return sample.tol * np.maximum(1.0, np.asarray(size, np.float64))
    wide = np.asarray(size, np.float64)
    eps = float(ml_dtypes.finfo(size.dtype).eps)
    tiny = float(ml_dtypes.finfo(size.dtype).smallest_subnormal)
    return sample.ulp * np.maximum(eps * wide, tiny)


@functools.cache
def differentiable(name: str) -> bool:
    """True if the op has a gradient rule."""
    return "gradient" in CATALOGUE[name].rules


__all__ = ["intaglio"]
