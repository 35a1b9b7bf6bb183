"""What the site is made of: the pages that it names are there, the reference has the public names."""

from __future__ import annotations

import pathlib
import re

import pytest

import intaglio
from docs import site_hooks

ROOT = site_hooks.ROOT
MADE = {"reference/intaglio.md", "changelog.md"}


def test_the_navigation_leads_to_all_pages() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = set(re.findall(r"[\w/-]+\.md", nav))
    pages = {p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")}
    assert named - MADE == {p.as_posix() for p in pages if p.parts[0] != "decisions"}


def test_the_reference_has_every_public_name() -> None:
    text = site_hooks.own_reference()
    for name in ("profile", "picture", "graph_diff", "explain_error", "captures"):
        assert name in intaglio.__all__ and f"### intaglio.{name}\n" in text
    assert "### Function.warmup" in text
    assert "```pycon\n>>>" in text


def test_the_reference_has_every_documented_name_of_tensorflow() -> None:
    pages = {m: site_hooks.tf_reference(m) for m in site_hooks.namespaces()}
    assert {"", "math", "io.gfile", "raw_ops", "experimental.numpy.random"} <= {*pages}
    for module, name in (("", "function"), ("math", "xlogy"), ("data", "Dataset")):
        title = ".".join(["tf", *([module] if module else []), name])
        assert f"### {title}\n\n```py\n{title}(" in pages[module]
        assert f"api_docs/python/{title.replace('.', '/')})" in pages[module]
    assert "tf.raw_ops.MatMul(a: T, b: T; " in pages["raw_ops"]
    assert sum([text.count("\n### tf.") for text in pages.values()]) > 2000


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("[times](../benchmarks/README.md#a)", "[times](benchmarks/README.md#a)"),
        ("[tour](tour/1-tensors.md)", "[tour](tour/1-tensors.md)"),
        ("[code](../intaglio/ir/text.py)", "code (`intaglio/ir/text.py`)"),
        ("[site](https://example.org/a)", "[site](https://example.org/a)"),
        ("```py\nx[0](1)\n```", "```py\nx[0](1)\n```"),
    ],
)
def test_links_to_what_is_no_page_become_paths(markdown: str, shown: str) -> None:
    class Config:
        src_uri = "index.md"

    class Page:
        file = Config

    class Tour:
        src_uri = str(pathlib.PurePosixPath("tour/1-tensors.md"))

    class Times:
        src_uri = "benchmarks/README.md"

    assert site_hooks.on_page_markdown(markdown, Page, None, [Tour, Times]) == shown


def test_diagrams_are_drawn_when_the_site_is_built() -> None:
    drawn = site_hooks.drawn("flowchart TD\n    a[a/]\n    b[b<c/]\n    a --> b\n")
    assert drawn.count("<rect ") == 2 and drawn.count("<path ") == 1
    assert ">a/</text>" in drawn and ">b&lt;c/</text>" in drawn


def test_pages_load_nothing_from_another_host() -> None:
    class Page:
        url = "how-to/retraces.html"

    search = '<script src="https://unpkg.com/iframe-worker/shim"></script>'
    assert 'src="../local_worker.js"' in site_hooks.on_post_page(search, Page, None)
    assert (ROOT / "docs" / "local_worker.js").is_file()
    link = '<a href="https://example.org">'
    assert site_hooks.on_post_page(link, Page, None) == link
    with pytest.raises(ValueError, match="without a network"):
        site_hooks.on_post_page('<script src="https://example.org/x.js">', Page, None)
