"""Error codes, each with a page in the wheel: `intaglio.explain_error("IG017")`.

The pages are sections of the documentation (`python -m docs.error_codes` puts them in
`error_pages.md`). A heading is the message; what differs from one program to another in it, such as names,
numbers and dtypes, is not compared.
"""

from __future__ import annotations

import contextlib
import functools
import pathlib
import re
from typing import NamedTuple

from intaglio.base.hooks import ShownInNotebooks

PAGES = pathlib.Path(__file__).with_name("error_pages.md")
_PAGE = re.compile(r"^<!-- (IG\d{3}) -->\n## (.*?)\n", re.MULTILINE)
# What differs in a message: quoted names, numbers, shapes, dtypes, the branch, what dots stand for.
_OPEN = re.compile(
    r"'[^']*'|`[^`]*`|\([\d, ]+\)|\b\d+\b|\b(?:u?int|float)\d+\b|\b(?:main|else)\b|\.\.\."
)
# Between two words; messages have names in brackets there.
_BETWEEN = r"\s+(?:\([^)]*\)\s+)?"
# A heading whose fixed text is shorter than this is no sign of its message.
MIN_FIXED_CHARACTERS = 12
# These are what messages of tracing come in.
CLASSES = (TypeError, ValueError, NotImplementedError, RuntimeError)


class ErrorPage(ShownInNotebooks, str):
    """The page of an error code, as Markdown; its `code` is `IG` and three digits."""

    __slots__ = ("code",)
    code: str

    __repr__ = str.__str__


class _Known(NamedTuple):
    code: str
    pattern: re.Pattern[str] | None
    text: str


@functools.cache
def _pages() -> tuple[_Known, ...]:
    text = PAGES.read_text(encoding="utf-8")
    heads = list(_PAGE.finditer(text))
    ends = [*[h.start() for h in heads[1:]], len(text)]
    return tuple(
        [
            _Known(h[1], _pattern(h[2]), text[h.start(2) - 3 : end].strip() + "\n")
            for h, end in zip(heads, ends, strict=True)
        ]
    )


def _pattern(heading: str) -> re.Pattern[str] | None:
    parts = [p.strip() for p in _OPEN.split(heading)]
    fixed = [_BETWEEN.join(map(re.escape, p.split())) for p in parts if p]
    if sum(map(len, parts)) < MIN_FIXED_CHARACTERS:
        return None
    return re.compile(r".{0,120}?".join(fixed), re.DOTALL | re.IGNORECASE)


def codes() -> list[str]:
    """All codes."""
    return [known.code for known in _pages()]


def code_of(error: BaseException) -> str | None:
    """The code of an error, or of a warning, by its message; None for one without a page."""
    message = str(error).replace("`", "")
    found = [
        (len(match[0]), known.code)
        for known in _pages()
        if known.pattern is not None and (match := known.pattern.search(message))
    ]
    return max(found)[1] if found else None


def explain_error(code: str | BaseException) -> ErrorPage:
    """The page of an error code, or of an error: what causes it, why, and what to write instead.

    Raises ValueError for a code or error that has none; the message lists the codes.

    >>> import intaglio
    >>> print(intaglio.explain_error("IG018").splitlines()[0])
    ## Iterating over a symbolic `tf.Tensor` is not allowed
    """
    wanted = code.upper() if isinstance(code, str) else code_of(code)
    for known in _pages():
        if known.code == wanted:
            page = ErrorPage(known.text)
            page.code = known.code
            return page
    every = codes()
    raise ValueError(
        f"{code!r} has no page; there are {every[0]} to {every[-1]}: {', '.join(every)}"
    )


def note_code(error: Exception) -> None:
    """Adds the code of an error of tracing to it, as a note below its message."""
    if not isinstance(error, CLASSES) or getattr(error, "__notes__", None):
        return
    with contextlib.suppress(OSError, ValueError):  # the pages cannot be read, or the message
        code = code_of(error)
        if code is not None:
            error.add_note(f"{code}: intaglio.explain_error({code!r}) shows what to write instead.")
