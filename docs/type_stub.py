"""Writes the types of the module `tensorflow` that environments get: those of `intaglio.tf`, name by name.

    python -m docs.type_stub            writes the stub
    python -m docs.type_stub --check    fails if the stub is not what would be written

Type checkers do not follow the way in which `intaglio.tf` adds up its `__all__`: the stub lists it.
"""

from __future__ import annotations

import pathlib
import sys

from intaglio import tf

ROOT = pathlib.Path(__file__).parents[1]
STUB = ROOT / "intaglio/tools/environment/modules/tensorflow/__init__.pyi"


def stub() -> str:
    """The text of the stub."""
    names = sorted({*tf.__all__, *tf.KERAS, "__version__"})
    lines = "".join([f"    {name} as {name},\n" for name in names])
    return f"# Written by `python -m docs.type_stub`.\n\nfrom intaglio.tf import (\n{lines})\n"


def main(arguments: list[str]) -> int:
    """The command."""
    if "--check" not in arguments:
        STUB.write_text(stub(), encoding="utf-8")
        return 0
    same = STUB.read_text(encoding="utf-8") == stub()
    if not same:
        print(f"{STUB.relative_to(ROOT)} is old: make docs")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
