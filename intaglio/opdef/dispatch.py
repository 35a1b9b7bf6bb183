"""Dispatch: alternative implementations of public functions for composite arguments.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dispatch_for_api. Ragged
tensors and users' extension types are dispatched alike: a *target* is registered for a function and
for annotations of its parameters, and takes the calls that match one of its signatures.

A function that may have targets is decorated where it is defined, `@dispatchable`: the public
function passes its arguments to its *implementation*. That is the function's own body as long as
no target is registered. With the first target it is a check of the types of the
arguments that targets annotate, and calls the body if they are all plain. Types are found to be
plain once and remembered. A function may also be *surrounded*: then one handler takes all calls
that no target takes, of whatever types.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from intaglio.base.composite import CompositeTensor
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.locks import lasting_lock
from intaglio.opdef import levels
from intaglio.opdef.hooks import HOOKS
from intaglio.opdef.tensor import Tensor

Handler = Callable[..., Any]
# The annotation of a parameter: an instance of one of the classes, or a list of such. A call is
# dispatched if one argument is, or a list contains, a composite value.
Annotation = tuple[bool, tuple[Any, ...]]
# The annotations of parameters, by position.
Signature = tuple[tuple[int, Annotation], ...]


# Memoized types of arguments that neither are nor contain composite values.
PLAIN: set[type] = set()


# Functions `handle(function, args, kwargs)` of libraries, called for every call of a public function
# whose arguments are not all known to be plain; see `register_everywhere`.
EVERYWHERE: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = []
NOT_SUPPORTED = object()


class Target:
    """A function that takes the calls of another whose arguments match a signature."""

    __slots__ = ("function", "run", "signatures")

    def __init__(self, function: Handler, signatures: Sequence[Signature], run: Handler) -> None:
        self.function = function
        self.signatures = signatures
        # Executes a call: `run(function, entry, values)`.
        self.run = run

    def takes(self, values: tuple[Any, ...]) -> bool:
        """True if the target is for these arguments."""
        return any(_fits(signature, values) for signature in self.signatures)


def _fits(signature: Signature, values: tuple[Any, ...]) -> bool:
    composite = False
    for index, (of_list, kinds) in signature:
        value = values[index]
        if of_list:
            if not isinstance(value, (list, tuple)) or not value:
                return False
            if not all([isinstance(v, kinds) for v in value]):
                return False
            composite |= any([isinstance(v, CompositeTensor) for v in value])
        elif not isinstance(value, kinds):
            return False
        else:
            composite |= isinstance(value, CompositeTensor)
    return composite


class Chooser(Target):
    """A target that decides by itself which calls it takes."""

    __slots__ = ("test",)

    def __init__(
        self,
        function: Handler,
        test: Callable[[tuple[Any, ...]], bool],
        looks_at: Signature,
        run: Handler,
    ) -> None:
        super().__init__(function, [looks_at], run)
        self.test = test

    def takes(self, values: tuple[Any, ...]) -> bool:
        """True if the target is for these arguments."""
        return self.test(values)


class Entry:
    """A public function with its targets."""

    def __init__(self, function: types.FunctionType, body: types.FunctionType) -> None:
        self.function = function
        self.body = body
        self.signature = inspect.signature(function)
        self.names = tuple(self.signature.parameters)
        self.targets: list[Target] = []
        # Executes the calls that no target takes: `around(entry, values)`.
        self.around: Handler | None = None

    def add(self, target: Target) -> None:
        """Adds a target to the function, and the check of its parameters."""
        self.targets = [*self.targets, target]
        self._implement()

    def remove(self, target: Target) -> None:
        """Removes a target."""
        self.targets = [t for t in self.targets if t is not target]
        self._implement()

    def surround(self, around: Handler | None) -> None:
        """Sets the handler of all calls that no target takes; None removes it."""
        with _lock:
            self.around = around
            self._implement()

    def _implement(self) -> None:
        """Sets the function's implementation: its body, or a check followed by it."""
        closure = self.function.__closure__
        assert closure is not None
        implementation = closure[0]
        if not self.targets and self.around is None and not EVERYWHERE:
            implementation.cell_contents = self.body
            return
        looked_at: dict[int, bool] = {}
        for one in self.targets:
            for signature in one.signatures:
                for index, (of_list, _) in signature:
                    looked_at[index] = looked_at.get(index, False) or of_list
        implementation.cell_contents = _check(self, looked_at)

    def find(self, values: tuple[Any, ...]) -> Any:
        """Executes a call with arguments that are not all known to be plain."""
        for target in self.targets:
            if target.takes(values):
                return target.run(target.function, self, values)
        is_dispatched = self.function not in _WITHOUT_GLOBAL_DISPATCH
        if EVERYWHERE and is_dispatched:
            result = ask_everywhere(self.function, *self._as_written(values))
            if result is not NOT_SUPPORTED:
                return result
        if self.around is not None:
            return self.around(self, values)
        for value in values if is_dispatched else ():
            for item in value if type(value) in (list, tuple) else (value,):
                if not isinstance(item, (CompositeTensor, list, tuple)):
                    PLAIN.add(type(item))
        return self.call_body(values)

    def _as_written(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call that are not defaults."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for value, parameter in zip(values, self.signature.parameters.values(), strict=True):
            if parameter.default is parameter.empty and parameter.kind is not _NAMED:
                args.append(value)
            elif value is not parameter.default:
                kwargs[parameter.name] = value
        return tuple(args), kwargs

    def call_body(self, values: tuple[Any, ...]) -> Any:
        """Calls the function's own body."""
        named = len(self.function.__kwdefaults__ or ())
        if not named:
            return self.body(*values)
        first = values[:-named]
        last = dict(zip(self.names[-named:], values[-named:], strict=True))
        return self.body(*first, **last)


# -- public functions ---------------------------------------------------------------------

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)
# The `co_flags` of code with `*args`, and with `**kwargs`.
_ANY_NUMBER = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_LEAVE_OUT = types.CellType(levels.leave_out_package)

