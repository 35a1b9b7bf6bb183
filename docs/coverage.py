"""Writes docs/coverage.md: which documented names of TensorFlow work here.

    python -m docs.coverage            writes the page
    python -m docs.coverage --check    fails if the page is not what would be written

The names come from `tests/parity/api_symbols.txt`, which real TensorFlow wrote. A name works if it
is there and takes every documented parameter; it is partial if a parameter is missing or if it
is marked by itself: a NotImplementedError in the source whose message begins with the name.
"""

from __future__ import annotations

import ast
import collections
import inspect
import pathlib
import re
import sys
from typing import Any

from docs.generated import put
from intaglio import tf
from intaglio.compat_v1.absent import ABSENT
from intaglio.opdef import raw

ROOT = pathlib.Path(__file__).parents[1]
SYMBOLS = ROOT / "tests" / "parity" / "api_symbols.txt"
PAGE = ROOT / "docs" / "coverage.md"
MISSING: Any = object()
# What is left out on purpose, by the beginnings of the names, and why.
LEFT_OUT = {
    "tf.config.experimental.ClusterDeviceFilters": "there is one process",
    "tf.config.experimental_connect_to_host": "there is one process",
    "tf.data.experimental.service": "a service of several processes; datasets run in the program's own",
    "tf.experimental.StructuredTensor": "records of ragged fields: ExtensionType with RaggedTensor does the same",
    "tf.experimental.async": "eager ops are done when they return",
    "tf.experimental.enable_strict_mode": "there are no deprecated ways to forbid",
    "tf.experimental.function_executor_type": "there is one executor",
    "tf.experimental.register_filesystem_plugin": "plugins are shared libraries; fsspec has the file systems",
    "tf.experimental.tensorrt": "a compiler for one maker's devices",
    "tf.mlir": "MLIR is TensorFlow's compiler; graphs are written as GraphDefs",
    "tf.nn.RNNCell": "wrappers of Keras 2's cells: in TensorFlow with Keras 3 `tf.keras.layers.RNN` refuses them, a cell that is built cannot be wrapped, and its weights are not found",
    "tf.profiler.experimental.client": "profiles of other processes",
    "tf.profiler.experimental.server": "profiles for other processes",
    "tf.test.benchmark_config": "configures sessions; there are none",
    "tf.test.create_local_cluster": "there is one process",
}
# What is there for `isinstance` alone, by the beginnings of the names, and why.
_SERVERS = "servers that keep variables and functions that are sent to workers: jax.distributed has neither"
_TPUS = "there are no TPUs of TensorFlow's runtime"
BY_NAME_ONLY = {
    "tf.distribute.ParameterServerStrategy": _SERVERS,
    "tf.distribute.experimental.ParameterServerStrategy": _SERVERS,
    "tf.distribute.coordinator": _SERVERS,
    "tf.distribute.experimental.coordinator": _SERVERS,
    "tf.distribute.TPUStrategy": _TPUS,
    "tf.distribute.experimental.TPUStrategy": _TPUS,
}
LEFT_OUT |= BY_NAME_ONLY
LEFT_OUT |= dict.fromkeys(
    (
        "tf.distribute.Server",
        "tf.distribute.experimental.partitioners",
        "tf.distribute.experimental.rpc",
    ),
    _SERVERS,
)
_STUB = re.compile(r"^(tf\.[\w.]+)[:( ]")


