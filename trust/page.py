"""The tables of docs/trust.md, one section for each command."""

from __future__ import annotations

import datetime
import pathlib
import platform
import re
from collections.abc import Iterable, Sequence

PAGE = pathlib.Path(__file__).parents[1] / "docs" / "trust.md"


def replaced(page: str, section: str, text: str) -> str:
    """The page with `text` between the marks of a section; `ValueError` without the marks."""
    opening, closing = f"<!-- {section} -->", f"<!-- /{section} -->"
    pattern = re.compile(f"{re.escape(opening)}\n.*?{re.escape(closing)}", re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"{PAGE.name} has no section marked {opening}")
    return pattern.sub(lambda _: f"{opening}\n{text.strip()}\n{closing}", page)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def write(section: str, command: str, text: str) -> None:
    """Puts what a command found into its section, with the command and the date."""
    stamp = f"{datetime.date.today():%Y-%m-%d}, Python {platform.python_version()}"
    put(section, f"`{command}`, {stamp}:\n\n{text}")


def put(section: str, content: str) -> None:
    """Replaces a section of the page."""
    new = replaced(PAGE.read_text(encoding="utf-8"), section, content)
    beside = PAGE.with_suffix(".tmp")
    beside.write_text(new, encoding="utf-8")
    beside.replace(PAGE)
    print(f"wrote section {section} of docs/{PAGE.name}")
