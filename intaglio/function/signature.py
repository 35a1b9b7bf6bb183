"""Signatures of traced functions: how arguments are bound, typed and cast.

Binding brings every form of a call (positions, keywords, defaults, `*args`, `**kwargs`)
into one form: a value for each parameter, extra positions as parameters `args_0`, `args_1`, ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType as PythonFunction
from typing import Any, NamedTuple

from intaglio.base import nest
from intaglio.function.trace_types import from_value
from intaglio.type_specs.trace_type import TraceType, Tracing
from intaglio.type_specs.type_spec import TypeSpec

POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
POSITIONAL_OR_KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD
VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
EMPTY = inspect.Parameter.empty
_DEFAULT = "<captured_default_value>"


class Parameter(NamedTuple):
    """A parameter of a trace: its name, kind and type."""

    name: str
    kind: Any
    type_constraint: TraceType | None
    optional: bool = False
    default: Any = EMPTY

    @property
    def typed(self) -> TraceType:
        """The type; for the parameters of traces, which all have one."""
        assert self.type_constraint is not None
        return self.type_constraint

    def __str__(self) -> str:
        star = {VAR_POSITIONAL: "*", VAR_KEYWORD: "**"}.get(self.kind, "")
        if self.type_constraint is None:
            default = "" if self.default is EMPTY else f"={self.default!r}"
            return f"{star}{self.name}{default}"
        default = f" = {_DEFAULT}" if self.optional else ""
        return f"{star}{self.name}: {self.type_constraint!r}{default}"


class FunctionType:
    """The types of a trace: parameters, output and captures. `tf.types.experimental.FunctionType`."""

    __slots__ = ("captures", "output", "parameters")

    def __init__(
        self,
        parameters: Sequence[Parameter],
        output: TraceType | None = None,
        captures: Mapping[Any, TraceType] | None = None,
    ) -> None:
        self.parameters: dict[str, Parameter] = {p.name: p for p in parameters}
        self.output = output
        self.captures: dict[Any, TraceType] = dict(captures) if captures else {}

    @classmethod
    def from_callable(cls, obj: Any, *, follow_wrapped: bool = True) -> FunctionType:
        """The parameters of a callable, without types."""
        found = inspect.signature(obj, follow_wrapped=follow_wrapped)
        return cls(
            [
                Parameter(p.name, p.kind, None, p.default is not EMPTY, p.default)
                for p in found.parameters.values()
            ]
        )

    @property
    def flat_inputs(self) -> list[TraceType]:
        """The TensorSpecs of the tensors that a call passes, in order."""
        kinds = [p.type_constraint for p in in_call_order(self.parameters.values())]
        return [t for kind in kinds if kind is not None for t in kind.flatten()]

    @property
    def flat_captures(self) -> list[TraceType]:
        """The TensorSpecs of what is captured."""
        return [t for c in self.captures.values() for t in c.flatten()]

    @property
    def flat_outputs(self) -> list[TraceType]:
        """The TensorSpecs of the outputs."""
        return [] if self.output is None else self.output.flatten()

    def pack_output(self, flat_values: Sequence[Any]) -> Any:
        """Flat outputs in the structure that the function returned."""
        if self.output is None:
            raise ValueError("Can not pack outputs for undefined output type.")
        return self.output.from_tensors(iter(flat_values))

    def is_supertype_of(self, other: FunctionType) -> bool:
        """True if a trace of this type serves calls of the other."""
        own, others = self.parameters, other.parameters
        return list(own) == list(others) and all(
            others[n].typed.is_subtype_of(own[n].typed) for n in own
        )

    def most_specific_common_subtype(self, others: Sequence[FunctionType]) -> FunctionType | None:
        """The type that serves the calls of this one and of all the others, or None."""
        names = list(self.parameters)
        if any(list(other.parameters) != names for other in others):
            return None
        merged: list[Parameter] = []
        for name, p in self.parameters.items():
            joined = p.typed.most_specific_common_supertype(
                [o.parameters[name].typed for o in others]
            )
            if joined is None:
                return None
            merged.append(p._replace(type_constraint=joined))
        return FunctionType(merged)

    def bind(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """A value for each parameter. Raises TypeError as calling a Python function does."""
        found: dict[str, Any] = {}
        positional = [p for p in self.parameters.values() if p.kind is not KEYWORD_ONLY]
        if len(args) > len(positional):
            raise TypeError("too many positional arguments")
        for p, value in zip(positional, args, strict=False):
            found[p.name] = value
        for name, value in kwargs.items():
            p = self.parameters.get(name)
            if p is None or p.kind is POSITIONAL_ONLY:
                continue
            if name in found:
                raise TypeError(f"multiple values for argument {name!r}")
            found[name] = value
        for name in self.parameters:
            if name not in found:
                raise TypeError(f"missing a required argument: {name!r}")
        for name in kwargs:
            p = self.parameters.get(name)
            if p is None or p.kind is POSITIONAL_ONLY:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        return found

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FunctionType)
            and list(self.parameters.values()) == list(other.parameters.values())
            and self.output == other.output
        )

    def __hash__(self) -> int:
        return hash(tuple(self.parameters.values()))

    def __str__(self) -> str:
        inner = ", ".join(_with_separators(list(self.parameters.values())))
        arrow = "" if self.output is None else f" -> {self.output!r}"
        return f"({inner}){arrow}"

    def __repr__(self) -> str:
        lines = [
            f"  {p.name} ({p.kind.name}): {p.type_constraint!r}" for p in self.parameters.values()
        ]
        captures = [f"  {k}: {v!r}" for k, v in self.captures.items()] or ["  None"]
        return "\n".join(
            [
                "Input Parameters:",
                *lines,
                "Output Type:",
                f"  {self.output!r}",
                "Captures:",
                *captures,
            ]
        )


def in_call_order(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Parameters in the order in which calls pass their tensors: keyword-only ones by name."""
    return sorted(parameters, key=lambda p: p.name if p.kind in (KEYWORD_ONLY, VAR_KEYWORD) else "")


