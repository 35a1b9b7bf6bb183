"""The README and the tour print what they say; links lead somewhere; the coverage page is new."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from docs import keras, pages, type_stub
from intaglio.autograph import declared_state
from intaglio.cpython.portable import PORTABLE
from intaglio.opdef import raw
from tests.printing import by_any_python

MARKDOWN = [
    *pages.ROOT.glob("*.md"),
    *(pages.ROOT / "docs").rglob("*.md"),
    *(pages.ROOT / "benchmarks").rglob("*.md"),
]
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(pages.ROOT))


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a page declares is gone after it: state of objects, and ops that are not of families it imported."""
    monkeypatch.setattr(declared_state, "_states", {})
    yield
    for name, declared in raw.catalogue().items():
        if type(declared).__module__ == "page":
            raw.withdraw(name)


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("path", pages.PAGES, ids=name_of)
def test_pages_print_what_they_say(path: pathlib.Path) -> None:
    if PORTABLE and path.name == "compiler.md":
        pytest.skip("it shows what is compiled, which the portable way does not")
    text = path.read_text(encoding="utf-8")
    found = pages.blocks(text)
    assert found, "a page has Python blocks"
    assert text.count("```python\n") == len(found)
    assert by_any_python(pages.rewritten(text)) == text


def test_blocks_share_a_namespace_and_show_their_own_lines() -> None:
    text = "one\n\n```python\nx = 1\n```\n\n```python\nprint(x + 1)\n```\n\n```text\n3\n```\n"
    found = pages.blocks(text)
    assert [(b.line, b.printed) for b in found] == [(3, ""), (7, "3\n")]
    assert pages.printed_by(found) == ["", "2\n"]
    assert pages.rewritten(text) == text.replace("3\n```", "2\n```")


@pytest.mark.parametrize("path", MARKDOWN, ids=name_of)
def test_links_lead_to_files(path: pathlib.Path) -> None:
    for target in _LINK.findall(_FENCED.sub("", path.read_text(encoding="utf-8"))):
        if not target.startswith(("http:", "https:")):
            assert (path.parent / target).exists(), target


def test_the_coverage_page_is_new() -> None:
    # In a process of its own: other tests declare ops.
    run = subprocess.run(
        [sys.executable, "-m", "docs.coverage", "--check"],
        capture_output=True,
        text=True,
        cwd=pages.ROOT,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_types_of_the_name_tensorflow_are_new() -> None:
    assert type_stub.STUB.read_text(encoding="utf-8") == type_stub.stub()


def test_the_page_on_keras_is_new() -> None:
    assert keras.PAGE.read_text(encoding="utf-8") == keras.page()
