"""Virtual environments for tests: without a network, with the packages that the tests run with."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence

ROOT = pathlib.Path(__file__).parents[2]


class Environment:
    """A virtual environment that has what this Python has, and Intaglio from its source."""

    def __init__(self, folder: pathlib.Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.folder = folder
        scheme = {"base": str(folder), "platbase": str(folder)}
        self.packages = pathlib.Path(sysconfig.get_path("purelib", "venv", vars=scheme))
        scripts = pathlib.Path(sysconfig.get_path("scripts", "venv", vars=scheme))
        self.python = scripts / os.path.basename(sys.executable)
        paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        (self.packages / "a_tests.pth").write_text("\n".join(dict.fromkeys(paths)) + "\n")

    def run(self, arguments: Sequence[str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Python of the environment with these arguments, in its folder."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "INTAGLIO_TENSORFLOW", "PYTEST"))
        }
        return subprocess.run(
            [str(self.python), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={**inherited, **environment},
        )

    def printed(self, program: str, **environment: str) -> str:
        """What a program prints; it must end well."""
        done = self.run(["-c", program], **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def add_package(self, name: str, version: str) -> None:
        """A package and its metadata, as an installer would lay them out."""
        (self.packages / name).mkdir()
        (self.packages / name / "__init__.py").write_text(f"__version__ = {version!r}\n")
        metadata = self.packages / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        (metadata / "INSTALLER").write_text("pip\n")
