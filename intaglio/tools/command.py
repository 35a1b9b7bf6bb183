"""The command `intaglio`: `intaglio run script.py`, and `python -m intaglio script.py`.

A program runs as `python` would run it, with the name `tensorflow` meaning Intaglio: the
same `sys.argv`, `__main__`, `sys.path`, tracebacks and exit codes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import intaglio
from intaglio.base import later
from intaglio.tools import children, notebooks, programs

USAGE = """\
usage: intaglio run SCRIPT [ARGUMENT ...]      a Python file, a folder or zip with __main__.py
       intaglio run -m MODULE [ARGUMENT ...]   a module, as `python -m` finds it
       intaglio run NOTEBOOK.ipynb [ARGUMENT ...]
       intaglio run - [ARGUMENT ...]           what standard input has
       intaglio run --explain SCRIPT ...       then says why its functions were traced again
       intaglio explain | report SCRIPT [ARGUMENT ...]
       intaglio coverage SCRIPT ...            what it uses of tf.*, what of it is missing
       intaglio doctor | cache                 this environment; the compiled code on disk
       intaglio activate | deactivate
       intaglio launch -n N SCRIPT [ARGUMENT ...]   as N workers of a cluster on this machine
       intaglio plan SCRIPT [ARGUMENT ...]     what devices send each other in its compiled programs
       intaglio compile MODEL [OPTION ...]     a SavedModel or .keras file as a C library
       intaglio show FILE [--json]             what is in a SavedModel, GraphDef, .keras file,
                                               checkpoint or file of TFRecords
       intaglio run-signature FOLDER --inputs NAME=FILE.npy ...
       intaglio serve FOLDER [--port PORT]     its SavedModels over HTTP
       intaglio --version

`run` runs a TensorFlow program unchanged: `import tensorflow` gives Intaglio in this process.
`python -m intaglio SCRIPT ...` does the same. `activate` makes it so in every process of this
environment, until `deactivate`; the distribution tensorflow-intaglio does it by being installed.
`explain` and `report` run a program and tell about the run. `intaglio COMMAND --help` has their options.
"""
_BAD_USAGE = 2
_ENVIRONMENT = ("activate", "deactivate")
_LOOKING = ("explain", "report", "coverage", "doctor", "cache")
_COMMANDS = ("run", *_ENVIRONMENT, *_LOOKING)
# Commands with options of their own, imported when they are asked for.
_TOOLS = {
    "launch": "intaglio.tools.launching:launch",
    "plan": "intaglio.tools.planning:plan",
    "compile": "intaglio.tools.exporting:compile_model",
    "show": "intaglio.tools.model_files:show",
    "run-signature": "intaglio.tools.model_files:run_signature",
    "serve": "intaglio.serve.command:main",
}
# The extra that brings a package which a command needs.
_EXTRAS = {"starlette": "serve", "uvicorn": "serve"}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns the exit code. Programs that call `sys.exit` raise SystemExit."""
    argv = list(sys.argv[1:] if arguments is None else arguments)
    if not argv or argv[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if argv else _BAD_USAGE
    if argv[0] == "--version":
        print(f"intaglio {intaglio.__version__}")
        return 0
    if argv[0] in _LOOKING:
        return later.named("intaglio.tools.inspection:main")(argv, run)
    if argv[0] in _ENVIRONMENT and len(argv) == 1:
        return later.named("intaglio.tools.activation:change_environment")(argv[0])
    if argv[0] in _TOOLS:
        return _run_tool(argv[0], argv[1:])
    if argv[0] != "run":
        print(f"intaglio: no command {' '.join(argv)!r}\n\n{USAGE}", end="", file=sys.stderr)
        return _BAD_USAGE
    if argv[1:2] == ["--explain"]:
        return main(["explain", *argv[2:]])
    return run(argv[1:])


def _run_tool(name: str, arguments: Sequence[str]) -> int:
    try:
        tool = later.named(_TOOLS[name])
    except ModuleNotFoundError as e:
        if e.name not in _EXTRAS:
            raise
        extra = _EXTRAS[e.name]
        print(f"intaglio {name} needs {e.name}: pip install 'intaglio[{extra}]'", file=sys.stderr)
        return 1
    return tool(arguments)


def main_of_module() -> int:
    """`python -m intaglio ...`: the command, in which `run` may be left out."""
    argv = sys.argv[1:]
    if (
        argv
        and argv[0] not in (*_COMMANDS, *_TOOLS)
        and (argv[0] == "-m" or not argv[0].startswith("-"))
    ):
        return run(argv)
    return main(argv)


def run(arguments: Sequence[str]) -> int:
    """Runs a script, module or notebook with the arguments that follow it."""
    if arguments and arguments[0] == "--":
        arguments = arguments[1:]
    start: Callable[[str, list[str]], int]
    start, rest = programs.run_file, list(arguments)
    if rest and rest[0] == "-m":
        start, rest = programs.run_module, rest[1:]
    elif rest and rest[0].endswith(".ipynb"):
        start = notebooks.run_notebook
    elif rest and rest[0] == "-":
        rest[0] = later.named("intaglio.tools.inspection:from_standard_input")()
    if not rest or rest[0].startswith("-"):
        print(USAGE, end="", file=sys.stderr)
        return _BAD_USAGE
    children.install()
    return start(rest[0], rest[1:])
