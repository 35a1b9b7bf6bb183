"""Calls derived from the samples give what TensorFlow gives: numbers, shapes, errors.

The calls are derived (variants.py), TensorFlow's answers are in variants/ (record_variants.py),
and what differs on purpose is in deviations.py.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from intaglio.base import shapes
from tests.ops import calls
from tests.ops.samples import Sample
from tests.parity import answers, deviations, errors, nearness, op_defs, variants, wrong_calls
from tests.parity.test_errors import NAMES, given
from tests.printing import TYPES_PRINTED

# Random ops without a seed, and memory without contents.
WITHOUT_ANSWER = frozenset({"Empty"})
# An attribute says the shape, rightly or wrongly.
WITH_SHAPE = frozenset({"PlaceholderWithDefault"})
# Changes that make a call which a sample or another change has made already.
MOST_LEFT = 40
NO_KERNEL = "NotFoundError"


def outcome(call: Sample) -> tuple[str, str, str] | None:
    """(TensorFlow's class or ACCEPTED, ours, what differs), or None if nothing does."""
    recorded = answers.of(call, answers.VARIANTS)
    theirs = (recorded or {}).get("error", [errors.ACCEPTED])[0]
    if recorded is None or theirs in (errors.CRASH, NO_KERNEL):
        return None  # not asked yet, or no answer to compare with
    try:
        with np.errstate(all="ignore"):
            made = calls.run(call.op, {k: given(v) for k, v in call.args.items()})
    except Exception as e:
        kinds = [kind.__name__ for kind in type(e).__mro__]
        return None if theirs in kinds else (theirs, kinds[0], str(e))
    if theirs != errors.ACCEPTED:
        return theirs, errors.ACCEPTED, ""
    wanted = answers.arrays(recorded)
    if [(a.dtype, a.shape) for a in made] != [(a.dtype, a.shape) for a in wanted]:
        return errors.ACCEPTED, deviations.SHAPES, f"{made}, not {wanted}"
    large = any(o["data"] is None for o in recorded["outputs"])
    if large or call.nondeterministic or call.op in WITHOUT_ANSWER or _unseeded(call):
        return None
    off = nearness.differing(call, made, wanted)
    return None if off is None else (errors.ACCEPTED, deviations.VALUES, off)


def _unseeded(call: Sample) -> bool:
    """True for draws of a random op whose seeds are 0: no two of them are the same."""
    declared = calls.CATALOGUE[call.op].attr_names
    seeds = [call.args.get(n, 0) for n in ("seed", "seed2") if n in declared]
    return bool(seeds) and not any(seeds)


@functools.cache
def outcomes(name: str) -> list[tuple[Sample, tuple[str, str, str] | None]]:
    """The calls that follow from an op's samples, each with what differs."""
    return [(call, outcome(call)) for call in variants.of(calls.samples_of(name))]


@functools.cache
def differing(name: str) -> list[tuple[str, str, str, str, str]]:
    """(op, change, TensorFlow's class, ours, what differs) of the calls that differ."""
    return [
        (name, call.label.partition(": ")[2], *differs)
        for call, differs in outcomes(name)
        if differs is not None
    ]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_variants_are_tensorflows(name):
    unlisted = [
        f"{op}: {change}: TensorFlow {theirs}, Intaglio {ours}: {text}"
        for op, change, theirs, ours, text in differing(name)
        if not any(d.covers(op, change, theirs, ours) for d in deviations.ALL)
    ]
    assert not unlisted, "\n".join(unlisted)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_variants_are_inferred(name):
    """What is inferred with dimensions or ranks unknown allows for what is computed."""
    for call, differs in outcomes(name):
        recorded = answers.of(call, answers.VARIANTS)
        if recorded is None or "error" in recorded or differs is not None:
            continue
        if call.op in WITH_SHAPE:
            continue
        for hidden in ("dims", "rank"):
            try:
                specs, results = calls.traced(call, hidden)
            except Exception:
                continue  # a deviation, or constants are needed: test_variants_are_tensorflows
            for spec, result in zip(specs, results, strict=True):
                made = np.asarray(result)
                where = f"{call!r} with {hidden} hidden: {spec}, but {made.shape}"
                assert spec.dtype.numpy == made.dtype, where
                assert shapes.compatible(spec.shape, made.shape), where


def test_every_declared_dtype_is_recorded():
    left: list[str] = []
    for name in NAMES:
        known = calls.samples_of(name)
        declared = op_defs.read().get(name)
        if declared is None or name in variants.LEFT_OUT or not _has_small(known):
            continue
        changes = {c.label.partition(": ")[2] for c in variants.of(known)}
        for variable, attribute in declared["attrs"].items():
            if attribute["kind"] == "type" and variants.bound(declared, variable):
                wanted = set(variants.allowed(attribute))
                wanted -= variants.had(known, declared, variable)
                left += [
                    f"{name}: {variable} = {t}"
                    for t in wanted
                    if f"{variable} = {t}" not in changes
                ]
    assert len(left) < MOST_LEFT, f"{len(left)}, such as {left[:9]}"


def _has_small(known: list[Sample]) -> bool:
    bases = wrong_calls.bases(known)
    return bool(bases) and variants.elements(bases[0].args) <= variants.MOST_ELEMENTS


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", deviations.OF_VARIANTS, ids=lambda d: d.reason[:40])
@pytest.mark.skipif(not TYPES_PRINTED, reason="the rows are about NumPy 2")
def test_every_row_is_about_something(row):
    named = row.ops.split() or NAMES
    if not any(row.covers(*call[:4]) for name in named for call in differing(name)):
        changes = [
            call.label.partition(": ")[2]
            for name in named
            for call, _ in outcomes(name)
            if answers.of(call, answers.VARIANTS) is None
        ]
        assert any([re.search(row.change, change) for change in changes])
        pytest.skip(
            "its operands are results that this processor rounds otherwise: none were recorded"
        )


def test_most_calls_were_recorded():
    asked = [call for name in NAMES for call, _ in outcomes(name)]
    missing = [c.label for c in asked if answers.of(c, answers.VARIANTS) is None]
    assert len(missing) < len(asked) / 10, (
        f"{len(missing)} of {len(asked)} calls have no recorded answer, such as "
        f"{missing[:5]}: run tests/parity/record_variants.py where TensorFlow is installed"
    )
