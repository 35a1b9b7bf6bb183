"""Every pass on graphs written as text, against the text it has to give.

`INTAGLIO_GOLDEN=write pytest tests/optimize/test_golden.py` writes the results anew; read the
difference before committing it.
"""

from __future__ import annotations

import os
import pathlib

import pytest

from intaglio import tf  # noqa: F401  declares the ops
from intaglio.ir import text, verify
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel
from intaglio.optimize.accumulation import gather_sums
from intaglio.optimize.algebra import ALGEBRA
from intaglio.optimize.broadcasts import BROADCASTS
from intaglio.optimize.common_subexpressions import share_subexpressions
from intaglio.optimize.fold import fold_constants
from intaglio.optimize.handles import share_handles
from intaglio.optimize.hoisting import hoist_products
from intaglio.optimize.inline import inline_calls
from intaglio.optimize.packs import cancel_packs
from intaglio.optimize.pipeline import optimize_attached
from intaglio.optimize.powers import shorten_powers
from intaglio.optimize.trip_count import propagate_trip_counts

FOLDER = pathlib.Path(__file__).parents[1] / "golden"
PASSES = {
    "attached": lambda graph: optimize_attached(graph, Fuel()),
    "handles": share_handles,
    "prune": prune,
    "fold": fold_constants,
    "algebra": lambda graph: prune(ALGEBRA.rewrite(graph)),
    "broadcasts": lambda graph: prune(BROADCASTS.rewrite(graph)),
    "packs": lambda graph: prune(cancel_packs(graph)),
    "powers": lambda graph: prune(shorten_powers(graph)),
    "trip_count": lambda graph: prune(propagate_trip_counts(graph)),
    "hoisting": lambda graph: prune(hoist_products(graph)),
    "accumulation": lambda graph: prune(gather_sums(graph)),
    "share": share_subexpressions,
    "inline": inline_calls,
}
CASES = sorted(p.name.removesuffix(".before.txt") for p in FOLDER.glob("*.before.txt"))


@pytest.mark.parametrize("case", CASES)
def test_pass_gives_the_golden_text(case: str) -> None:
    before = (FOLDER / f"{case}.before.txt").read_text(encoding="utf-8")
    graph = text.parse(before)
    verify.verify(graph)
    changed = PASSES[case.split(".")[0]](graph)
    verify.verify(changed)
    after = FOLDER / f"{case}.after.txt"
    written = text.format_graph(changed)
    if os.environ.get("INTAGLIO_GOLDEN") == "write":
        after.write_text(written, encoding="utf-8")
    assert written == after.read_text(encoding="utf-8")


def test_there_is_a_case_for_every_pass() -> None:
    assert {c.split(".")[0] for c in CASES} == set(PASSES)