def _with_separators(parameters: Sequence[Parameter]) -> list[str]:
    """The parameters as text, `/` and `*` where Python writes them."""
    shown: list[str] = []
    starred = False
    for p, after in zip(parameters, [*parameters, None][1:], strict=True):
        if p.kind is KEYWORD_ONLY and not starred:
            shown.append("*")
        starred = starred or p.kind in (KEYWORD_ONLY, VAR_POSITIONAL)
        shown.append(str(p))
        if p.kind is POSITIONAL_ONLY and (after is None or after.kind is not POSITIONAL_ONLY):
            shown.append("/")
    return shown


class Signature:
    """The signature of a Python function: binds calls of any form.

    `constraints` are the types of an `input_signature`, in the order of the parameters.
    """

    def __init__(self, parameters: Sequence[inspect.Parameter], name: str) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.positional = [
            p for p in parameters if p.kind in (POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD)
        ]
        self.varargs = next((p for p in parameters if p.kind is VAR_POSITIONAL), None)
        self.keyword_only = sorted(  # calls pass the tensors of keyword-only arguments by name
            [p for p in parameters if p.kind is KEYWORD_ONLY], key=lambda p: p.name
        )
        self.varkw = next((p for p in parameters if p.kind is VAR_KEYWORD), None)
        self.required = len([p for p in self.positional if p.default is EMPTY])
        self.names = tuple([p.name for p in self.positional])
        self.simple = not self.keyword_only
        self.defaults = tuple([p.default for p in self.positional])
        self.default_values = {p.name: p.default for p in parameters if p.default is not EMPTY}

    @classmethod
    def of(cls, function: Callable[..., Any], bound: bool = False) -> Signature:
        """The signature of a callable, without the first parameter if `bound`."""
        parameters = _parameters(function)
        if bound and parameters and parameters[0].kind is not VAR_POSITIONAL:
            parameters = parameters[1:]
        return cls(parameters, getattr(function, "__name__", type(function).__name__))

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        """One value for each parameter. Raises TypeError as Python does."""
        n = len(args)
        if not kwargs and self.simple and self.required <= n <= len(self.names):
            return Bound(self.names, [*args, *self.defaults[n:]], 0, ())
        return self._bind_slowly(args, kwargs)

    def _bind_slowly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
        left = dict(kwargs)
        values: list[Any] = list(args[: len(self.names)])
        extra = args[len(self.names) :]
        if extra and self.varargs is None:
            raise TypeError("too many positional arguments")
        for index, p in enumerate(self.positional):
            named = p.name in left and p.kind is not POSITIONAL_ONLY
            if index < len(values):
                if named:
                    raise TypeError(f"multiple values for argument {p.name!r}")
            elif named:
                values.append(left.pop(p.name))
            elif p.default is EMPTY:
                if p.name in left:
                    raise TypeError(
                        f"{p.name!r} parameter is positional only, but was passed as a keyword"
                    )
                raise TypeError(f"missing a required argument: {p.name!r}")
            else:
                values.append(p.default)
        names = list(self.names)
        for i, value in enumerate(extra):
            names.append(f"{self.varargs.name}_{i}")  # type: ignore[union-attr]  # more arguments than names: there is *args
            values.append(value)
        by_keyword: dict[str, Any] = {}
        for p in self.keyword_only:
            if p.name not in left and p.default is EMPTY:
                raise TypeError(f"missing a required argument: {p.name!r}")
            by_keyword[p.name] = left.pop(p.name, p.default)
        if left and self.varkw is None:
            raise TypeError(f"got an unexpected keyword argument {next(iter(left))!r}")
        keywords = sorted([*by_keyword, *left])
        by_keyword |= left
        values += [by_keyword[name] for name in keywords]
        return Bound((*names, *keywords), values, len(extra), tuple(keywords))

    def kind_of(self, name: str, bound: Bound) -> Any:
        """The `inspect` kind of a bound parameter, as `function_type` shows it."""
        if name in bound.keywords:
            return KEYWORD_ONLY
        if self.varargs is not None:
            return POSITIONAL_ONLY
        for p in self.positional:
            if p.name == name:
                return p.kind
        return POSITIONAL_ONLY

    def default_names(self) -> frozenset[str]:
        """The parameters that have defaults."""
        return frozenset([p.name for p in self.parameters if p.default is not EMPTY])

    @property
    def arg_names(self) -> list[str]:
        """The parameters that positional arguments bind, `*args` left out."""
        return list(self.names)

    @property
    def fullargspec(self) -> inspect.FullArgSpec:
        """The signature as `inspect.getfullargspec` returns it."""
        defaults = [p.default for p in self.positional if p.default is not EMPTY]
        named = {p.name: p.default for p in self.keyword_only if p.default is not EMPTY}
        return inspect.FullArgSpec(
            list(self.names),
            self.varargs.name if self.varargs else None,
            self.varkw.name if self.varkw else None,
            tuple(defaults) or None,
            [p.name for p in self.parameters if p.kind is KEYWORD_ONLY],
            named or None,
            {p.name: p.annotation for p in self.parameters if p.annotation is not EMPTY},
        )

    def untyped(self) -> FunctionType:
        """The parameters without types; defaults are marked, not shown."""
        return FunctionType(
            [
                Parameter(
                    p.name,
                    p.kind,
                    None,
                    p.default is not EMPTY,
                    EMPTY if p.default is EMPTY else _Shown(),
                )
                for p in self.parameters
            ]
        )

    def bind_constraints(self, constraints: Sequence[TraceType]) -> Bound:
        """The types of an input_signature as the arguments of a call."""
        split = len(constraints) - len(self.keyword_only)
        names = [p.name for p in self.keyword_only]
        return self.bind(
            tuple(constraints[:split]), dict(zip(names, constraints[split:], strict=True))
        )

    def as_inspect(self) -> inspect.Signature:
        """The signature as the standard library's object."""
        return inspect.Signature(list(self.parameters))

    def __str__(self) -> str:
        plain: list[inspect.Parameter] = [
            p.replace(annotation=EMPTY, default=EMPTY if p.default is EMPTY else _Shown())
            for p in self.parameters
        ]
        return str(inspect.Signature(plain))


