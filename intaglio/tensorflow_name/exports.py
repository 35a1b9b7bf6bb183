"""`tensorflow.python.util.tf_export`: decorators that say under which names a symbol is public."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

from intaglio.opdef import dispatch

# name -> symbol, of the libraries that register themselves here.
_SYMBOLS: dict[str, Any] = {}
_NAMES: dict[int, str] = {}
# Before the names that a symbol has in TensorFlow 1: another symbol may have them in TensorFlow 2.
_OLD = "compat.v1."


class api_export:  # TensorFlow's name
    """A decorator for a symbol that is public under these names, the first one canonical."""

    def __init__(
        self, *names: str, v1: Any = None, allow_multiple_exports: bool = True, **_: Any
    ) -> None:
        self._names = names
        self._old = tuple(f"{_OLD}{name}" for name in (names if v1 is None else v1))

    def __call__(self, symbol: Any) -> Any:
        """The symbol itself."""
        for name in (*self._names, *self._old):
            _SYMBOLS[name] = symbol
        for name in (*self._names, *self._old)[:1]:
            _NAMES.setdefault(id(symbol), name)
        return symbol

    def export_constant(self, module_name: str, name: str) -> None:
        """Says that a constant of a module is public. Nothing asks for it."""


tf_export = keras_export = kwarg_only_export = api_export


@functools.cache
def _canonical() -> dict[int, str]:
    """The canonical name of each public symbol of ours, by identity."""
    table = Path(__file__).with_name("canonical_names.json")
    found: dict[int, str] = {}
    for name in json.loads(table.read_text(encoding="utf-8")):
        symbol = _public(name)
        if symbol is not None:
            found.setdefault(id(symbol), name)
    return found


def _public(name: str) -> Any:
    try:
        return dispatch.public(name)
    except (ImportError, NotImplementedError):  # of a package that is not installed, or absent
        return None


def get_symbol_from_name(name: str) -> Any:
    """The symbol of a name, or None."""
    found = _SYMBOLS.get(name)
    return _public(name) if found is None else found


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = "tensorflow", add_prefix_to_v1_names: bool = False
) -> str | None:
    """The name of a symbol, or None: of a library's that registered it, or of a public one.

    Names that only TensorFlow 1 has begin with "compat.v1." if `add_prefix_to_v1_names`.
    """
    own = _NAMES.get(id(symbol))
    if own is not None:
        return own
    name = _canonical().get(id(symbol)) if api_name == "tensorflow" else None
    if name is None or add_prefix_to_v1_names:
        return name
    return name.removeprefix(_OLD)


def same(symbol: Any) -> Any:
    """The symbol: decorators of `tools.docs.doc_controls` mark what pages leave out."""
    return symbol


def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module (`tensorflow.python.util.all_util`)."""
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]


def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Leaves the module as it is: names that its documentation does not have stay."""


def nothing() -> None:
    """Does nothing."""
