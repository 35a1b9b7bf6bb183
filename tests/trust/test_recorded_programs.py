"""Random programs give what TensorFlow 2.21 gave: `record_programs.py` recorded it."""

from __future__ import annotations

import gzip
import json
import warnings
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from tests.trust import record_programs
from trust import verdicts

PROGRAMS = json.loads(gzip.decompress(record_programs.KEPT.read_bytes()))
GROUPS = 16


@pytest.mark.parametrize("group", range(GROUPS))
def test_programs_give_what_tensorflow_gave(group: int) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wrong = [d for p in PROGRAMS[group::GROUPS] if (d := difference(p))]
    assert not wrong, "\n\n".join(wrong)


def difference(program: dict[str, Any]) -> str:
    """What differs by more than rounding, with the source; empty if nothing does."""
    outcomes = record_programs.outcomes(tf, program)
    for call, (answer, mine) in enumerate(zip(program["answers"], outcomes, strict=False)):
        if isinstance(mine, BaseException):
            return f"{mine!r} in call {call} of\n{program['source']}"
        for i, value in enumerate(answer):
            want, got = record_programs.decoded(value, tf), mine[i]
            if (
                want.dtype != got.dtype
                or want.shape != got.shape
                or differs(program, call, i, want, got)
            ):
                return f"{got!r} for {want!r}, result {i} of call {call} of\n{program['source']}"
    return ""


def differs(program: dict[str, Any], call: int, index: int, want: Any, got: Any) -> bool:
    """Whether rounding does not explain that two arrays differ."""
    if want.tobytes() == got.tobytes():
        return False
    samples: list[Any] = []
    for seed in range(10):
        perturbed = record_programs.outcomes(tf, program, verdicts.Noise(seed))
        if call >= len(perturbed) or isinstance(perturbed[call], BaseException):
            return False  # rounding decides whether it fails
        samples.append(perturbed[call][index])
    if any(s.shape != want.shape for s in samples):
        return False
    return bool(verdicts.differing(want, got, samples)[0].any())


def test_there_are_programs_of_every_kind() -> None:
    text = "\n".join([p["source"] for p in PROGRAMS])
    assert len(PROGRAMS) >= 250
    for kind in ("if ", "for ", "while ", "TensorArray", "GradientTape", "tf.raw_ops."):
        assert kind in text
