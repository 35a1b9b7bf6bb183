"""What depends on nodes of a GraphDef."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def transitive_users(nodes: Iterable[Any], names: Iterable[str]) -> set[str]:
    """These names, and those of all nodes that take their values or wait for them, at any distance."""
    users: dict[str, list[str]] = {}
    for node in nodes:
        for text in node.input:
            users.setdefault(text.removeprefix("^").partition(":")[0], []).append(node.name)
    found: set[str] = set()
    work = list(names)
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += users.get(name, ())
    return found
