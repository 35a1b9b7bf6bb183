"""Decides, when Python starts, what `import tensorflow` gives: it never is in doubt.

It is Intaglio, unless a TensorFlow is installed in the same environment: then importing it is an
error that says what to do. `INTAGLIO_TENSORFLOW` in the environment decides for a process and its
children: 1 for Intaglio in any case, 0 for what there is without it.
"""

from __future__ import annotations

import importlib.machinery as machinery
import os
import sys

# Every start of Python imports this module: what only type checkers need is not imported.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import types
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

VARIABLE = "INTAGLIO_TENSORFLOW"
MODULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")
_NAME = "tensorflow"

_BOTH = """\
`import tensorflow` is ambiguous here: TensorFlow is installed, in {other}, and so is Intaglio under \
its name, in {here}. Keep one of them:
  for TensorFlow  pip uninstall tensorflow-intaglio (or, where it was activated: intaglio deactivate)
  for Intaglio    the same, then pip uninstall tensorflow, and pip install tensorflow-intaglio
{variable}=1 in the environment takes Intaglio for one process and its children, {variable}=0 \
TensorFlow."""


class Finder:
    """Finds the module `tensorflow`, and nothing else, where there are two."""

    def __init__(self, other: str | None) -> None:
        """`other` is the folder of the other one, None to find Intaglio's."""
        self._other = other

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module of Intaglio, or one that cannot be imported."""
        if name != _NAME:
            return None
        if self._other is None:
            return machinery.PathFinder.find_spec(name, [MODULES])
        # Programs that only ask whether there is a TensorFlow go on.
        return machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # a loader by its methods

    def create_module(self, spec: ModuleSpec) -> None:
        """Raises ImportError, which names both."""
        text = _BOTH.format(other=self._other, here=MODULES, variable=VARIABLE)
        raise ImportError(text, name=spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Never reached; importlib wants it."""


def other_tensorflow(paths: Sequence[str]) -> str | None:
    """The folder of a module `tensorflow` on the way to Intaglio's, None if there is none."""
    for path in paths:
        if path == MODULES:
            return None
        folder = os.path.join(path, _NAME)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return folder
    return None


def start() -> None:
    """Changes what `import tensorflow` finds, if there is anything to decide."""
    choice = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    if choice == "0":
        if MODULES in sys.path:
            sys.path.remove(MODULES)
        return
    other = other_tensorflow(sys.path)
    if other is not None:
        sys.meta_path.insert(0, Finder(None if choice == "1" else other))
