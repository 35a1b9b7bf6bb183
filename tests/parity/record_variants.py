"""Asks TensorFlow for the answers to the calls derived from the samples (variants.py).

    path/to/python-with-tensorflow -m tests.parity.record_variants [family ...]

from the repository's root, after `record`, `record_op_defs` and `record_errors`, on which the
calls depend. Writes tests/parity/variants/<family>.json: for every call the outputs, or the
class of the error.
"""

from __future__ import annotations

import sys
from typing import Any

from tests.ops import samples
from tests.parity import answers, errors, forked, record, variants

# Outputs of more characters are not kept: their dtypes and shapes are.
LARGE = 8000


def answer(call: samples.Sample) -> dict[str, Any]:
    """The outputs, or the class of the error without its text."""
    made = record.answer(call)
    if "error" in made:
        return {"error": made["error"][:1]}
    for output in made["outputs"]:
        if len(output["data"]) > LARGE:
            output["data"] = None
    return made


def main(wanted: list[str]) -> None:
    """Records the families named, or all."""
    by_family: dict[str, list[samples.Sample]] = {}
    for known in samples.load().values():
        for call in variants.of(known):
            by_family.setdefault(call.family, []).append(call)
    answers.VARIANTS.mkdir(exist_ok=True)
    for family in wanted or sorted(by_family):
        calls = by_family.get(family, [])
        made = forked.answers(calls, answer, {"error": [errors.CRASH]})
        table: dict[str, Any] = {"_meta": {"tensorflow": record.VERSION}}
        table |= {c.key: a for c, a in zip(calls, made, strict=True)}
        answers.write(answers.VARIANTS / f"{family}.json", table)
        print(f"{family}: {len(calls)} answers", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