# Kinds of op types that `tf.raw_ops` may lack, by patterns of their names; the first that fits counts.
ABSENT_OPS = {
    "TPUs": "TPU|SparseCore|SparseDenseMatmul|ConcatND|SplitND|Infeed|Outfeed|Prelinearize|Minibatch|"
    "^(WorkerHeartbeat|CrossReplicaSum|AllToAll|GlobalIterId|ConvertToCooTensor)$",
    "Collectives of processes, and calls between them": "^Collective|^Nccl|^(Send|Recv|RemoteCall|SyncDevice)$",
    "Decision trees and linear models of estimators": "^BoostedTrees|Boosted|^Sdca",
    "Former names of ops of datasets": "^Experimental",
    "Datasets, iterators and their services": "Dataset|Iterator|DataService|StatsAggregator|ThreadPool|MemoryCache|"
    "IterationCounter|SeedGenerator|CompressElement|^(GetOptions|WindowOp|MapDefun)$",
    "Reference variables of TensorFlow 1, and their optimizers": "^(Sparse)?Apply[A-Z]|^Assign|^Scatter|^Ref[A-Z]|^Variable|"
    "^(CountUpTo|IsVariableInitialized|TemporaryVariable|DestroyTemporaryVariable|StridedSliceAssign)$",
    "Control flow of TensorFlow 1": "^(Enter|Exit|Merge|Switch|NextIteration|LoopCond|ControlTrigger|For|Abort)$",
    "Quantised kernels": "Quantiz|Requantiz",
    "Arrays and stacks of tensors, for which there are tensor lists": "^TensorArray|^Stack|^TensorMap",
    "Former names of ops of batches": "^Batch(Matrix|FFT|IFFT|Cholesky|SelfAdjoint|Svd|Norm)",
    "Readers, queues and tables by reference": "Reader|Queue|HashTable|^LookupTable|^InitializeTable",
    "Accumulators, barriers and stages of several workers": "Accumulator|Barrier|Stage$|^Stage|^(Ordered)?Map[A-Z]",
    "Debuggers": "^Debug|^Copy",
}
_OTHER_OPS = "Others"


def documented() -> list[tuple[str, list[str] | None]]:
    """(name, parameters) of every documented name; None where parameters do not matter."""
    found: list[tuple[str, list[str] | None]] = []
    for line in SYMBOLS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, call, rest = line.partition("(")
        names = [p for p in rest.rstrip(")").split(", ") if p] if call else None
        found.append((name.removesuffix(" ="), names))
    return found


def find(name: str) -> Any:
    """The object behind a name, or MISSING."""
    value: Any = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part, MISSING)
        if value is MISSING:
            return MISSING
    return value


def stubs() -> set[str]:
    """Public names that raise NotImplementedError with their own name in the message."""
    found: set[str] = set()
    for path in (ROOT / "intaglio").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                call = node.exc
                named = isinstance(call.func, ast.Name) and call.func.id == "NotImplementedError"
                text = ast.unparse(call.args[0]).lstrip("f\"'") if call.args else ""
                if named and (match := _STUB.match(text)):
                    found.add(match[1])
    return found


def state(name: str, parameters: list[str] | None, stubbed: set[str]) -> tuple[str, str]:
    """("works" | "partly" | "missing", what is wrong)."""
    value = find(name)
    if value is MISSING or name.startswith(tuple(BY_NAME_ONLY)):
        return "missing", ""
    if name in stubbed:
        return "partly", "raises NotImplementedError in some cases"
    if parameters:
        try:
            ours = inspect.signature(value).parameters
        except (TypeError, ValueError):
            return "works", ""
        if any(p.kind is p.VAR_KEYWORD for p in ours.values()):
            return "works", ""
        if any(p.kind is p.KEYWORD_ONLY for p in ours.values()):
            parameters = [p for p in parameters if p != "kwargs"]  # named one by one
        lacking = [p for p in parameters if p not in ours]
        if lacking:
            return "partly", f"lacks {', '.join(lacking)}"
    return "works", ""


def section(name: str) -> str:
    """The namespace a name is listed under."""
    parts = name.split(".")
    return "tf" if len(parts) == 2 else ".".join(parts[:2])


def raw_ops_state(name: str) -> str:
    """Whether an op type is in the catalogue."""
    return "works" if name.rsplit(".", 1)[1] in dir(raw) else "missing"


