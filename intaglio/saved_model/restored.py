"""The parts of a loaded model: objects, functions, signatures.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/load.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from intaglio.base.errors import UnsupportedFileError
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.options import Options
from intaglio.function.polymorphic import Function
from intaglio.function.retracing import Detector
from intaglio.function.signature import Signature
from intaglio.function.trace_types import Literal, from_value
from intaglio.opdef.tensor import Tensor
from intaglio.state.tracking import AutoTrackable
from intaglio.type_specs.trace_type import TraceType, Tracing
from intaglio.type_specs.type_spec import TensorSpec


class Unusable:
    """Stands for a function that has an op which does not exist here."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = name
        self.reason = reason

    def error(self) -> Exception:
        """What a call of the function raises."""
        return UnsupportedFileError(
            f"The function '{self.name}' of the SavedModel cannot run: {self.reason}"
        )


class RestoredFunction(Function):
    """A `tf.function` of a saved model: it has the traces that were saved and makes no others.

    Raises ValueError for a call that none of the saved traces serves.
    """

    def __init__(
        self,
        name: str,
        signature: Signature,
        traces: Sequence[ConcreteFunction | Unusable],
        options: Options,
    ) -> None:
        self.restored_traces = list(traces)

        def restored_function_body(*args: Any, **kwargs: Any) -> Any:
            return self._serve(signature, args, kwargs)

        restored_function_body.__signature__ = signature.as_inspect()
        restored_function_body.__name__ = name
        super().__init__(restored_function_body, name, options)
        self._detector = Detector()  # not the one of all functions with this body

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The saved traces."""
        return [t for t in self.restored_traces if isinstance(t, ConcreteFunction)]

    def _serve(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self.restored_traces:
            raise ValueError("Found zero restored functions for caller function.")
        bound = signature.bind(args, kwargs)
        positional, named = bound.call_with(bound.values)
        for convert in (False, True):
            for trace in self.concrete_functions:
                if serves(trace, bound.names, bound.values, convert):
                    return trace(*positional, **named)
        unusable = [t for t in self.restored_traces if isinstance(t, Unusable)]
        if unusable:
            raise unusable[0].error()
        raise ValueError(self._no_match(positional, named))

    def _no_match(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        options = [
            f"Option {i}:\n  {_positional(expected_args)}\n  Keyword arguments: {expected_kwargs}"
            for i, (expected_args, expected_kwargs) in enumerate(
                [t.structured_input_signature for t in self.concrete_functions], 1
            )
        ]
        listed = "\n\n".join(options)
        return (
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"  {_positional(args)}\n  Keyword arguments: {kwargs}\n\n"
            f" Expected these arguments to match one of the following {len(options)} option(s):\n\n{listed}"
        )


def _positional(args: Sequence[Any]) -> str:
    lines = "".join([f"\n    * {a}" for a in map(_shown, args)])
    return f"Positional arguments ({len(args)} total):{lines}"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, Tensor) else str(value)


def serves(
    trace: ConcreteFunction, names: Sequence[str], values: Sequence[Any], convert: bool
) -> bool:
    """True if the trace takes these arguments; `convert` lets Python values become tensors."""
    parameters = trace.function_type.parameters
    return set(parameters) == set(names) and all(
        _fits(parameters[n].typed, v, convert) for n, v in zip(names, values, strict=True)
    )


def _fits(wanted: TraceType, value: Any, convert: bool) -> bool:
    if isinstance(value, Tensor) or not convert:
        try:
            return _nameless(from_value(value, Tracing())).is_subtype_of(wanted)
        except TypeError:
            return False
    if isinstance(wanted, Literal):
        return wanted == from_value(value, Tracing())
    try:
        wanted.cast(value)
    except (TypeError, ValueError):
        return False
    return True


def _nameless(kind: TraceType) -> TraceType:
    if isinstance(kind, TensorSpec) and kind.name:
        return TensorSpec(kind.dims, kind.dtype)
    return kind


class SignatureMap(Mapping[str, ConcreteFunction]):
    """The signatures of a model by their names; read-only."""

    def __init__(self, functions: Mapping[str, ConcreteFunction | Unusable]) -> None:
        self._functions = dict(functions)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(self)

    def __getitem__(self, key: str) -> ConcreteFunction:
        found = self._functions[key]
        if isinstance(found, Unusable):
            raise found.error()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._functions!r})"


def user_object() -> AutoTrackable:
    """An object without attributes, of a class of its own so that it can become callable."""
    return type("_UserObject", (AutoTrackable,), {})()


def set_child(owner: Any, name: str, value: Any) -> None:
    """Makes `value` the attribute `name`; `__call__` makes the object callable."""
    setattr(owner, name, value)
    if name == "__call__":
        type(owner).__call__ = _call


def _call(instance: Any, *args: Any, **kwargs: Any) -> Any:
    return instance.__dict__["__call__"](*args, **kwargs)


def signature_of(spec: Any, name: str) -> Signature:
    """The signature of a `FullArgSpec`; `spec` is the decoded named tuple."""
    kinds = inspect.Parameter
    empty = kinds.empty
    args, defaults = list(spec.args), list(spec.defaults or ())
    filled = [empty] * (len(args) - len(defaults)) + defaults
    found = [
        kinds(n, kinds.POSITIONAL_OR_KEYWORD, default=d) for n, d in zip(args, filled, strict=True)
    ]
    if spec.varargs:
        found.append(kinds(spec.varargs, kinds.VAR_POSITIONAL))
    named = spec.kwonlydefaults or {}
    found += [
        kinds(n, kinds.KEYWORD_ONLY, default=named.get(n, empty)) for n in spec.kwonlyargs or ()
    ]
    if spec.varkw:
        found.append(kinds(spec.varkw, kinds.VAR_KEYWORD))
    return Signature(found, name)
