"""Executes the documents: their Python blocks run in order, and print what follows them.

    python -m docs.pages            fails if a page prints something else than it shows
    python -m docs.pages --write    writes what the blocks print into the pages

A page is a Markdown file. Its ```python blocks share one namespace; a ```text block right
after one of them is what it prints. Blocks of other kinds are left alone.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import types
from dataclasses import dataclass

from intaglio.numpy_api import np_config

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "tour").glob("*.md")),
    ROOT / "docs" / "autograph.md",
    ROOT / "docs" / "autograph-messages.md",
    ROOT / "docs" / "captures.md",
    ROOT / "docs" / "compiler.md",
    ROOT / "docs" / "errors.md",
    ROOT / "docs" / "index.md",
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    ROOT / "docs" / "control.md",
    ROOT / "docs" / "debugging.md",
    ROOT / "docs" / "export.md",
    ROOT / "docs" / "numpy.md",
]
_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass
class Block:
    """One Python block: its code, the output on the page, and its position."""

    code: str
    printed: str
    line: int
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """The Python blocks of a page."""
    return [
        Block(
            match["code"],
            match["printed"] or "",
            text.count("\n", 0, match.start("code")),
            match.start(),
            match.end(),
        )
        for match in _BLOCK.finditer(text)
    ]


def printed_by(found: list[Block]) -> list[str]:
    """What each block prints when they run one after the other."""
    # AutoGraph reads source from a file, and tracebacks show lines: the page's own.
    lines: list[str] = []
    for block in found:
        lines += [""] * (block.line - len(lines)) + block.code.splitlines()
    module = types.ModuleType("page")
    outputs: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "page.py")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        sys.modules["page"] = module
        try:
            for block in found:
                source = "\n" * block.line + block.code
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    exec(compile(source, str(path), "exec"), module.__dict__)
                outputs.append(out.getvalue())
        finally:
            del sys.modules["page"]
            np_config.disable_numpy_behavior()  # what a page enables ends with it
    return outputs


def rewritten(text: str) -> str:
    """The page with what its blocks print now."""
    found = blocks(text)
    for block, out in reversed(list(zip(found, printed_by(found), strict=True))):
        shown = f"\n```text\n{out}```\n" if out else ""
        code = f"```python\n{block.code}```\n"
        text = text[: block.start] + code + shown + text[block.end :]
    return text


def main() -> int:
    """The command; its exit status."""
    status = 0
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        now = rewritten(text)
        if now == text:
            continue
        if "--write" in sys.argv:
            path.write_text(now, encoding="utf-8")
            print(f"wrote {path.name}")
        else:
            print(f"{path.name} does not print what it says: run `make docs`")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
