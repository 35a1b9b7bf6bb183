"""What `make site` adds to the pages: the reference, made of docstrings, and the files beside `docs/`.

The hooks of https://www.mkdocs.org/user-guide/configuration/#hooks. Links from a page to a file of the
repository that is no page, such as a decision's code, are shown as its path.
"""

from __future__ import annotations

import functools
import html
import inspect
import operator
import pathlib
import posixpath
import re
import types
from typing import Any

from intaglio.insight.layout import layout

ROOT = pathlib.Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
# Namespaces without a page of their own: Keras documents its names, `compat` repeats those of others.
WITHOUT_PAGE = ("keras", "compat", "contrib")
TENSORFLOWS = "https://www.tensorflow.org/api_docs/python/tf/"
_LINK = re.compile(r"\[([^\]\n]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Adds the reference of `tf`, the benchmarks and the decisions to the navigation."""
    names = [f"reference/{page_of(module)}" for module in namespaces()]
    reference = next(item["Reference"] for item in config.nav if "Reference" in item)
    reference.insert(1, {"tf": names})
    measured = sorted(p.name for p in BENCHMARKS.glob("*.md"))
    config.nav.insert(-1, {"Benchmarks": [f"benchmarks/{name}" for name in measured]})
    decisions = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    config.nav.insert(-1, {"Decisions": [f"decisions/{p.name}" for p in decisions]})
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made here."""
    from mkdocs.structure.files import File

    made = {
        "reference/intaglio.md": own_reference(),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
        **{f"reference/{page_of(m)}": tf_reference(m) for m in namespaces()},
    }
    for path in (*BENCHMARKS.glob("*.md"), *BENCHMARKS.glob("*.svg")):
        made[f"benchmarks/{path.name}"] = path.read_text(encoding="utf-8")
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
        if whole not in pages:
            return f"{text} (`{whole}`)"
        return f"[{text}]({posixpath.relpath(whole, folder)}{match[3] or ''})"

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


_PAGE = re.compile(r"https://www\.tensorflow\.org/api_docs/python/[\w/]+")


def documented(title: str, value: Any, link: str = "") -> str:
    """A name with its signature, its docstring and a link, as Markdown."""
    try:
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))
    except (TypeError, ValueError):
        signature = ""
    if hasattr(value, "sig"):  # an op's
        signature = f"({value.sig.text})"
    if len(signature) > 400:
        signature = "(...)"
    text = inspect.cleandoc(inspect.getdoc(value) or "")
    if "](http" not in text and _PAGE.search(text):
        text, link = _PAGE.sub(r"[TensorFlow's page](\g<0>)", text), ""
    text = re.sub(r"(?m)^(>>>(?:.|\n)*?)(?=\n\n|\Z)", r"```pycon\n\1\n```", text)
    return f"### {title}\n\n```py\n{title}{signature}\n```\n\n{text}\n{link}\n"


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


@functools.cache
def namespaces() -> tuple[str, ...]:
    """The public namespaces by their dotted names: "" for `tf` itself, "math", "data.experimental"."""
    from intaglio import tf

    found: dict[str, None] = {}
    pending = [("", tf)]
    while pending:
        dotted, home = pending.pop()
        found[dotted] = None
        for name in public_names(home):
            inner = _value(home, name)
            whole = f"{dotted}.{name}".lstrip(".")
            is_ours = isinstance(inner, types.ModuleType) and inner.__name__.startswith("intaglio.")
            if is_ours and whole not in found and name not in WITHOUT_PAGE:
                pending.append((whole, inner))
    return tuple(sorted(found))


def public_names(home: types.ModuleType) -> list[str]:
    """The names that a namespace shows."""
    return sorted(n for n in dir(home) if not n.startswith("_"))


def _value(home: types.ModuleType, name: str) -> Any:
    """What a public name is; None for what needs a package that is not installed, as Keras."""
    try:
        return getattr(home, name, None)
    except ImportError:
        return None


def page_of(namespace: str) -> str:
    """The file of a namespace's page."""
    return f"tf.{namespace}.md" if namespace else "tf.md"


def tf_reference(namespace: str) -> str:
    """The documented names of a namespace, each with TensorFlow's page about it."""
    from intaglio import tf

    home = operator.attrgetter(namespace)(tf) if namespace else tf
    title = f"tf.{namespace}" if namespace else "tf"
    parts = [f"# {title}\n\n{inspect.getdoc(home) or ''}\n"]
    for name in public_names(home):
        value = _value(home, name)
        if callable(value) and inspect.getdoc(value):
            path = "/".join([*namespace.split("."), name]) if namespace else name
            link = f"\n[TensorFlow's page]({TENSORFLOWS}{path})\n"
            parts.append(documented(f"{title}.{name}", value, link))
    return "\n".join(parts)
