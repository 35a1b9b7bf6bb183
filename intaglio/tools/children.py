"""Processes that a program starts by `multiprocessing`: `tensorflow` is Intaglio in them too.

A child that is spawned imports the program's file anew, in a fresh interpreter, and so does the
server from which children are forked. Both are started with a line of code, before which stands here
what makes the name `tensorflow`.
"""

from __future__ import annotations

import os
import sys
import tempfile
import types
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import intaglio
from intaglio.base.import_hooks import after_import
from intaglio.tensorflow_name.names import install_as_tensorflow

# Modules whose code children run, as their command lines name them.
_STARTED = ("multiprocessing.spawn", "multiprocessing.forkserver")
_BEGINNING = """\
try:
    from intaglio.tools.children import install
except ImportError:
    import sys
    sys.path.append({folder!r})
    from intaglio.tools.children import install
install()
"""


def install() -> None:
    """Makes `import tensorflow` give Intaglio in this process, and in those that it starts."""
    install_as_tensorflow()
    if sys.platform == "win32":
        after_import("multiprocessing.spawn", _for_windows)
    else:
        after_import("multiprocessing.util", _for_posix)


# The package `tensorflow` of a folder: it gives its place to Intaglio.
_PACKAGE = """\
import sys
sys.modules.pop("tensorflow", None)
{beginning}
import tensorflow
"""


@contextmanager
def also_by_commands() -> Generator[None]:
    """In the block Pythons that are started by commands have it too, as the cells of notebooks start them.

    A folder with a package of the name is the first of PYTHONPATH, and this Python the first of PATH; both are as
    before after the block.
    """
    before = {name: os.environ.get(name) for name in ("PYTHONPATH", "PATH")}
    with tempfile.TemporaryDirectory(prefix="intaglio-name-") as folder:
        package = os.path.join(folder, "tensorflow")
        os.mkdir(package)
        with open(os.path.join(package, "__init__.py"), "w", encoding="utf-8") as file:
            file.write(_PACKAGE.format(beginning=_beginning()))
        first = {"PYTHONPATH": folder, "PATH": os.path.dirname(sys.executable)}
        for name, value in first.items():
            os.environ[name] = os.pathsep.join(filter(None, [value, before[name]]))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _beginning() -> str:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(intaglio.__file__)))
    return _BEGINNING.format(folder=folder)


def _for_posix(util: types.ModuleType) -> None:
    start = util.spawnv_passfds

    def spawnv_passfds(path: Any, args: Sequence[Any], passfds: Any) -> Any:
        return start(path, _command(args), passfds)

    util.spawnv_passfds = spawnv_passfds  # type: ignore[attr-defined]  # replaced on purpose


def _for_windows(spawn: types.ModuleType) -> None:
    line = spawn.get_command_line

    def get_command_line(**options: Any) -> Any:
        return _command(line(**options))

    spawn.get_command_line = get_command_line  # type: ignore[attr-defined]  # replaced on purpose


def _command(args: Sequence[Any]) -> list[Any]:
    """A command line whose code begins as the children's has to."""
    changed = list(args)
    for i, text in enumerate(changed[:-1]):
        code = os.fsdecode(changed[i + 1])
        if text in ("-c", b"-c") and any(name in code for name in _STARTED):
            code = _beginning() + code
            changed[i + 1] = code if isinstance(changed[i + 1], str) else os.fsencode(code)
            break
    return changed
