"""Exported shared libraries in this process, called through ctypes as C programs call them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from intaglio.export.interface import Function, Port
from intaglio.export.library import ExportedLibrary


class _Argument(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("count", ctypes.c_size_t))


class Loaded:
    """A library with a context of its own."""

    def __init__(self, library: ExportedLibrary) -> None:
        self.interface = library.interface
        self.library = ctypes.CDLL(str(library.paths["shared"]))
        self._named("error_text").restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        assert self._named("create")(ctypes.byref(self.context)) == 0

    def _named(self, name: str) -> Any:
        return getattr(self.library, f"{self.interface.name}_{name}")

    def close(self) -> None:
        """Ends the context."""
        assert self._named("destroy")(self.context) == 0

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        rows: int | None = None,
        results: int | None = None,
        **sizes: int,
    ) -> dict[str, Any]:
        """The results by name. Raises RuntimeError, with the text of the error, if there is one.

        `rows` is the number of rows, by default that of the first argument with rows; `results` that of
        which there is memory for results, by default the same.
        """
        function = next(f for f in self.interface.functions if f.name == name)
        arrays = {
            p.label: np.ascontiguousarray(arguments[p.label], p.dtype.numpy)
            for p in function.inputs
        }
        if rows is None:
            counted = [len(arrays[p.label]) for p in function.inputs if p.rows]
            rows = counted[0] if counted else 1
        room = rows if results is None else results
        inputs = _structure(function, function.inputs, arrays, rows, sizes)
        known = self._shapes(function, inputs)
        made = {
            p.label: np.full(known.get(p.name) or _shape(p, room, sizes), 77).astype(p.dtype.numpy)
            for p in function.outputs
        }
        outputs = _structure(function, function.outputs, made, None)
        error = self._named(name)(self.context, ctypes.byref(inputs), ctypes.byref(outputs))
        self._check(error)
        return made

    def _check(self, error: int) -> None:
        if error:
            raise RuntimeError(f"{error}: {self._named('error_text')(error).decode()}")

    def _shapes(self, function: Function, inputs: ctypes.Structure) -> dict[str, tuple[int, ...]]:
        """The shapes of results that depend on sizes, as the library gives them."""
        if not function.shaped:
            return {}
        fields = [(p.name, ctypes.c_size_t * len(p.shape)) for p in function.shaped]
        found = type("Shapes", (ctypes.Structure,), {"_fields_": fields})()
        get = self._named(f"{function.name}_get_shapes")
        self._check(get(ctypes.byref(inputs), ctypes.byref(found)))
        return {p.name: tuple(getattr(found, p.name)) for p in function.shaped}


def _shape(port: Port, rows: int, sizes: dict[str, int]) -> tuple[int, ...]:
    if port.forms:  # a formula of C, of numbers that are no less than 0
        return tuple([eval(f.replace("/", "//"), dict(sizes)) for f in port.forms])
    return (port.shape[0] * rows, *port.shape[1:]) if port.rows else port.shape


def _structure(
    function: Function,
    ports: list[Port],
    arrays: dict[str, Any],
    rows: int | None,
    sizes: dict[str, int] | None = None,
) -> ctypes.Structure:
    has_rows = rows is not None and function.has_rows
    fields: list[Any] = [("rows", ctypes.c_size_t)] if has_rows else []
    named = [] if sizes is None else [s.name for s in function.sizes]
    fields += [(name, ctypes.c_size_t) for name in named]
    fields += [(p.name, _Argument) for p in ports]
    kind = type("Arguments", (ctypes.Structure,), {"_fields_": fields})
    values = [_Argument(arrays[p.label].ctypes.data, arrays[p.label].size) for p in ports]
    numbers = [sizes[name] for name in named] if sizes is not None else []
    return kind(*([rows] if has_rows else []), *numbers, *values)
