"""Running programs as Python does: as `__main__`, with their own arguments and tracebacks."""

from __future__ import annotations

import builtins
import json
import linecache
import os
import runpy
import sys
import types
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from typing import Any

from intaglio.base import origins

# What Python's own command exits with.
_FAILED, _NO_FILE, _INTERRUPTED = 1, 2, 130


def run_file(path: str, arguments: list[str]) -> int:
    """Runs a Python file, or a folder or zip file that has a `__main__.py`."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except IsADirectoryError:
        return _run_container(path, arguments)
    except OSError as cause:
        print(
            f"intaglio: can't open file {path!r}: [Errno {cause.errno}] {cause.strerror}",
            file=sys.stderr,
        )
        return _NO_FILE
    if source.startswith(b"PK\x03\x04"):
        return _run_container(path, arguments)
    whole = os.path.abspath(path)

    def execute() -> None:
        sys.argv[:] = [path, *arguments]
        _replace_first_path(os.path.dirname(whole))
        module = _fresh_main(whole)
        exec(compile(source, whole, "exec", dont_inherit=True), vars(module))

    return _guarded(execute)


def run_module(name: str, arguments: list[str]) -> int:
    """Runs a module or package as `python -m` does."""

    def execute() -> None:
        sys.argv[:] = ["-m", *arguments]
        _replace_first_path(os.getcwd())
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    return _guarded(execute)


def run_notebook(path: str, arguments: list[str]) -> int:
    """Runs the code cells of a notebook one after the other, each a file of its own.

    Lines that belong to IPython (`%magic`, `!command`) are left out.
    """
    whole = os.path.abspath(path)

    def execute() -> None:
        with open(whole, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        sys.argv[:] = [path, *arguments]
        _replace_first_path(os.path.dirname(whole))
        module = _fresh_main(whole)
        for name, source in _code_cells(whole, cells):
            # What shows tracebacks and what converts functions find the source here.
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            exec(compile(source, name, "exec", dont_inherit=True), vars(module))

    return _guarded(execute)


def _code_cells(path: str, cells: list[Any]) -> Iterator[tuple[str, str]]:
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] != "code":
            continue
        text = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
        if text.startswith("%%"):
            continue
        lines = [
            f"{line[: len(line) - len(line.lstrip())]}pass  # {line.lstrip()}"
            if line.lstrip().startswith(("%", "!"))
            else line
            for line in text.splitlines(True)
        ]
        yield f"<{path} cell {number}>", "".join(lines)


def _run_container(path: str, arguments: list[str]) -> int:
    def execute() -> None:
        sys.argv[:] = [path, *arguments]
        _replace_first_path(None)
        runpy.run_path(path, run_name="__main__")

    return _guarded(execute)


def _replace_first_path(folder: str | None) -> None:
    """Replaces Python's first folder of modules, that of the command, by the program's."""
    if sys.flags.safe_path:
        return
    sys.path[:1] = [] if folder is None else [folder]


def _fresh_main(path: str) -> types.ModuleType:
    """An empty `__main__` for a program; it stays after the program, for what runs at exit."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    module.__builtins__ = builtins  # type: ignore[attr-defined]  # as Python has it in __main__
    sys.modules["__main__"] = module
    return module


def _guarded(execute: Callable[[], None]) -> int:
    """Runs a program; an error of it is shown without the frames of this file."""
    origins.runs_programs(__file__)
    try:
        execute()
    except SystemExit:
        raise
    except BaseException as error:
        inner = _of_program(error.__traceback__)
        if inner is None and isinstance(error, ImportError):
            print(f"intaglio: {error}", file=sys.stderr)  # no module to begin with
        else:
            sys.excepthook(type(error), error.with_traceback(inner), inner)
        return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED
    return 0


def _of_program(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without its first frames, those of this file and of runpy."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename in _OURS:
        traceback = traceback.tb_next
    return traceback


_OURS = (__file__, runpy.__file__, "<frozen runpy>")