class _Shown:
    def __repr__(self) -> str:
        return _DEFAULT


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters of `inspect.signature`, which takes several times as long for a plain function."""
    if (
        type(function) is not PythonFunction or function.__dict__
    ):  # the object may define `__signature__`
        return list(inspect.signature(function).parameters.values())
    code, annotations = function.__code__, function.__annotations__
    names, count, named = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    defaults: dict[str, Any] = {}
    if function.__defaults__:
        defaults.update(
            zip(
                names[count - len(function.__defaults__) : count],
                function.__defaults__,
                strict=True,
            )
        )
    if function.__kwdefaults__:
        defaults.update(function.__kwdefaults__)
    kinds = [POSITIONAL_ONLY] * code.co_posonlyargcount
    kinds += [POSITIONAL_OR_KEYWORD] * (count - code.co_posonlyargcount)
    order = [*names[:count]]
    at = count + named
    if code.co_flags & inspect.CO_VARARGS:
        order.append(names[at])
        kinds.append(VAR_POSITIONAL)
        at += 1
    order += names[count : count + named]
    kinds += [KEYWORD_ONLY] * named
    if code.co_flags & inspect.CO_VARKEYWORDS:
        order.append(names[at])
        kinds.append(VAR_KEYWORD)
    return [
        inspect.Parameter(
            name, kind, default=defaults.get(name, EMPTY), annotation=annotations.get(name, EMPTY)
        )
        for name, kind in zip(order, kinds, strict=True)
    ]


class Bound(NamedTuple):
    """The arguments of a call in canonical form.

    `extra` is the number of `*args` values, `keywords` the names passed by keyword only.
    """

    names: tuple[str, ...]
    values: list[Any]
    extra: int
    keywords: tuple[str, ...]

    def call_with(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values in the order of `names` as positional and keyword arguments."""
        split = len(self.names) - len(self.keywords)
        return list(values[:split]), dict(zip(self.names[split:], values[split:], strict=True))


