"""The sections of docs/trust.md are replaced one by one."""

from __future__ import annotations

import pytest

from trust import page

TEXT = "head\n<!-- hunt -->\nold\n<!-- /hunt -->\nmiddle\n<!-- fuzz -->\n<!-- /fuzz -->\n"


def test_a_section_is_replaced_and_the_others_stay() -> None:
    new = page.replaced(TEXT, "hunt", "new \\1 text\n")
    assert new == TEXT.replace("old", "new \\1 text")
    assert page.replaced(new, "fuzz", "x").endswith("<!-- fuzz -->\nx\n<!-- /fuzz -->\n")


def test_an_unknown_section_is_an_error() -> None:
    with pytest.raises(ValueError, match="no section marked <!-- soak -->"):
        page.replaced(TEXT, "soak", "x")


def test_tables() -> None:
    assert page.table(["a", "b"], [[1, "x"]]) == "| a | b |\n| --- | --- |\n| 1 | x |"


def test_the_page_has_every_section() -> None:
    for section in ("hunt", "fuzz", "kills", "soak"):
        page.replaced(page.PAGE.read_text(encoding="utf-8"), section, "")
