"""`tensorflow.python.framework.ops._gradient_registry`: the gradient function of each op type, to read and replace."""

from __future__ import annotations

import functools
from collections.abc import Iterator, MutableMapping
from typing import Any

from intaglio.autodiff.plan import plan_of
from intaglio.autodiff.registered import REGISTERED, GradientFunction, register
from intaglio.opdef import raw
from intaglio.opdef.op import Op

# Where a function was registered, as far as it is known: file, line, function, source, globals.
_LOCATION = ("UNKNOWN",) * 5


@functools.cache
def _of_rule(op: Op) -> GradientFunction | None:
    """The op's own gradient rule as `function(operation, *output_gradients)`; None if the op has no gradient."""
    plan = plan_of(op)
    if plan is None:
        return None

    def gradient(operation: Any, *grads: Any) -> Any:
        inputs, outputs = list(operation.inputs), list(operation.outputs)
        kept = plan.keep(inputs, outputs, operation.attrs)
        found = plan.call(kept, operation.attrs, grads)
        results = [g() if callable(g) else g for g in found]
        return results[0] if len(results) == 1 else results

    return gradient


def _own(name: str) -> GradientFunction | None:
    """The function that an op type has when the program registers none."""
    op = raw.find(name)
    return None if op is None else _of_rule(op)


class _Entry(dict[str, Any]):
    """What is registered for one op type: its function is under "type"; another one put there replaces it."""

    def __init__(self, name: str, function: GradientFunction | None) -> None:
        super().__init__(type=function, location=_LOCATION)
        self._name = name

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        if key == "type":
            _replace(self._name, value)


def _replace(name: str, function: GradientFunction | None) -> None:
    op = raw.find(name)
    if op is not None and function is _own(name):
        REGISTERED.pop(name, None)
    else:
        REGISTERED[name] = function


class _Entries(MutableMapping[str, dict[str, Any]]):
    """The entries by op type: of ops that have a gradient rule or none on purpose, and what programs register."""

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name in REGISTERED:
            return _Entry(name, REGISTERED[name])
        op = raw.find(name)
        if op is None or ("gradient" not in op.rules and op.differentiable):
            raise KeyError(name)
        return _Entry(name, _own(name))

    def __setitem__(self, name: str, entry: dict[str, Any]) -> None:
        _replace(name, entry["type"])

    def __delitem__(self, name: str) -> None:
        self[name]
        REGISTERED.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*raw.catalogue(), *REGISTERED])
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Registry:
    """Gradient functions by op type."""

    def __init__(self) -> None:
        self._registry = _Entries()

    def register(self, candidate: GradientFunction | None, name: str | None = None) -> None:
        """Registers a function, under its own name if none is given. Raises KeyError if the name is taken."""
        register(name or getattr(candidate, "__name__", ""), candidate)

    def list(self) -> list[str]:
        """The names."""
        return [*self._registry]

    def lookup(self, name: str) -> GradientFunction | None:
        """The function; None if the op type is not differentiable. Raises LookupError if none is registered."""
        try:
            return self._registry[name]["type"]
        except KeyError:
            raise LookupError(f"gradient registry has no entry for: {name}") from None


REGISTRY = Registry()
