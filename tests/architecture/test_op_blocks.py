"""An op is one block, and a short one."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator

from tests.architecture.sources import PACKAGE, name_of, tree_of

# What CONTRIBUTING.md says of an op: everything about it in one class, that can be read at once.
MEDIAN = 20
LONGEST = 150


def blocks() -> Iterator[tuple[str, int]]:
    """Every op, with its lines from the decorator to the end of its class."""
    for path in PACKAGE:
        for node in tree_of(path).body:
            decorators = getattr(node, "decorator_list", [])
            if isinstance(node, ast.ClassDef) and any(
                isinstance(d, ast.Name) and d.id == "op" for d in decorators
            ):
                first = min(d.lineno for d in decorators)
                yield (f"{name_of(path)}: {node.name}", (node.end_lineno or 0) - first + 1)


def test_the_median_op_is_short() -> None:
    lines = [size for _, size in blocks()]
    assert len(lines) > 500
    assert statistics.median(lines) < MEDIAN, f"the median op has {statistics.median(lines)} lines"


def test_no_op_is_long() -> None:
    long = {name: size for name, size in blocks() if size > LONGEST}
    assert not long, "what ops share belongs into their family, what is long into functions"
