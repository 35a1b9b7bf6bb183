"""Running programs as Python does: as `__main__`, with their own arguments and tracebacks."""

from __future__ import annotations

import builtins
import os
import runpy
import sys
import traceback
import types
from collections.abc import Callable
from importlib.machinery import SourceFileLoader

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

    def run() -> None:
        sys.argv[:] = [path, *arguments]
        replace_first_path(os.path.dirname(whole))
        module = fresh_main(whole)
        execute(source, whole, module)

    return guarded(run)


def run_module(name: str, arguments: list[str]) -> int:
    """Runs a module or package as `python -m` does."""

    def execute() -> None:
        sys.argv[:] = ["-m", *arguments]
        replace_first_path(os.getcwd())
        runpy.run_module(name, run_name="__main__", alter_sys=True)

    return guarded(execute)


def execute(source: str | bytes, name: str, module: types.ModuleType) -> None:
    """Runs the text of a program in a module, under the name that tracebacks show."""
    exec(compile(source, name, "exec", dont_inherit=True), vars(module))


def _run_container(path: str, arguments: list[str]) -> int:
    def execute() -> None:
        sys.argv[:] = [path, *arguments]
        replace_first_path(None)
        runpy.run_path(path, run_name="__main__")

    return guarded(execute)


def replace_first_path(folder: str | None) -> None:
    """Replaces Python's first folder of modules, that of the command, by the program's."""
    if sys.flags.safe_path:
        return
    sys.path[:1] = [] if folder is None else [folder]


def fresh_main(path: str) -> types.ModuleType:
    """An empty `__main__` for a program; it stays after the program, for what runs at exit."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__loader__ = SourceFileLoader("__main__", path)
    module.__builtins__ = builtins  # type: ignore[attr-defined]  # as Python has it in __main__
    sys.modules["__main__"] = module
    return module


def guarded(execute: Callable[[], None]) -> int:
    """Runs a program; an error of it is shown without the frames of what runs it."""
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
            # Python's own function finds no source that is in no file: that of a notebook's cells.
            plain = sys.excepthook is sys.__excepthook__
            show = traceback.print_exception if plain else sys.excepthook
            show(type(error), error.with_traceback(inner), inner)
        return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else _FAILED
    return 0


def _of_program(frames: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without its first frames, those of `RUNNERS`."""
    while frames is not None and frames.tb_frame.f_code.co_filename in RUNNERS:
        frames = frames.tb_next
    return frames


# The files whose functions run programs.
RUNNERS = {__file__, runpy.__file__, "<frozen runpy>"}
