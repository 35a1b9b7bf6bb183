"""How Intaglio's op kernels compare with TensorFlow's recorded answers, by family.

python -m tests.parity.table            # a table in Markdown
python -m tests.parity.table --each     # and every sample that differs
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import numpy as np

from tests.ops import calls
from tests.ops.samples import Sample
from tests.parity import answers

COLUMNS = ("bit for bit", "within tolerance", "errors alike", "differ", "not recorded")


def verdict(sample: Sample) -> tuple[str, str]:
    """The column that a sample counts in, and why if it differs."""
    recorded = answers.of(sample)
    if recorded is None:
        return "not recorded", ""
    try:
        got = calls.eager(sample)
    except Exception as e:
        if "error" in recorded:
            kinds = [c.__name__ for c in type(e).__mro__]
            same = recorded["error"][0] in kinds
            return ("errors alike" if same else "differ"), repr(e)
        return "differ", repr(e)
    if "error" in recorded:
        return "differ", f"TensorFlow refuses: {recorded['error']}"
    return _compared(sample, got, answers.arrays(recorded))


def _compared(sample: Sample, got: Any, wanted: Any) -> tuple[str, str]:
    pairs = list(zip(got, wanted, strict=False))
    if len(got) != len(wanted) or any(a.dtype != b.dtype or a.shape != b.shape for a, b in pairs):
        return "differ", "other dtypes or shapes"
    if sample.nondeterministic:
        return "within tolerance", ""
    try:
        for mine, theirs in pairs:
            calls.assert_close(mine, theirs, sample)
    except AssertionError as e:
        return "differ", str(e).splitlines()[0]
    exact = all(_identical(mine, theirs) for mine, theirs in pairs)
    return ("bit for bit" if exact else "within tolerance"), ""


def _identical(mine: np.ndarray, theirs: np.ndarray) -> bool:
    with np.errstate(invalid="ignore"):
        equal = (mine == theirs) | ((mine != mine) & (theirs != theirs))
    return bool(np.all(equal))


def main(each: bool) -> None:
    """Prints the table."""
    rows: dict[str, Counter[str]] = {}
    differing: list[str] = []
    ops: dict[str, set[str]] = {}
    for name in calls.NAMES:
        for sample in calls.samples_of(name):
            if sample.parity is not True:
                continue
            column, why = verdict(sample)
            rows.setdefault(sample.family, Counter())[column] += 1
            ops.setdefault(sample.family, set()).add(name)
            if column == "differ":
                differing.append(f"{sample.label}: {why}")
    print("| family | ops | " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " ---: |" * (len(COLUMNS) + 1))
    for family, counts in sorted(rows.items()):
        cells = " | ".join(str(counts[c]) for c in COLUMNS)
        print(f"| {family} | {len(ops[family])} | {cells} |")
    total: Counter[str] = sum(rows.values(), Counter())
    cells = " | ".join(str(total[c]) for c in COLUMNS)
    print(f"| all | {sum(map(len, ops.values()))} | {cells} |")
    if each:
        print("\n".join(["", *differing]))


if __name__ == "__main__":
    np.seterr(all="ignore")
    main("--each" in sys.argv)
