"""Writes docs/beyond.md: what Intaglio has that TensorFlow lacks, each row proved by a program.

    python -m docs.beyond            runs the programs and writes the page
    python -m docs.beyond --check    fails if the page is not what would be written

A row is a file `docs/beyond/NN_name.py`: its number, what it shows as its docstring, and a program
that fails unless it is so. A row whose program fails is shown as failing.
"""

from __future__ import annotations

import ast
import contextlib
import io
import logging
import pathlib
import runpy
import sys
from typing import NamedTuple

from docs.generated import put

ROOT = pathlib.Path(__file__).parent
FOLDER = ROOT / "beyond"
PAGE = ROOT / "beyond.md"
HEAD = """# Beyond TensorFlow

What Intaglio has and TensorFlow lacks. Each row is a program, which runs whenever this page is generated or
tested: `python -m docs.beyond`. All of it is in `intaglio`, or an attribute of what `tf.function` returns:
programs stay runnable on TensorFlow.

| # | feature | works |
| --- | --- | --- |
"""


class Row(NamedTuple):
    """One row: its number, what it shows, and the program."""

    number: int
    title: str
    path: pathlib.Path

    @property
    def code(self) -> str:
        """The program without its docstring."""
        text = self.path.read_text(encoding="utf-8")
        first = ast.parse(text).body[0]
        return "\n".join(text.splitlines()[first.end_lineno :]).strip()


def rows() -> list[Row]:
    """All rows, by number."""
    found: list[Row] = []
    for path in FOLDER.glob("[0-9]*.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found.append(Row(int(path.name[:2]), " ".join(text.split()), path))
    return sorted(found)


def run(row: Row) -> None:
    """Runs the program of a row. Raises what it raises."""
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(str(row.path))
    finally:
        logger.setLevel(level)


def works(row: Row) -> bool:
    """True if the program of a row runs to its end."""
    try:
        run(row)
    except Exception as e:
        print(f"{row.path.name}: {type(e).__name__}: {e}", file=sys.stderr)
        return False
    return True


def page() -> str:
    """The text of the page."""
    found = rows()
    marks = {row.number: "yes" if works(row) else "no" for row in found}
    lines = [f"| [{r.number}](#row-{r.number}) | {r.title} | {marks[r.number]} |" for r in found]
    parts = [f"## Row {r.number}\n\n{r.title}\n\n```python\n{r.code}\n```\n" for r in found]
    return HEAD + "\n".join(lines) + "\n\n" + "\n".join(parts)


if __name__ == "__main__":
    sys.exit(put(PAGE, page(), "--check" in sys.argv))