def page() -> str:
    """The text of docs/coverage.md."""
    stubbed = stubs()
    rows: dict[str, list[tuple[str, str, str]]] = collections.defaultdict(list)
    ops: list[str] = []
    for name, parameters in documented():
        if name.startswith("tf.raw_ops."):
            ops.append(name)
            continue
        rows[section(name)].append((name, *state(name, parameters, stubbed)))
    lines = [
        "# What works",
        "",
        "Generated by `make docs`; do not edit. The documented names of TensorFlow 2.21 outside",
        "`compat`, `lite`, `tpu`, `estimator` and Keras' own, and what Intaglio has of them.",
        "*Partly*: a documented parameter is missing, or some case raises NotImplementedError.",
        "",
        "| namespace | documented | works | partly | missing |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    totals: collections.Counter[str] = collections.Counter()
    for name in sorted(rows):
        count = collections.Counter(r[1] for r in rows[name])
        totals.update(count)
        lines.append(_row(name, count))
    lines += [_row("all", totals), "", _ops_line(ops), ""]
    lines += ["## Op types that are missing", "", *_absent_ops(ops), ""]
    lines += ["## Left out on purpose", "", *_left_out(rows), ""]
    lines += ["## Names of TensorFlow 1 that raise NotImplementedError", "", *_of_version_1(), ""]
    for name in sorted(rows):
        lines += [f"## {name}", ""]
        for kind in ("works", "partly", "missing"):
            of_kind = [r for r in rows[name] if r[1] == kind]
            if of_kind:
                listed = ", ".join(f"`{n}`" + (f" ({why})" if why else "") for n, _, why in of_kind)
                lines += [f"**{kind}**: {listed}", ""]
    return "\n".join(lines)


def _left_out(rows: dict[str, list[tuple[str, str, str]]]) -> list[str]:
    """One line for each reason that something is left out for."""
    lacking = [r[0] for found in rows.values() for r in found if r[1] != "works"]
    lines: list[str] = []
    for start, reason in LEFT_OUT.items():
        names = [n for n in lacking if n.startswith(start)]
        if not names:
            continue  # it has come meanwhile
        shown = names[0] if len(names) == 1 else f"{start}... ({len(names)} names)"
        lines.append(f"- `{shown}`: {reason}.")
    return lines


def _of_version_1() -> list[str]:
    """One line for each reason that names of `tf.compat.v1` are not implemented for."""
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for name, reason in ABSENT.items():
        reasons[reason].append(name)
    return [
        f"- {', '.join(f'`tf.compat.v1.{name}`' for name in names)}: {reason}."
        for reason, names in reasons.items()
    ]


def _row(name: str, count: collections.Counter[str]) -> str:
    total = sum(count.values())
    return f"| {name} | {total} | {count['works']} | {count['partly']} | {count['missing']} |"


def _ops_line(ops: list[str]) -> str:
    have = [n for n in ops if raw_ops_state(n) == "works"]
    own = sorted(set(raw.catalogue()) - {n.rsplit(".", 1)[1] for n in ops})
    extra = f" Ops of our own: {', '.join(f'`{n}`' for n in own)}." if own else ""
    return f"Op types in `tf.raw_ops`: {len(have)} of {len(ops)}.{extra}"


def _absent_ops(ops: list[str]) -> list[str]:
    """One line for each kind of op types that `tf.raw_ops` lacks, with the names of all of them."""
    kinds: dict[str, list[str]] = {kind: [] for kind in (*ABSENT_OPS, _OTHER_OPS)}
    for full in ops:
        if raw_ops_state(full) != "works":
            name = full.rsplit(".", 1)[1]
            found = (kind for kind, names in ABSENT_OPS.items() if re.search(names, name))
            kinds[next(found, _OTHER_OPS)].append(name)
    return [
        f"- {kind} ({len(names)}): {', '.join(f'`{n}`' for n in names)}."
        for kind, names in kinds.items()
        if names
    ]


def main() -> int:
    """The command; its exit status."""
    return put(PAGE, page(), "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
