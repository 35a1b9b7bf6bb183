"""Writes the diagrams of docs/architecture.md: which layer, and which layer of native/, imports which.

    python -m docs.layer_diagrams            writes them into the page
    python -m docs.layer_diagrams --check    fails if they are not what would be written

They are generated from the import statements. An arrow is left out where a longer path implies it, so
the diagrams show the direct needs alone; `[tool.importlinter]` has the rules.
"""

from __future__ import annotations

import ast
import functools
import pathlib
import sys
from collections.abc import Iterator

from docs.generated import put

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
# The markers of each diagram in the page: the package whose layers it shows.
PACKAGES = ("intaglio", "intaglio/native")

Edges = dict[str, set[str]]


def layers(package: str) -> list[str]:
    """The folders of a package, in alphabetical order."""
    return sorted(path.parent.name for path in (ROOT / package).glob("*/__init__.py"))


def _imported(path: pathlib.Path) -> Iterator[str]:
    """The modules that a file imports, with those that may be names: `a.b` and `a.b.c`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


def imports(package: str) -> Edges:
    """For each folder of a package the others that its files import."""
    names = layers(package)
    prefix = package.replace("/", ".") + "."
    found: Edges = {name: set() for name in names}
    for name in names:
        for path in sorted((ROOT / package / name).rglob("*.py")):
            for module in _imported(path):
                target = module.removeprefix(prefix).partition(".")[0]
                if module.startswith(prefix) and target in found and target != name:
                    found[name].add(target)
    return found


def reduced(edges: Edges) -> Edges:
    """The edges without those that a longer path implies; in cycles all stay."""

    @functools.cache
    def reachable(start: str) -> frozenset[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in edges[waiting.pop()] - seen:
                seen.add(target)
                waiting.append(target)
        return frozenset(seen)

    return {
        name: {
            target
            for target in targets
            if name in reachable(target)
            or not any(
                target in reachable(other) and name not in reachable(other)
                for other in targets - {target}
            )
        }
        for name, targets in edges.items()
    }


def diagram(package: str) -> str:
    """The Mermaid text for a package."""
    lines = ["```mermaid", "flowchart TD"]
    edges = reduced(imports(package))
    lines += [f"    {name}[{name}/]" for name in edges]
    lines += [f"    {name} --> {target}" for name in edges for target in sorted(edges[name])]
    return "\n".join([*lines, "```"])


def page() -> str:
    """The text of docs/architecture.md with the diagrams as they are now. Raises ValueError."""
    text = PAGE.read_text(encoding="utf-8")
    for package in PACKAGES:
        begin, end = f"<!-- layers of {package} -->", f"<!-- end of layers of {package} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"docs/{PAGE.name} needs one line {begin} and one line {end}")
        head, rest = text.split(begin)
        tail = rest.split(end)[1]
        text = f"{head}{begin}\n\n{diagram(package)}\n\n{end}{tail}"
    return text


def main() -> int:
    """The command; its exit status."""
    return put(PAGE, page(), "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
