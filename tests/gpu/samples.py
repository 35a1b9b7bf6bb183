"""The samples of all ops as programs of the machine's accelerator, for a limited time, as a table.

    python -m tests.gpu.samples --seconds 120 --workers 8 --out samples.md

Each result is compared with the interpreter's, within the tolerances of `tests/xla`, or those of a GPU
below. Products and convolutions are computed with all digits: TensorFloat-32 has three. Each worker takes
every so-many-th part of the samples; rows are written as they are found, so that nothing is lost when time is up.
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from intaglio import tf
from intaglio.runtime import interpreter
from intaglio.xla.evaluator import NodeUntraceable
from tests.ops import calls, recorded
from tests.xla import samples
from tests.xla.differences import DIFFERENT, UP_TO_A_FACTOR
from tests.xla.test_samples import tolerant

PARTS = 512
# Relative to max(1, |number|): a GPU has other approximations of exp, log and the like, and sums in trees.
GPU_TOLERANCE = {np.dtype(np.float32): 2e-5, np.dtype(np.complex64): 2e-5}
WIDE_TOLERANCE = 1e-9
# Whose vectors are unique up to a factor: a GPU's algorithms choose another one.
FACTORS = {*UP_TO_A_FACTOR, "SelfAdjointEigV2", "Svd"}


def differences(one: recorded.Recorded, got: list[np.ndarray]) -> str:
    """What is wrong with the results of a sample; empty if nothing is."""
    wanted = [np.asarray(v) for v in interpreter.run_graph(one.graph, one.arrays)]
    if one.sample.op in DIFFERENT:
        return ""
    for mine, theirs in zip(got, wanted, strict=True):
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return f"{mine.dtype}{mine.shape} for {theirs.dtype}{theirs.shape}"
        if one.sample.op in FACTORS:
            mine, theirs = np.abs(mine), np.abs(theirs)
        if one.sample.nondeterministic:
            continue
        floor = GPU_TOLERANCE.get(theirs.dtype, WIDE_TOLERANCE)
        sample = tolerant(one.sample, floor if theirs.dtype.kind in "fc" else 0.0)
        try:
            calls.assert_close(mine, theirs, sample)
        except AssertionError:
            return f"off by {_distance(mine, theirs):.1e}"
    return ""


def _distance(mine: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference, relative to max(1, |number|)."""
    a, b = [v.astype(np.complex128).reshape(-1) for v in (mine, theirs)]
    with np.errstate(all="ignore"):
        return float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b)), initial=0.0))


def checked(worker: int, workers: int, end: float) -> Iterator[str]:
    """A row for each sample that has another result, and for each batch a count."""
    tf.config.experimental.enable_tensor_float_32_execution(False)
    for part in range(worker, PARTS, workers):
        found = list(recorded.chosen(part, PARTS))
        for i in range(0, len(found), samples.BATCH):
            if time.time() > end:
                return
            batch = found[i : i + samples.BATCH]
            yield from _rows(batch)


def _rows(batch: list[recorded.Recorded]) -> Iterator[str]:
    try:
        results = samples.computed(batch)
    except Exception as e:  # one of them: each alone
        if len(batch) > 1:
            for one in batch:
                yield from _rows([one])
            return
        text = " ".join(f"{type(e).__name__}: {e}".split())[:300]
        yield f"failed\t{batch[0].sample.label}\t{batch[0].sample.op}\t{text}"
        return
    for one, got in zip(batch, results, strict=True):
        if isinstance(got, NodeUntraceable):
            yield f"host\t{one.sample.label}\t{one.sample.op}\t"
            continue
        wrong = differences(one, got)
        yield f"{'wrong' if wrong else 'right'}\t{one.sample.label}\t{one.sample.op}\t{wrong}"


def table(rows: list[list[str]]) -> str:
    """The counts, and the ops with results that are not right."""
    kinds = collections.Counter([r[0] for r in rows])
    ops = len({r[2] for r in rows})
    text = f"{len(rows)} samples of {ops} ops: " + ", ".join(
        [f"{kinds[k]} {k}" for k in ("right", "wrong", "failed", "host")]
    )
    text += "\n\n| op | samples | what |\n| --- | --- | --- |\n"
    bad: dict[tuple[str, str], list[str]] = {}
    for kind, label, op, what in rows:
        if kind in ("wrong", "failed"):
            bad.setdefault((op, kind), []).append(f"{label}: {what}")
    for (op, kind), found in sorted(bad.items()):
        text += f"| {op} | {len(found)} {kind} | {'; '.join(found[:3])} |\n"
    return text


def main() -> None:
    """Runs the workers, and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker", type=int)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("samples.md"))
    options = parser.parse_args()
    if options.worker is not None:
        with options.out.open("w") as file:
            for row in checked(options.worker, options.workers, time.time() + options.seconds):
                print(row, file=file, flush=True)
        return
    parts = [options.out.with_suffix(f".{i}") for i in range(options.workers)]
    common = [sys.executable, "-m", "tests.gpu.samples", "--workers", str(options.workers)]
    running = [
        subprocess.Popen(
            [*common, "--worker", str(i), "--seconds", str(options.seconds), "--out", str(path)]
        )
        for i, path in enumerate(parts)
    ]
    limit = time.time() + options.seconds + 40
    for process in running:
        try:
            process.wait(max(1.0, limit - time.time()))
        except subprocess.TimeoutExpired:
            process.kill()
    rows: list[list[str]] = []
    for path in parts:
        if path.exists():
            rows += [line.split("\t") for line in path.read_text().splitlines() if "\t" in line]
    options.out.write_text(table([r for r in rows if len(r) == 4]))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
