"""docs/xla.md, which `python -m docs.xla` writes: it has every op, and ops with a program have one."""

from __future__ import annotations

import pytest

from docs import xla as page
from intaglio.xla import registry
from tests.ops import calls

TEXT = page.PAGE.read_text(encoding="utf-8")
PROGRAMS, _, WITHOUT = TEXT.partition("## Without a program")


def test_every_op_is_on_the_page_once():
    named = {n: TEXT.count(f"`{n}`") for n, op in calls.CATALOGUE.items() if not op.internal}
    wrong = {n: count for n, count in named.items() if count != 1 and n not in page.HEAD}
    assert not wrong, f"run `python -m docs.xla`: {wrong}"


def test_ops_with_a_rule_are_in_the_catalogue():
    assert set(registry.RULES) <= set(calls.CATALOGUE)


@pytest.mark.parametrize("name", ["MatMul", "Tanh", "AdjustContrastv2", "Roll", "Unique", "PyFunc"])
def test_the_page_says_what_the_evaluator_does(name):
    route = page.how(calls.CATALOGUE[name])
    rows = [line for line in TEXT.splitlines() if f"`{name}`" in line]
    assert len(rows) == 1 and rows[0].startswith(f"| {' '.join(route.split())} |")
    assert (rows[0] in PROGRAMS) == (route in ("rule", "scalar", "expression", "kernel", "known"))