_NAMED = inspect.Parameter.KEYWORD_ONLY
_bodies: dict[types.FunctionType, types.FunctionType] = {}
_entries: dict[types.FunctionType, Entry] = {}
_WITHOUT_GLOBAL_DISPATCH: set[Any] = set()
_lock = lasting_lock()
# The attribute of a method's function with its handlers.
_METHOD_HANDLERS = "_dispatch_handlers"


def dispatchable(function: F) -> F:
    """Decorates a public function that targets may be registered for.

    The result has the signature, name and source position of the function, and calls its
    implementation. Tracebacks of errors that come out of it, eagerly, have no frames of this
    package. Raises TypeError for a function with `*args` or `**kwargs`.
    """
    assert isinstance(function, types.FunctionType)
    if function.__code__.co_flags & _ANY_NUMBER or function.__closure__:
        raise TypeError(f"{function.__name__} takes any number of arguments, or has a closure")
    public = filtering(function)
    _bodies[public] = function
    if EVERYWHERE:
        _watched(public)
    return public  # type: ignore[return-value]  # callable as the function is


def filtering(function: types.FunctionType) -> types.FunctionType:
    """A public wrapper of a function that removes this package's frames from the tracebacks of errors.

    It has the signature, name and source position of the function. Where a graph is recorded
    errors stay as they are: see `leave_out_package`.
    """
    code = function.__code__
    count, named = code.co_argcount, code.co_kwonlyargcount
    more = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    parameters = code.co_varnames[: count + named + more]
    template = _forwarding(count, parameters[count : count + named], code.co_flags & _ANY_NUMBER)
    public = types.FunctionType(
        template.replace(
            co_posonlyargcount=code.co_posonlyargcount,
            co_varnames=(*parameters, *template.co_varnames[len(parameters) :]),
            co_name=code.co_name,
            co_qualname=code.co_qualname,
            co_filename=code.co_filename,
            co_firstlineno=code.co_firstlineno,
        ),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        (types.CellType(function), _LEAVE_OUT),
    )
    public.__kwdefaults__ = function.__kwdefaults__
    public.__annotations__ = function.__annotations__
    public.__doc__ = function.__doc__
    public.__dict__.update(function.__dict__)
    return public


