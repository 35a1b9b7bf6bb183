"""`intaglio activate` and `deactivate`: `tensorflow` means Intaglio in a whole environment.

The files of `tools/environment/` are copied to where Python looks for packages, with metadata by
which pip finds a `tensorflow`. All of it is listed in the metadata's RECORD, so that `pip uninstall
tensorflow` takes it away too.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import os
import pathlib
import shutil
import sys
import sysconfig

import intaglio
from intaglio.tools.environment import start

VARIABLE = start.VARIABLE
_SOURCE = pathlib.Path(__file__).with_name("environment")
_FOLDER, _START = "tensorflow_intaglio", "tensorflow_intaglio.pth"
_METADATA = "tensorflow.dist-info"
# The distributions that bring a module `tensorflow`.
_DISTRIBUTIONS = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-macos",
    "tensorflow-rocm",
    "intel-tensorflow",
    "tf-nightly",
)


class Refused(Exception):
    """The environment is left as it is; the text says why, and what to do."""


def change_environment(command: str) -> int:
    """The command `activate` or `deactivate`; returns the exit code."""
    try:
        print(activate() if command == "activate" else deactivate())
    except Refused as cause:
        print(f"intaglio: {cause}", file=sys.stderr)
        return 1
    return 0


def activate() -> str:
    """Makes `import tensorflow` give Intaglio in this environment; returns what to tell the user.

    Raises Refused where TensorFlow or tensorflow-intaglio is installed, where the environment is
    the system's, and where it cannot be written to.
    """
    packages = _packages()
    if _installed("tensorflow-intaglio") is not None:
        raise Refused(
            f"tensorflow-intaglio is installed in {sys.prefix}: `import tensorflow` is Intaglio "
            "there already."
        )
    _refuse_tensorflow(packages)
    _refuse_system()
    version = _version()
    metadata = packages / f"tensorflow-{version}.dist-info"
    try:
        _remove(packages)
        shutil.copytree(
            _SOURCE,
            packages / _FOLDER,
            ignore=shutil.ignore_patterns("__pycache__", _METADATA, _START),
        )
        shutil.copytree(_SOURCE / _METADATA, metadata)
        (metadata / "INSTALLER").write_text("intaglio activate\n", encoding="utf-8")
        # Last: from now on Python reads it when it starts.
        shutil.copy(_SOURCE / _START, packages / _START)
        _write_record(packages, metadata)
    except OSError as cause:
        raise Refused(f"cannot write to {packages}: {cause.strerror or cause}") from cause
    return (
        f"`import tensorflow` gives Intaglio {intaglio.__version__} in {sys.prefix} from now on: in "
        "python, pytest,\nnotebooks and the processes that they start. pip takes it for tensorflow "
        f"{version}.\nUndo it with `intaglio deactivate`; {VARIABLE}=0 in the environment is for "
        "one process."
    )


def deactivate() -> str:
    """Takes back what `activate` did; returns what to tell the user.

    Raises Refused where tensorflow-intaglio is installed, which pip removes.
    """
    packages = _packages()
    if _installed("tensorflow-intaglio") is not None:
        raise Refused(
            f"tensorflow-intaglio is installed in {sys.prefix}: remove it with "
            "`pip uninstall tensorflow-intaglio`."
        )
    try:
        removed = _remove(packages)
    except OSError as cause:
        raise Refused(f"cannot change {packages}: {cause.strerror or cause}") from cause
    if not removed:
        return f"Intaglio was not active in {sys.prefix}: nothing to do."
    return f"`import tensorflow` is no longer Intaglio in {sys.prefix}."


def _packages() -> pathlib.Path:
    """Where this Python has its packages."""
    return pathlib.Path(sysconfig.get_path("purelib"))


def _installed(name: str) -> importlib.metadata.Distribution | None:
    """An installed distribution other than what `activate` writes."""
    for found in importlib.metadata.distributions(name=name):
        if (found.read_text("INSTALLER") or "").strip() != "intaglio activate":
            return found
    return None


def _refuse_tensorflow(packages: pathlib.Path) -> None:
    for name in _DISTRIBUTIONS:
        found = _installed(name)
        if found is not None:
            raise Refused(
                f"{name} {found.version} is installed in {found.locate_file('')}, and `import "
                "tensorflow` is left to it. Use an environment without it, or `intaglio run "
                f"program.py` for one program, or `pip uninstall {name}` first."
            )
    folder = packages / "tensorflow"
    if (folder / "__init__.py").is_file():
        raise Refused(
            f"a package `tensorflow` that pip does not know is in {folder}, and `import "
            "tensorflow` is left to it. Remove the folder first, or use another environment."
        )


def _refuse_system() -> None:
    """Refuses what pip refuses too (PEP 668)."""
    marker = pathlib.Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if sys.prefix == sys.base_prefix and marker.is_file():
        raise Refused(
            f"{sys.prefix} belongs to the system. Make an environment of your own: python -m venv "
            ".venv, and install intaglio there."
        )


def _version() -> str:
    """The version of the metadata."""
    text = (_SOURCE / _METADATA / "METADATA").read_text(encoding="utf-8")
    return next(
        line.partition(": ")[2] for line in text.splitlines() if line.startswith("Version: ")
    )


def _remove(packages: pathlib.Path) -> bool:
    """Removes what `activate` has written, the file that Python starts with first."""
    start_file = packages / _START
    found = start_file.exists()
    start_file.unlink(missing_ok=True)
    folders = [packages / _FOLDER]
    for metadata in packages.glob("tensorflow-*.dist-info"):
        installer = metadata / "INSTALLER"
        if installer.is_file() and installer.read_text(encoding="utf-8") == "intaglio activate\n":
            folders.append(metadata)
    for folder in folders:
        if folder.is_dir():
            found = True
            shutil.rmtree(folder)
    return found


def _write_record(packages: pathlib.Path, metadata: pathlib.Path) -> None:
    """The list of the files with their hashes, as pip reads it."""
    lines: list[str] = []
    for folder in (packages / _FOLDER, metadata):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                lines.append(_line(packages, path))
    record = metadata / "RECORD"
    lines += [_line(packages, packages / _START), f"{record.relative_to(packages).as_posix()},,"]
    record.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(packages: pathlib.Path, path: pathlib.Path) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
    name = path.relative_to(packages).as_posix()
    return f"{name},sha256={digest.decode().rstrip('=')},{os.path.getsize(path)}"
