"""Pages that are generated as a whole."""

from __future__ import annotations

import pathlib


def put(page: pathlib.Path, text: str, check: bool) -> int:
    """Writes a page, or only checks that it is up to date; returns the exit status."""
    if not check:
        page.write_text(text, encoding="utf-8")
        print(f"wrote {page.name}")
    elif not page.exists() or page.read_text(encoding="utf-8") != text:
        print(f"docs/{page.name} is out of date: run `make docs`")
        return 1
    return 0