def typed(
    signature: Signature, bound: Bound, types: Sequence[TraceType], optional: bool = False
) -> FunctionType:
    """The FunctionType of a call."""
    defaults = signature.default_names() if optional else frozenset()
    # With `*args`, the parameters before are positional only.
    usual = signature.simple and signature.varargs is None and not bound.keywords
    if usual and bound.names == signature.names:
        return FunctionType(
            [
                Parameter(p.name, p.kind, kind, p.name in defaults)
                for p, kind in zip(signature.positional, types, strict=True)
            ]
        )
    parameters = {
        name: Parameter(name, signature.kind_of(name, bound), kind, name in defaults)
        for name, kind in zip(bound.names, types, strict=True)
    }
    positional = len(bound.names) - len(bound.keywords)
    declared = [p.name for p in signature.parameters if p.kind is KEYWORD_ONLY]
    order = dict.fromkeys([*bound.names[:positional], *declared, *bound.keywords])
    return FunctionType([parameters[name] for name in order])


def constraints_of(signature: Signature, input_signature: Any) -> list[TraceType]:
    """The types that an `input_signature` gives the positional parameters.

    Raises TypeError if it is no sequence of specs, or does not fit the parameters.
    """
    if not isinstance(input_signature, (tuple, list)):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(input_signature)}."
        )
    leaves = nest.flatten(input_signature)
    wrong = [v for v in leaves if not isinstance(v, (TypeSpec, TraceType))]
    if wrong:
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
            f"{wrong} with types {[type(v) for v in wrong]}."
        )
    context = Tracing(for_signature=True)
    types = [from_value(v, context) for v in input_signature]
    positional = len(types)
    for p in signature.positional[positional:]:
        if p.default is EMPTY:
            raise TypeError(f"input_signature missing type constraint for {p.name}")
        types.append(from_value(p.default, context))
    for p in signature.keyword_only:
        if p.default is EMPTY:
            raise TypeError(
                f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a default value"
            )
        types.append(from_value(p.default, context))
    over = positional - len(signature.positional)
    if over > 0 and signature.varargs is None:
        raise TypeError(f"input_signature contains {over} extra type constraints.")
    return types


def failed_binding(
    reason: Any, args: tuple[Any, ...], kwargs: dict[str, Any], signature: Any
) -> TypeError:
    """TensorFlow's message for arguments that cannot be bound."""
    return TypeError(
        f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} "
        f"for signature: {signature}."
    )
