"""Names of TensorFlow's private modules, as a table that is read when one of them is imported.

`private_names.json` says where the public symbols stand among the modules that known libraries
import (TensorFlow wrote it: tests/tensorflow_name/record_private_names.py). What is not public
under any name is declared in `names.PRIVATE`.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from intaglio.opdef import raw

# Modules with a function for each op: `python.ops.gen_math_ops.add_v2` is `tf.raw_ops.AddV2`.
_OF_OPS = re.compile(r"python\.ops\.gen_\w+_ops")
# Between the words of an op's name: `L2Loss` is `l2_loss`, `MatMul` is `mat_mul`.
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


# Where TensorFlow has copies of Keras 2, and where it is in the package.
_COPIES = {"python.keras": "tf_keras.src", "python.layers": "tf_keras.src.legacy_tf_layers"}


class OpFunctions(Mapping[str, str]):
    """The targets of functions that are called as ops are, in small letters."""

    def __getitem__(self, name: str) -> str:
        return f"intaglio.opdef.raw:{_op_names()[name]}"

    def __iter__(self) -> Iterator[str]:
        return iter(_op_names())

    def __len__(self) -> int:
        return len(_op_names())


class OfKeras2(Mapping[str, str]):
    """The names of a module of Keras 2, of which TensorFlow has a copy among its private modules."""

    def __init__(self, module: str) -> None:
        self._home = module

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and not name.startswith("__")

    def __getitem__(self, name: str) -> str:
        return f"{self._home}:{name}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _keras_2(module: str) -> str | None:
    """The module of `tf_keras` that a private module of TensorFlow is a copy of, if it is installed."""
    for copy, package in _COPIES.items():
        if module == copy or module.startswith(f"{copy}."):
            found = package + module.removeprefix(copy)
            try:
                return found if importlib.util.find_spec(found) else None
            except ModuleNotFoundError:
                return None
    return None


class PrivateNames(Mapping[str, Mapping[str, str]]):
    """Module, without `tensorflow.` -> name -> target; `declared` comes before the table."""

    def __init__(self, declared: Mapping[str, Mapping[str, str]]) -> None:
        self._declared = declared

    @functools.cached_property
    def _all(self) -> dict[str, dict[str, str]]:
        text = Path(__file__).with_name("private_names.json").read_text("utf-8")
        found: dict[str, dict[str, str]] = {}
        for module, spaces in json.loads(text).items():
            names = found.setdefault(module, {})
            for space, entries in spaces.items():
                for entry in entries:
                    name, _, other = entry.partition("=")
                    names[name] = f"intaglio.tf:{space}.{other or name}".replace(":.", ":")
        for module, names in self._declared.items():
            found.setdefault(module, {}).update(names)
        return found

    def __getitem__(self, module: str) -> Mapping[str, str]:
        if _OF_OPS.fullmatch(module) and module not in self._declared:
            return OpFunctions()
        if module not in self._declared and (copied := _keras_2(module)) is not None:
            return OfKeras2(copied)
        return self._all[module]

    def __contains__(self, module: object) -> bool:
        if not isinstance(module, str) or "." not in module:
            return False
        return bool(_OF_OPS.fullmatch(module)) or module in self._all or bool(_keras_2(module))

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


@functools.cache
def _op_names() -> dict[str, str]:
    return {_WORDS.sub("_", name).lower(): name for name in dir(raw) if name[:1].isupper()}
