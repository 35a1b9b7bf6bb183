"""The commands that look at a program: `intaglio explain | report | coverage SCRIPT`, `doctor`, `cache`.

Each has `--help` and `--json`. `explain` and `report` run the program and exit as it does; `coverage`
reads it, and exits with 1 if it uses what is missing; `doctor` exits with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import atexit
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import intaglio
from intaglio.base import later
from intaglio.function import registry
from intaglio.insight import run_report
from intaglio.native.llvm import object_cache
from intaglio.tools.source_coverage import coverage_of

MB = 1e6
Run = Callable[[Sequence[str]], int]


def main(arguments: Sequence[str], run: Run) -> int:
    """One of the commands; `run` runs a program. Returns the exit code."""
    parser = _parser()
    options = parser.parse_args(list(arguments))
    return options.act(options, run)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="intaglio", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, act: Any, text: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        added.add_argument("--json", action="store_true", help="print JSON instead of text")
        added.set_defaults(act=act)
        return added

    explain = command("explain", _explain, "run a program, then say why its functions were traced")
    report = command("report", _report, "run a program, and write one file about the run")
    report.add_argument("-o", "--output", default="report.html", help="default: report.html")
    report.add_argument("--redact", action="store_true", help="leave values and arguments out")
    for one in (explain, report):
        one.add_argument("program", help="a script, notebook or folder, or - for stdin")
        one.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    coverage = command(
        "coverage", _coverage, "what a program uses of tf.*, and what of it is missing"
    )
    coverage.add_argument("program", nargs="+", help="Python files or folders, or - for stdin")
    command("doctor", _doctor, "check this environment: versions, compiler, cache, variables")
    cache = command("cache", _cache, "the compiled code that is kept on disk")
    cache.add_argument("action", choices=("ls", "explain", "clear"), nargs="?", default="ls")
    return parser


# -- running programs ---------------------------------------------------------------------------


def _explain(options: argparse.Namespace, run: Run) -> int:
    registry.keep()
    atexit.register(_print_explanations, options.json)
    return run([options.program, *options.arguments])


def _print_explanations(as_json: bool) -> None:
    functions = run_report.report().functions
    if as_json:
        print(json.dumps([f._asdict() for f in functions], indent=1))
        return
    again = [f for f in functions if f.retraces]
    print(f"\n{len(functions)} traced functions, {len(again)} of them traced more than once")
    for found in again:
        print(f"\n{found.name} ({found.where}): {found.traces} traces, {found.trace_seconds:.2f} s")
        for line in found.retraces:
            print(f"  {line}")
    for found in functions:
        for what in (*found.stale, *found.side_effects):
            print(f"{found.name} ({found.where}): {what}")


def _report(options: argparse.Namespace, run: Run) -> int:
    path = pathlib.Path(options.output)
    if options.json:
        path = path.with_suffix(".json")
    atexit.register(lambda: print(f"wrote {path}", file=sys.stderr))
    run_report.begin(str(path), options.redact)
    return run([options.program, *options.arguments])


# -- reading programs ---------------------------------------------------------------------------


def _coverage(options: argparse.Namespace, run: Run) -> int:
    found = coverage_of(options.program)
    if options.json:
        print(json.dumps([use._asdict() for use in found], indent=1))
    else:
        missing = [use for use in found if use.status != "available"]
        print(f"{len(found)} names of TensorFlow, {len(missing)} of them not available")
        for use in missing:
            print(f"  {use.name}: {use.status} ({use.file}:{use.line})")
    return int(any([use.status != "available" for use in found]))


# -- the environment ----------------------------------------------------------------------------


def _version(module: str) -> str | None:
    try:
        return str(later.named(module).__version__)
    except ImportError:
        return None


def _installed(distribution: str) -> str | None:
    """The version of what may not be imported here: Keras imports TensorFlow."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def _tensorflow() -> str | None:
    """The file that `import tensorflow` runs outside of `intaglio run`; None if there is none."""
    found = importlib.util.find_spec("tensorflow")
    return None if found is None else found.origin


def _doctor(options: argparse.Namespace, run: Run) -> int:
    folder = object_cache.folder()
    problems: list[str] = []
    compiler = _version("llvmlite")
    if compiler is None:
        problems.append("no compiler: functions are interpreted (pip install 'intaglio[jit]')")
    if folder is None and os.environ.get("INTAGLIO_CACHE") != "":
        problems.append("compiled code is not kept: the cache's folder cannot be used safely")
    if os.environ.get("INTAGLIO_VERIFY") == "1":
        problems.append("INTAGLIO_VERIFY=1 checks graphs after every pass, which costs time")
    facts: dict[str, Any] = {
        "intaglio": intaglio.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "numpy": _version("numpy"),
        "llvmlite": compiler,
        "keras": _installed("keras"),
        "import tensorflow": _tensorflow(),
        "processors": os.cpu_count(),
        "cache": folder,
        "variables": {n: v for n, v in sorted(os.environ.items()) if n.startswith("INTAGLIO_")},
        "problems": problems,
    }
    if options.json:
        print(json.dumps(facts, indent=1))
    else:
        for name, value in facts.items():
            if name != "problems":
                print(f"{name}: {'not installed' if value is None else value or 'none'}")
        print("\n".join([f"problem: {p}" for p in problems]) or "no problem found")
    return int(bool(problems))


def _cache(options: argparse.Namespace, run: Run) -> int:
    folder = object_cache.folder()
    inside = [] if folder is None else pathlib.Path(folder).iterdir()
    files = [f for f in inside if object_cache.is_ours(f.name)]
    total = sum([f.stat().st_size for f in files])
    if options.action == "clear":
        for file in files:
            file.unlink(missing_ok=True)
    facts = {"folder": folder, "files": len(files), "bytes": total}
    if options.action == "explain":
        facts |= {"chosen by": _chosen_by(), "limit in bytes": object_cache.MAX_FOLDER_BYTES}
    if options.json:
        print(json.dumps({**facts, "action": options.action}, indent=1))
    else:
        done = "removed" if options.action == "clear" else "kept"
        print(f"{facts['folder']}: {len(files)} files, {total / MB:.1f} MB {done}")
        if options.action == "explain":
            print(f"the folder is {_chosen_by()}")
            print(
                f"beyond {object_cache.MAX_FOLDER_BYTES / MB:.0f} MB what was used longest ago goes"
            )
            print("a file is named by its code's text, the processor and the versions: with any")
            print("other of them, code is compiled again and kept beside; traces are not kept")
    return 0


def _chosen_by() -> str:
    """What decides where compiled code is kept."""
    for name in ("INTAGLIO_CACHE", "XDG_CACHE_HOME"):
        if name in os.environ:
            return f"that of {name} in the environment"
    return "the user's own for such things; INTAGLIO_CACHE names another, or none if it is empty"


def from_standard_input() -> str:
    """A file with what standard input has, for `run -`; it goes when the process ends."""
    handle, name = tempfile.mkstemp(suffix=".py", prefix="stdin-")
    with os.fdopen(handle, "wb") as file:
        file.write(sys.stdin.buffer.read())
    atexit.register(lambda: pathlib.Path(name).unlink(missing_ok=True))
    return name