def public_methods(cls: C) -> C:
    """Decorates a class whose public methods, and its constructor, are `filtering` ones."""
    for name, value in [*vars(cls).items()]:
        if name[0] == "_" and name not in ("__init__", "__len__", "__iter__", "__bool__"):
            continue
        if isinstance(value, types.FunctionType):
            setattr(cls, name, filtering(value))
        elif isinstance(value, (staticmethod, classmethod)) and isinstance(
            value.__func__, types.FunctionType
        ):
            setattr(cls, name, type(value)(filtering(value.__func__)))
    return cls


@functools.cache
def _forwarding(count: int, named: tuple[str, ...], flags: int) -> types.CodeType:
    """The code object of a forwarding function with `count` positional parameters and these keyword ones.

    One is compiled for each number of parameters: public functions, of which there are hundreds,
    get theirs with names put in, which takes microseconds at import. `flags` say whether there are
    `*args` and `**kwargs`.
    """
    head = [f"p{i}" for i in range(count)]
    rest = ["*args"] * bool(flags & inspect.CO_VARARGS)
    others = ["**kwargs"] * bool(flags & inspect.CO_VARKEYWORDS)
    star = rest or ["*"] * bool(named)
    parameters = ", ".join([*head, *star, *named, *others])
    arguments = ", ".join([*head, *rest, *[f"{n}={n}" for n in named], *others])
    # CPython sorts free variables by name.
    source = (
        "def defined(_implementation, _leave_out):\n"
        f" def public({parameters}):\n"
        f"  try: return _implementation({arguments})\n"
        "  except Exception as _error:\n"
        "   _leave_out(_error)\n"
        "   raise\n"
        " return public\n"
    )
    defined = GeneratedCode("dispatch", source, {}).function("defined")
    return defined(None, None).__code__


def entry_of(function: Any) -> Entry | None:
    """The entry of a public function, or None if it cannot have targets."""
    body = _bodies.get(function) if isinstance(function, types.FunctionType) else None
    if body is None:
        return None
    found = _entries.get(function)
    if found is None:
        found = _entries.setdefault(function, Entry(function, body))
    return found


def register_everywhere(
    handle: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any], first: bool = False
) -> None:
    """Registers `handle(function, args, kwargs)` for calls of every public function; `first`: before others.

    It returns NOT_SUPPORTED to decline a call. Arguments equal to their defaults are omitted.
    It is not called again for types that all handlers have declined.
    """
    EVERYWHERE.insert(0 if first else len(EVERYWHERE), handle)
    for function in list(_bodies):
        _watched(function)


