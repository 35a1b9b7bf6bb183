"""The requirements of a test run with the lowest versions that pyproject.toml allows.

    python -m tests.lowest_versions > requirements.txt

One line for each package of the extra `dev`: at the lower bound that `dependencies` or an extra has
for it, or, for the tools of the tests alone, at the version that `dev` has. Runs on a bare Python.
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from typing import Any

PROJECT = pathlib.Path(__file__).parents[1] / "pyproject.toml"
# A requirement: the name, extras, and the version of its first bound.
_FORM = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?(?:>=|==)(?P<version>[\w.]+).*")


def bounds(project: dict[str, Any]) -> dict[str, str]:
    """The lower bound of each requirement of the table `project`, without the extra `dev`, by name.

    Raises ValueError for a requirement without one.
    """
    extras = project["optional-dependencies"]
    stated = [*project["dependencies"], *[r for e, rs in extras.items() if e != "dev" for r in rs]]
    found: dict[str, str] = {}
    for requirement in stated:
        match = _FORM.fullmatch(requirement)
        if match is None:
            raise ValueError(f"{requirement!r} has no lower bound")
        found[match["name"]] = match["version"]
    return found


def lowest(project: dict[str, Any]) -> list[str]:
    """The lines of the requirements for the table `project` of a pyproject.toml."""
    lower = bounds(project)
    pins = [pin.partition("==") for pin in project["optional-dependencies"]["dev"]]
    return [f"{name}=={lower.get(name, version)}" for name, _, version in pins]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"])))
