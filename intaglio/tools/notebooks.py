"""Running notebooks: cell by cell, as Jupyter does.

With IPython in the environment its shell runs the cells: magics, commands of the system, `display`, `await` and
the value of the last line are what they are in Jupyter. Without it, what belongs to IPython is left out.
"""

from __future__ import annotations

import importlib.util
import json
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from intaglio.base import later
from intaglio.tools import children, programs

# Cell magics that run the cell in some way; others have something else than Python in it.
_RUNNING = ("capture", "prun", "time", "timeit")
_FOR_IPYTHON = re.compile(r"\s*(?:[%!]|\?|\w[\w.]*\?+\s*$|[\w\s,]+=\s*[%!])")
# What changes the environment is not done: it may replace what runs the notebook.
_INSTALLERS = re.compile(
    r"\s*(?:sudo\s+)?(?:\S*python3?\s+-m\s+)?(?:pip3?|uv|conda|mamba|apt|apt-get)\s"
)


def run_notebook(path: str, arguments: list[str]) -> int:
    """Runs the code cells of a notebook one after the other, up to the first that raises.

    Commands that install packages are left out, and magics of packages that are not there.
    """
    whole = os.path.abspath(path)
    programs.RUNNERS.add(__file__)

    def execute() -> None:
        with open(whole, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        sys.argv[:] = [path, *arguments]
        programs.replace_first_path(os.path.dirname(whole))
        module = programs.fresh_main(whole)
        run = _in_shell(module) if importlib.util.find_spec("IPython") else _in_python(module)
        with children.also_by_commands():
            for name, source in _code_cells(whole, cells):
                run(name, source)

    return programs.guarded(execute)


def _code_cells(path: str, cells: list[Any]) -> Iterator[tuple[str, str]]:
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            yield f"<{path} cell {number}>", text


# -- with IPython --------------------------------------------------------------------------


def _in_shell(module: Any) -> Callable[[str, str], None]:
    """What runs a cell in a shell of IPython. The shell keeps no history on disk."""
    shell_type = later.named("IPython.core.interactiveshell:InteractiveShell")
    config = later.named("traitlets.config:Config")()
    config.HistoryManager.enabled = False
    shell = shell_type.instance(config=config, user_module=module, user_ns=vars(module))
    names = [""]
    shell.compile.get_code_name = lambda raw_code, transformed_code, number: names[0]
    shell.displayhook.write_output_prompt = lambda: None
    shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None  # raised below
    for method in ("run_line_magic", "run_cell_magic"):
        setattr(shell, method, _lenient(getattr(shell, method)))
    for method in ("system", "getoutput"):
        setattr(shell, method, _without_installing(shell, getattr(shell, method)))
    package = os.path.dirname(later.named("IPython").__file__ or "")
    programs.RUNNERS.update(os.path.join(package, "core", file) for file in _RUNNING_FILES)

    def run(name: str, source: str) -> None:
        names[0] = name
        result = shell.run_cell(source, store_history=True)
        # IPython's own entry is dropped where a traceback looks for a file of the name.
        text = shell.transform_cell(source)
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        result.raise_error()

    return run


_RUNNING_FILES = ("interactiveshell.py", "async_helpers.py", "magic.py")


def _lenient(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that runs a magic: one that is not there, or needs a package that is not, is left out."""
    usage_error = later.named("IPython.core.error:UsageError")

    def run(name: str, *args: Any, **kwargs: Any) -> Any:
        if name in ("pip", "conda", "mamba", "uv"):
            return _left_out(f"%{name}", "it changes the environment")
        depth = kwargs.pop("_stack_depth", 1)
        try:
            return method(name, *args, **{**kwargs, **_deeper(method, depth)})
        except (usage_error, ImportError) as e:
            return _left_out(f"%{name}", e)

    return run


def _deeper(method: Callable[..., Any], depth: int) -> dict[str, int]:
    """For line magics: how far up the frame of the cell is, one more by the function around it."""
    return {"_stack_depth": depth + 1} if method.__name__ == "run_line_magic" else {}


def _without_installing(shell: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    def run(command: str, *args: Any, **kwargs: Any) -> Any:
        command = shell.var_expand(command, depth=1)  # names of the cell, whose frame called this
        if _INSTALLERS.match(command):
            return _left_out(f"!{command}", "it changes the environment")
        return method(command, *args, **kwargs)

    return run


def _left_out(what: str, why: Any) -> None:
    print(f"intaglio: {what} is left out: {why}", file=sys.stderr)


# -- without -------------------------------------------------------------------------------


def _in_python(module: Any) -> Callable[[str, str], None]:
    """What runs a cell without what belongs to IPython: its lines are comments."""
    vars(module)["display"] = lambda *values: print(*map(repr, values), sep="\n")

    def run(name: str, source: str) -> None:
        text = _plain(source)
        # What shows tracebacks and what converts functions find the source here.
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        programs.execute(text, name, module)

    return run


def _plain(source: str) -> str:
    """The lines of a cell that are Python; the others, and what continues them, are comments."""
    first = source.lstrip()
    if first.startswith("%%") and first[2:].split(None, 1)[:1][0] not in _RUNNING:
        return ""
    lines: list[str] = []
    continued = False
    for line in source.splitlines(True):
        if continued or _FOR_IPYTHON.match(line):
            start = "" if continued else f"{line[: len(line) - len(line.lstrip())]}pass  "
            continued = line.rstrip().endswith("\\")
            line = f"{start}# {line.strip().rstrip(chr(92))}\n"
        lines.append(line)
    return "".join(lines)


__all__ = ["run_notebook"]