def ask_everywhere(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a library's handler for a rejected call, or NOT_SUPPORTED."""
    for handle in EVERYWHERE:
        result = handle(function, args, kwargs)
        if result is not NOT_SUPPORTED:
            return result
    return NOT_SUPPORTED


def globally_dispatchable(function: F) -> F:
    """Decorates a public function with `*args`: calls that it rejects are offered to libraries. Extension
    types have no targets for it.
    """

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = ask_everywhere(public, args, kwargs)
            if result is NOT_SUPPORTED:
                raise
            return result

    return public  # type: ignore[return-value]  # callable as the function is


def dispatchable_method(function: F) -> F:
    """Decorates the function of a class method: calls that it rejects are offered to `handlers_of` it."""
    handlers: list[Callable[[tuple[Any, ...], dict[str, Any]], Any]] = []

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            for handle in handlers:
                result = handle(args, kwargs)
                if result is not NOT_SUPPORTED:
                    return result
            raise

    vars(public)[_METHOD_HANDLERS] = handlers
    return public  # type: ignore[return-value]  # callable as the function is


def handlers_of(method: Any) -> list[Callable[[tuple[Any, ...], dict[str, Any]], Any]] | None:
    """The functions `handle(args, kwargs)` that may take calls of a class method over; the class is the first
    argument. None if the method is not decorated with `dispatchable_method`.
    """
    return getattr(getattr(method, "__func__", None), _METHOD_HANDLERS, None)


def without_global_dispatch(function: F) -> F:
    """Decorates a dispatchable function whose calls are not offered to libraries: only extension types may
    have targets for it.
    """
    _WITHOUT_GLOBAL_DISPATCH.add(function)
    return function


def _watched(function: types.FunctionType) -> None:
    entry = entry_of(function)
    assert entry is not None
    entry.surround(entry.around)


# Whether an argument is plain; a list that is looked at, whether all its elements are.
_OF_ONE = "({0}.__class__ in _plain or {0}.__class__ is list)"
_OF_LIST = "{0}.__class__ is list and _plain.issuperset(map(type, {0}))"
_OF_ANY = "({0}.__class__ in _plain or {0}.__class__ is list and _plain.issuperset(map(type, {0})))"


def _check(entry: Entry, looked_at: dict[int, bool]) -> Handler:
    """The implementation of a function with targets, which is called with all parameters."""
    kinds = [p.kind for p in entry.signature.parameters.values()]
    names = [
        name if kind is inspect.Parameter.KEYWORD_ONLY else f"_p{i}"
        for i, (name, kind) in enumerate(zip(entry.names, kinds, strict=True))
    ]
    count = sum(kind is not inspect.Parameter.KEYWORD_ONLY for kind in kinds)
    head, named = names[:count], names[count:]
    if EVERYWHERE:
        tests = [_OF_ANY.format(name) for name in names] or ["True"]
    else:
        wanted = {i: _OF_LIST if looked_at[i] else _OF_ONE for i in sorted(looked_at)}
        tests = [text.format(names[i]) for i, text in wanted.items()]
    lines = [f"def check({', '.join([*head, *(['*', *named] if named else [])])}):"]
    if entry.around is None:
        arguments = ", ".join([*head, *[f"{n}={n}" for n in named]])
        lines.append(f" if {' and '.join(tests)}: return _body({arguments})")
    lines.append(f" return _find(({', '.join([*names, ''])}))")
    space = {"_plain": PLAIN, "_body": entry.body, "_find": entry.find}
    return GeneratedCode("dispatch", "\n".join(lines), space).function("check")


# -- annotations -------------------------------------------------------------------------


def annotation(hint: Any) -> Annotation | None:
    """The classes that a type annotation accepts, or None if it names none."""
    of_list = typing.get_origin(hint) in (list, collections.abc.Sequence)
    inner = typing.get_args(hint)[0] if of_list and typing.get_args(hint) else hint
    kinds = _classes(inner)
    return None if kinds is None else (of_list, kinds)


def _classes(hint: Any) -> tuple[Any, ...] | None:
    if hint is Any:
        return (object,)
    if isinstance(hint, type):
        return (hint,)
    if hint is None:
        return (type(None),)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        found: list[Any] = []
        for part in typing.get_args(hint):
            kinds = _classes(part)
            if kinds is None:
                return None
            found += kinds
        return tuple(found)
    return None


# -- registering ---------------------------------------------------------------------------

_targets: list[tuple[Target, list[Entry]]] = []


def _added(target: Target, entries: Sequence[Entry]) -> None:
    with _lock:
        for entry in entries:
            entry.add(target)
        _targets.append((target, list(entries)))


def register(function: Any, handler: Handler, signatures: Sequence[Signature]) -> None:
    """Registers `handler`, which has the function's parameters, for calls that match."""
    entry = _dispatchable(function, function)
    # A handler may leave parameters out, `name` above all.
    names = list(inspect.signature(handler).parameters)
    with_function = names[:1] == ["function"] and "function" not in entry.names
    unknown = set(names[with_function:]) - set(entry.names)
    if unknown:
        raise ValueError(
            f"{handler} asks for {sorted(unknown)}, which are no parameters of "
            f"{function.__module__}.{function.__name__}{entry.signature}"
        )
    wanted = [entry.names.index(n) for n in names[with_function:]]
    _added(Target(handler, signatures, _picking(wanted, with_function)), [entry])


def _picking(wanted: Sequence[int], with_function: bool) -> Handler:
    """An adapter that calls a handler with a subset of the function's parameters.

    A target of this package may take the function itself as well, as its first parameter.
    """

    def run(handler: Handler, entry: Entry, values: tuple[Any, ...]) -> Any:
        picked = [values[index] for index in wanted]
        return handler(entry.function, *picked) if with_function else handler(*picked)

    return run


def _of_operands(arity: int) -> Handler:
    """An adapter that calls a handler of elementwise functions with the operands."""

    def run(handler: Handler, entry: Entry, values: tuple[Any, ...]) -> Any:
        rest = dict(zip(entry.names[arity:], values[arity:], strict=True))

        def function(*operands: Any) -> Any:
            return entry.function(*operands, **rest)

        function.__name__ = entry.function.__name__
        return handler(function, *values[:arity])

    return run


def withdraw(handler: Handler) -> None:
    """Removes all registrations of a handler. Raises ValueError if there are none."""
    with _lock:
        found = [(t, entries) for t, entries in _targets if t.function is handler]
        if not found:
            raise ValueError(
                f"Function {handler} was not registered using a `@dispatch_for_*` decorator."
            )
        for target, entries in found:
            for entry in entries:
                entry.remove(target)
        _targets[:] = [pair for pair in _targets if pair not in found]


# -- by name -------------------------------------------------------------------------------


def public(name: str) -> Any:
    """The public function of this name ("math.abs"), or None if there is none."""
    found: Any = HOOKS.public_face
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _dispatchable(function: Any, name: Any) -> Entry:
    """The entry of a function. Raises ValueError if it cannot have targets."""
    entry = entry_of(function)
    if entry is None:
        raise ValueError(f"{name} does not support dispatch.")
    return entry


def handle(name: str, handler: Handler, **annotations: Any) -> None:
    """Registers a handler of this package for the public function of this name.

    Each keyword is a parameter with its annotation; one match is enough. Raises ValueError if the
    function is not `@dispatchable`.
    """
    function = public(name)
    entry = _dispatchable(function, name)
    signatures: list[Signature] = []
    for parameter, hint in annotations.items():
        wanted = annotation(hint)
        if parameter in entry.names and wanted is not None:
            signatures.append(((entry.names.index(parameter), wanted),))
    register(function, handler, signatures)


def handle_if(name: str, handler: Handler, test: Callable[[tuple[Any, ...]], bool]) -> None:
    """Registers a handler of this package for calls whose arguments pass a test."""
    entry = _dispatchable(public(name), name)
    whole: Signature = ((0, (True, (object,))),)
    wanted = list(range(len(inspect.signature(handler).parameters)))
    _added(Chooser(handler, test, whole, _picking(wanted, False)), [entry])


def handle_elementwise(
    names: Sequence[str], handler: Handler, kinds: Sequence[tuple[Annotation, ...]]
) -> None:
    """Registers `handler(function, *operands)` for all elementwise functions of these names.

    `kinds` are the combinations of operands that it takes.
    """
    found = [entry_of(public(name)) for name in names]
    entries = list({id(e): e for e in found if e is not None}.values())
    signatures = [tuple(enumerate(combination)) for combination in kinds]
    _added(Target(handler, signatures, _of_operands(len(kinds[0]))), entries)


ANYTHING: Annotation = (False, (object,))
TENSOR: Annotation = (False, (Tensor,))
