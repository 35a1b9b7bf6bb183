"""Adds the metadata of `tensorflow` to the wheel of tensorflow-intaglio.

A wheel has one folder of metadata at its top, its own. The second one goes to the part that is
installed beside the packages, whose folder is named by the version of the wheel. It has no RECORD:
by that pip knows that it is not to remove the files, and says who installed them (INSTALLER).
"""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_METADATA = pathlib.Path("../../intaglio/tools/environment/tensorflow.dist-info")


class TensorflowMetadata(BuildHookInterface[Any]):
    """The build hook of pyproject.toml."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Tells hatchling the files, and where they go."""
        source = pathlib.Path(self.root, _METADATA)
        lines = (source / "METADATA").read_text(encoding="utf-8").splitlines()
        provided = next(line for line in lines if line.startswith("Version: "))[len("Version: ") :]
        installer = pathlib.Path(tempfile.mkdtemp(), "INSTALLER")
        installer.write_text("tensorflow-intaglio\n", encoding="utf-8")
        name = f"tensorflow_intaglio-{self.metadata.version}.data/purelib"
        for path in (*source.iterdir(), installer):
            build_data["force_include"][str(path)] = (
                f"{name}/tensorflow-{provided}.dist-info/{path.name}"
            )
