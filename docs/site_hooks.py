"""What `make site` adds to the pages: the reference, made of docstrings, and the files beside `docs/`.

The hooks of https://www.mkdocs.org/user-guide/configuration/#hooks. Links from a page to a file of the
repository that is no page, such as a decision's code, are shown as its path.
"""

from __future__ import annotations

import html
import inspect
import pathlib
import re
from typing import Any

from intaglio.insight.layout import layout

ROOT = pathlib.Path(__file__).parents[1]
# Public names by module: those with a docstring of their own.
MODULES = ("", "nn", "math", "linalg", "data", "random", "signal", "strings", "image", "sparse")
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Adds the decisions to the navigation."""
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    config.nav.insert(-1, {"Decisions": [f"decisions/{p.name}" for p in decisions]})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made here."""
    from mkdocs.structure.files import File

    made = {
        "reference/intaglio.md": own_reference(),
        "reference/tf.md": tf_reference(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links to files that are no pages of the site become their paths."""
    folder = pathlib.PurePosixPath(page.file.src_uri).parent
    pages = {f.src_uri for f in files}

    def link(match: re.Match[str]) -> str:
        text, target = match[1], match[2]
        if not target or "://" in target:
            return match[0]
        whole = pathlib.PurePosixPath(*_normal((folder / target).parts)).as_posix()
        return match[0] if whole in pages else f"{text} (`{whole}`)"

    markdown = _MERMAID.sub(lambda match: drawn(match[1]), markdown)
    parts = re.split(r"(^```.*?^```)", markdown, flags=re.S | re.M)
    return "".join([p if p.startswith("```") else _LINK.sub(link, p) for p in parts])


# The theme would load Mermaid from another host: diagrams are laid out when the site is built.
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```\n", re.S | re.M)
_COLUMN, _ROW, _WIDTH, _HEIGHT = 138, 64, 124, 24  # pixels


def drawn(diagram: str) -> str:
    """A flowchart of Mermaid's, whose lines are `name[label]` and `name --> name`, as SVG for a page."""
    labels = re.findall(r"^ *(\w+)\[(.*)\]$", diagram, re.M)
    numbers = {name: i for i, (name, _) in enumerate(labels)}
    edges = [(numbers[a], numbers[b]) for a, b in re.findall(r"(\w+) --> (\w+)", diagram)]
    found = layout(len(labels), edges).positions
    at = [(x * _COLUMN + _WIDTH / 2 + 4, y * _ROW + _HEIGHT / 2 + 4) for x, y in found]
    width = max(x for x, _ in at) + _WIDTH / 2 + 4
    height = max(y for _, y in at) + _HEIGHT / 2 + 4
    parts = [
        '<div style="overflow-x:auto;color:var(--md-default-fg-color)">'
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="which layer imports which" '
        f'style="width:{width:.0f}px;height:{height:.0f}px;max-width:none">',
        '<g fill="none" stroke="currentColor" stroke-opacity="0.35">',
    ]
    for a, b in edges:
        (x, y), (u, v) = at[a], at[b]
        y, v = y + _HEIGHT / 2, v - _HEIGHT / 2
        middle = (y + v) / 2
        parts.append(
            f'<path d="M{x:.0f} {y:.0f}C{x:.0f} {middle:.0f} {u:.0f} {middle:.0f} {u:.0f} {v:.0f}"/>'
        )
    parts.append('</g><g text-anchor="middle" font-size="12" fill="currentColor">')
    for (_, label), (x, y) in zip(labels, at, strict=True):
        parts.append(
            f'<rect x="{x - _WIDTH / 2:.0f}" y="{y - _HEIGHT / 2:.0f}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
            'style="fill:var(--md-code-bg-color)" stroke="currentColor" stroke-opacity="0.5"/>'
            f'<text x="{x:.0f}" y="{y + 4:.0f}">{html.escape(label)}</text>'
        )
    return "".join([*parts, "</g></svg></div>\n"])


# A script that the theme's plugin `offline` takes from another host: without a network there is no search.
_REMOTE_WORKER = "https://unpkg.com/iframe-worker/shim"
_LOCAL_WORKER = "local_worker.js"


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Pages load nothing from elsewhere. Raises ValueError if one would."""
    depth = page.url.count("/")
    output = output.replace(_REMOTE_WORKER, "../" * depth + _LOCAL_WORKER)
    remote = re.search(
        r'<(?:script|img|link)[^>]*(?:src|href)="?https?://(?!\S*canonical)[^>]*>', output
    )
    if remote is not None:
        raise ValueError(f"{page.url} loads {remote[0]}: the site has to work without a network")
    return output


def _normal(parts: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for part in parts:
        if part == ".." and found:
            found.pop()
        elif part not in (".", ".."):
            found.append(part)
    return found


def documented(title: str, value: Any) -> str:
    """A name with its signature and docstring, as Markdown."""
    try:
        signature = str(inspect.signature(value))
    except (TypeError, ValueError):
        signature = ""
    if len(signature) > 160:
        signature = "(...)"
    text = inspect.cleandoc(inspect.getdoc(value) or "")
    text = re.sub(r"(?m)^(>>>(?:.|\n)*?)(?=\n\n|\Z)", r"```pycon\n\1\n```", text)
    return f"### {title}\n\n```py\n{title}{signature}\n```\n\n{text}\n"


def own_reference() -> str:
    """The names of `intaglio` itself, and what functions and traces have besides TensorFlow's."""
    import intaglio
    from intaglio.function.concrete import ConcreteFunction
    from intaglio.function.polymorphic import Function

    left_out = {"bootstrap", "direct_calls", "ops", "random_state", "__version__"}
    parts = ["# Intaglio's own names\n\nWhat `import intaglio` has besides `intaglio.tf`.\n"]
    parts += [
        documented(f"intaglio.{n}", getattr(intaglio, n))
        for n in sorted(intaglio.__all__)
        if n not in left_out
    ]
    parts.append("## Functions and traces\n")
    for cls in (Function, ConcreteFunction):
        for name, value in sorted(vars(cls).items()):
            ours = "TensorFlow has no such" in (inspect.getdoc(value) or "")
            if ours and not name.startswith("_"):
                parts.append(documented(f"{cls.__name__}.{name}", getattr(value, "fget", value)))
    return "\n".join(parts)


def tf_reference() -> str:
    """The documented names of the chief modules of `tf`."""
    from intaglio import tf

    parts = ["# tf\n\nThe chief modules; `help(tf.name)` has every other name.\n"]
    for module in MODULES:
        home = getattr(tf, module) if module else tf
        parts.append(f"## tf{'.' * bool(module)}{module}\n")
        for name in sorted(getattr(home, "__all__", ())):
            value = getattr(home, name, None)
            if callable(value) and inspect.getdoc(value):
                dotted = ".".join(["tf", *([module] if module else []), name])
                parts.append(documented(dotted, value))
    return "\n".join(parts)
