"""Writes intaglio/insight/error_pages.md, the pages of error codes in the wheel, from the documentation.

    python -m docs.error_codes            writes the file
    python -m docs.error_codes --check    fails if it is out of date

A page is a section of `PAGES` whose heading is followed by `<!-- IGnnn -->`: the heading is the message.
Codes stay what they are; a new section gets the next number.
"""

from __future__ import annotations

import pathlib
import re
import sys

from docs.generated import put
from intaglio.insight.error_codes import PAGES as OUT

ROOT = pathlib.Path(__file__).parent
PAGES = (ROOT / "autograph-messages.md", ROOT / "errors.md")
_SECTION = re.compile(r"^## (?P<head>.*)\n\n<!-- (?P<code>IG\d{3}) -->\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\.md[^)]*\)")


def text() -> str:
    """The file's text."""
    parts: list[str] = []
    for page in PAGES:
        source = page.read_text(encoding="utf-8")
        heads = list(_SECTION.finditer(source))
        for number, head in enumerate(heads):
            end = heads[number + 1].start() if number + 1 < len(heads) else len(source)
            body = _LINK.sub(r"\1", source[head.end() : end].strip())
            parts.append(f"<!-- {head['code']} -->\n## {head['head']}\n\n{body}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(put(OUT, text(), "--check" in sys.argv))
