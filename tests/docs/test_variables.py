"""The table of environment variables has those that the package reads, and no others."""

import re

from tests.architecture.sources import PACKAGE, ROOT, text_of

_NAME = re.compile(r"\bINTAGLIO_[A-Z_]+\b")


def test_table() -> None:
    page = (ROOT / "docs" / "control.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(INTAGLIO_[A-Z_]+)` \|", page, re.MULTILINE)
    assert listed == sorted(listed)
    read = {name for path in PACKAGE for name in _NAME.findall(text_of(path))}
    assert set(listed) == read
