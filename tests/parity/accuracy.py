"""Which elementwise results are more than two units in the last place from TensorFlow's.

    python -m tests.parity.accuracy            # the page accuracy.md

For each op and dtype: the largest distance between the two over all samples and the calls derived
from them, and, for dtypes of fewer bits than float64, how far each is from the result computed in
float64. Where TensorFlow is the one that is off no reason is needed; else there is one here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base.errors import InvalidArgumentError
from tests.ops import calls
from tests.ops.samples import FLOATING, Sample
from tests.parity import answers, nearness, variants

PAGE = Path(__file__).parent / "accuracy.md"
MOST = 2.0
# By family, for results of ours that are more than two units from the exact ones themselves, or
# that nothing more exact is known of.
REASONS = {
    "activation": "exponentials and logarithms of NumPy, rounded once for each operation",
    "arithmetic": "16-bit numbers are rounded after each operation here and there, in another order",
    "bessel_functions": "TensorFlow's series are shorter; near zeros of the functions both lose digits",
    "error_functions": "float64: other approximations, each a few units from the exact results",
    "gamma_functions": "float64: other approximations; near zeros of the functions both lose digits",
    "incomplete_gamma": "sums and fractions that end elsewhere, a few units from one another",
    "special_integrals": "TensorFlow's rational approximations against Chebyshev series",
    "transcendental": "16-bit numbers are rounded after each operation, in another order; functions "
    "of the C library and of vector code, a unit or two from the exact results each",
}


def recorded() -> Iterator[tuple[Sample, dict[str, Any]]]:
    """The elementwise calls and TensorFlow's answers to them."""
    for name in calls.NAMES:
        known = calls.samples_of(name)
        if not known or known[0].family not in variants.ELEMENTWISE:
            continue
        for call in known:
            if call.parity is True and not call.error:
                yield call, answers.of(call) or {}
        for call in variants.of(known):
            yield call, answers.of(call, answers.VARIANTS) or {}


def _units(mine: Any, theirs: Any) -> Any:
    """The distance in units in the last place of the second, where both are ordinary numbers."""
    info = ml_dtypes.finfo(theirs.dtype)
    a, b = mine.astype(np.float64), theirs.astype(np.float64)
    size = np.abs(b)
    least = float(info.smallest_normal)
    ordinary = np.isfinite(a) & np.isfinite(b) & (size > least) & (np.abs(a) > least)
    safe = np.where(ordinary, size, 1.0)
    return np.where(ordinary, np.abs(np.where(ordinary, a - b, 0)) / (safe * float(info.eps)), 0)


# Ops that lose digits on purpose.
LOSING = {
    "Elu": "exp(x) - 1 near 0, as TensorFlow has it",
    "Selu": "exp(x) - 1 near 0, as TensorFlow has it",
}

Row = tuple[float, float | None, float | None]


def measured() -> dict[tuple[str, str, str], Row]:
    """(family, op, dtype) -> distance, ours from the exact result, TensorFlow's from it."""
    rows: dict[tuple[str, str, str], Row] = {}
    for call, answer in recorded():
        if "outputs" not in answer or answer["outputs"][0]["data"] is None:
            continue
        theirs = answers.arrays(answer)[0]
        if theirs.dtype.name not in FLOATING:
            continue
        try:
            mine = calls.eager(call)[0]
        except InvalidArgumentError:
            continue  # a deviation: its reason is in deviations.py
        if mine.shape != theirs.shape or mine.dtype != theirs.dtype:
            continue
        apart = _units(mine, theirs)
        if not apart.size or apart.max() <= MOST:
            continue
        at = np.unravel_index(int(apart.argmax()), apart.shape)
        wide = nearness.exact(call) if theirs.dtype != np.float64 else None
        near = None if wide is None else (_off(mine, wide, at), _off(theirs, wide, at))
        key = (call.family, call.op, theirs.dtype.name)
        row = (float(apart[at]), *(near or (None, None)))
        rows[key] = max(rows.get(key, row), row, key=lambda r: r[0])
    return rows


def _off(array: Any, wide: Any, at: Any) -> float:
    """The distance of an element from what it is in float64, in its own units."""
    right = float(wide[at])
    unit = abs(right) * float(ml_dtypes.finfo(array.dtype).eps)
    return abs(float(array[at]) - right) / unit if unit else 0.0


def reason(family: str, op: str, row: Row) -> str:
    """Why a result is far from TensorFlow's; empty without a reason."""
    _, ours, theirs = row
    if ours is not None and theirs is not None and ours <= MOST < theirs + ours:
        return "TensorFlow's is the one that is off"
    if op in LOSING:
        return LOSING[op]
    return REASONS.get(family, "")


def page() -> str:
    """The text of accuracy.md."""
    lines = [
        "# Elementwise results more than two units from TensorFlow's",
        "",
        "Generated by `python -m tests.parity.accuracy`; do not edit.",
        "Units in the last place: the largest distance of the two, and for dtypes of fewer bits than "
        "float64 the distances of both from the result in float64, at the same place.",
        "",
        "| op | dtype | apart | Intaglio | TensorFlow | why |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    for (family, op, dtype), row in sorted(measured().items()):
        cells = " | ".join("" if v is None else f"{v:.3g}" for v in row)
        lines.append(f"| {op} | {dtype} | {cells} | {reason(family, op, row)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    np.seterr(all="ignore")
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
