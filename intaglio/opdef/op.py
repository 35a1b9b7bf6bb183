"""`Op` and `@op`: everything about an op in one class, checked when it is declared."""

from __future__ import annotations

import inspect
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import numpy as np

from intaglio.base.dtypes import ALL, DType, resource
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.locks import lasting_lock
from intaglio.opdef import complex_numbers, convert, door, raw, scalar, short_floats
from intaglio.opdef.hooks import HOOKS
from intaglio.opdef.levels import leave_out_package
from intaglio.opdef.signature import REQUIRED, Arg, Signature, parse
from intaglio.opdef.spec import Spec
from intaglio.opdef.traits import Traits, check

# Services of the runtime that a kernel may request besides the op's own names.
#   run(graph, arrays) -> list   executes a branch or body graph
#   wrap(array) -> Tensor        an eager tensor around an array
#   resources                    the table of variables (intaglio.runtime.resources)
#   stream                       the state of this random op (intaglio.runtime.random_state)
#   raises                       the function that creates the error of this node, or None (RAISES)
SERVICES = frozenset({"run", "wrap", "resources", "stream", "raises"})
# The attribute of a node with a function that creates, from its data, the error to raise instead of the
# op's own. It is not written to files.
RAISES = "_raises"
_resolving = lasting_lock()
# The results of `_resolve_kernel`.
RESOLVED = frozenset(
    {
        "by_dtype",
        "kernel_fn",
        "kernel_order",
        "plain",
        "quick",
        "quick_fn",
        "result",
        "stored",
        "whole_kernel",
        "written",
    }
)
RULES = ("infer", "kernel", "kernel_for", "gradient", "native", "scalar", "decompose")


NOTHING: Mapping[str, str] = MappingProxyType({})


class Rule:
    """One rule of an op: the function and the names of its parameters.

    A rule that ends with `**attrs` takes those of the op's attributes that it does not name.
    """

    __slots__ = ("fn", "specs", "takes")

    def __init__(
        self, fn: Callable[..., Any], called: Mapping[str, str] = NOTHING, attrs: Sequence[str] = ()
    ) -> None:
        code = fn.__code__
        bound = 1 if hasattr(fn, "__self__") else 0
        notes = fn.__annotations__
        self.fn = fn
        names = code.co_varnames[bound : code.co_argcount]
        if code.co_flags & inspect.CO_VARKEYWORDS:
            others = tuple([a for a in attrs if a not in names])
            self.fn = _by_position(fn, len(names), others)
            names += others
        self.takes: tuple[str, ...] = tuple([called.get(n, n) for n in names])
        self.specs = frozenset(
            [called.get(n, n) for n in names if notes.get(n) in ("Spec", Spec, "list[Spec]")]
        )

    def __call__(self, **known: Any) -> Any:
        """Calls the rule with the known values that it names."""
        return self.fn(*[known[n] for n in self.takes])

    def needs(self, name: str) -> bool:
        """True if the rule takes the value of `name`, not only its Spec."""
        return name in self.takes and name not in self.specs


def _by_position(
    fn: Callable[..., Any], count: int, keywords: tuple[str, ...]
) -> Callable[..., Any]:
    """A function with keyword parameters as one with positional parameters only, in this order."""

    def call(*values: Any) -> Any:
        return fn(*values[:count], **dict(zip(keywords, values[count:], strict=True)))

    return call


# Upper limit on the number of outputs in a list.
MAX_OUTPUTS = 1 << 20


class Op(Traits):
    """An op of TensorFlow, named after its op type. See CONTRIBUTING.md for the rules' forms.

    `signature` declares inputs, attributes and outputs; class attributes named like its type
    variables list the dtypes allowed. `stateful` ops stay in program order; they run even if
    their outputs are unused, unless they are `droppable` (reads, random numbers).
    `differentiable = False` declares that no gradient flows through the op (TensorFlow's
    NotDifferentiable): None, not the LookupError that a missing gradient rule means. A
    gradient rule may return, for an input, a function without arguments: it is called only
    if that input's gradient is wanted.
    """

    signature: ClassVar[str] = ""
    # The function of eager calls on tensors of some dtypes, where it is not simply the kernel.
    quick_kernel: ClassVar[Callable[..., Any]]
    quick_types: ClassVar[tuple[DType, ...]]
    name: str
    sig: Signature
    rules: dict[str, Rule]
    # Functions or None; callers check.
    kernel_fn: Any
    # The kernel without its checks of shapes, for small arrays of one known shape.
    whole_kernel: Any
    kernel_order: tuple[tuple[str, Any], ...]
    quick: int
    quick_fn: Any
    stored: frozenset[Any]
    # The functions of eager calls on 16-bit floats that are not among `stored`, by dtype.
    short: Mapping[Any, Callable[..., Any]]
    written: Callable[..., Any] | None
    defaults: dict[str, Any]
    result: Any
    inferred_from: tuple[int, ...] | None
    slots: tuple[tuple[str | None, DType | None, frozenset[DType] | None], ...]

    def __init__(self) -> None:
        self.name = type(self).__name__
        try:
            self.sig = parse(self.signature)
            self._declare()
        except ValueError as e:
            raise TypeError(f"op {self.name}: {e}") from None

    # -- declaration ---------------------------------------------------------------

    def _declare(self) -> None:
        sig = self.sig
        self.input_names = tuple([a.name for a in sig.inputs])
        self.output_names = tuple([a.name for a in sig.outputs])
        self.attr_names = tuple([a.name for a in sig.attrs])
        self.defaults = {a.name: a.default for a in sig.attrs}
        self.required = tuple([a.name for a in sig.attrs if a.default is REQUIRED])
        self.required_set = frozenset(self.required)
        self.attr_kinds = {a.name: a.kind for a in sig.attrs}
        # The attributes whose values are limited to some dtypes or strings.
        self.limits = {
            a.name: getattr(self, a.name)
            for a in sig.attrs
            if a.kind in ("type", "str") and hasattr(type(self), a.name)
        }
        self.implied = {n for a in sig.inputs for n in (a.number, a.types) if n}
        self.has_lists = sig.has_lists
        # The first input of each type variable, for an op without lists.
        first = {a.var: i for i, a in reversed([*enumerate(sig.inputs)]) if a.var}
        self.typed_by: tuple[tuple[str, int], ...] = tuple(first.items())
        self.has_list_outputs = any(a.is_list for a in sig.outputs)
        # Ops with branches, bodies or called functions: tapes are notified before they run.
        self.has_graphs = any(a.kind in ("func", "list(func)") for a in sig.attrs)
        if self.droppable and self.writes and any(a.dtype is resource for a in sig.inputs):
            raise ValueError("what writes a resource cannot be droppable: say `writes = False`")
        self.slots = tuple([(a.var, a.dtype, self._allowed(a)) for a in sig.inputs])
        self.vars = tuple(dict.fromkeys(a.var for a in sig.inputs if a.var))
        implied = {n for a in sig.outputs for n in (a.var, a.number, a.types) if n}
        self._own_names: frozenset[str] = frozenset(implied).union(
            self.input_names, self.attr_names, self.vars, self.implied
        )
        check(type(self), self._own_names)
        written = self.graphdef_names
        self.node_inputs = tuple([written.get(n, n) for n in self.input_names])
        self.rules = {}
        for kind in RULES:
            if getattr(type(self), kind, None) is not None:
                self.rules[kind] = self._rule(kind, getattr(self, kind))
        # The inputs of an inference rule that takes inputs alone, which needs no table of names.
        inferring = self.rules["infer"].takes if "infer" in self.rules else ()
        at = {n: i for i, n in enumerate(self.input_names)}
        of_inputs = not self.has_lists and all([n in at for n in inferring])
        self.inferred_from = tuple([at[n] for n in inferring]) if of_inputs else None

    def _allowed(self, arg: Arg) -> frozenset[DType] | None:
        if arg.var is None:
            return None
        if arg.var in self.attr_names and not hasattr(self, arg.var):
            return frozenset(ALL)
        allowed = getattr(self, arg.var, None)
        if allowed is None:
            raise ValueError(f"type variable {arg.var} of {self.sig.text!r} is no class attribute")
        return frozenset(allowed)

    def _names(self, kind: str) -> set[str]:
        names = set(self._own_names)
        if kind == "gradient":
            names |= {*self.output_names, *(f"d{n}" for n in self.output_names)}
        if kind == "kernel":
            names |= SERVICES
        if kind in ("scalar", "native"):
            names.add("s")
        return names

    def _rule(self, kind: str, fn: Callable[..., Any]) -> Rule:
        rule = Rule(fn, self.called, self.attr_names)
        if kind == "scalar":
            wanted = ("s", *self.input_names)
            if rule.takes[: len(wanted)] != wanted:
                raise ValueError(f"rule scalar takes {rule.takes}, not {wanted}")
        unknown = set(rule.takes) - self._names(kind)
        if unknown:
            raise ValueError(
                f"rule {kind} asks for {sorted(unknown)}, which {self.sig.text!r} does not have"
            )
        return rule

    def __getattr__(self, name: str) -> Any:
        """Derives how the kernel is called on first access, which keeps imports short."""
        if name not in RESOLVED:
            raise AttributeError(f"op {type(self).__name__} has no attribute {name!r}")
        with _resolving:
            own = self.__dict__
            if name not in own:
                found = object.__new__(type(self))
                found.__dict__.update(own)
                found._resolve_kernel()
                # Another thread finds either no value or the final one.
                own.update({n: found.__dict__[n] for n in RESOLVED})
            return own[name]

    def _resolve_kernel(self) -> None:
        self.result = None
        if len(self.output_names) > 1:  # the names of its fields are known only here
            kind = namedtuple(self.name, self.output_names)  # pyright: ignore[reportUntypedNamedTuple]  # the fields are known only here
            self.result = kind
        whole, single = None, True
        if "kernel" in self.rules:
            whole, takes = self.rules["kernel"].fn, self.rules["kernel"].takes
        elif "scalar" in self.rules:
            takes = self.rules["scalar"].takes[1:]
            whole, single = scalar.kernel_of(self.rules["scalar"].fn, len(takes))
        else:
            takes = ()
        self.kernel_fn = self.whole_kernel = whole
        if whole is not None and (self.blockwise or not single or self._has_exact_kernel(takes)):
            self.kernel_fn = scalar.in_blocks(whole, self if self._is_expression(takes) else None)
        if self.computes_wide and whole is not None and not isinstance(whole, np.ufunc):
            count = len(self.input_names)
            self.whole_kernel = scalar.computed_wide(whole, count)
            self.kernel_fn = scalar.computed_wide(self.kernel_fn, count)
        if self.same_shapes and whole is not None:
            self.kernel_fn = _of_one_shape(self.kernel_fn)
        # The source of each argument of the kernel, derived once.
        index = {n: i for i, n in enumerate(self.input_names)}
        self.kernel_order = tuple(
            [
                ("input", index[n])
                if n in index
                else ("service", n)
                if n in SERVICES
                else ("type", n)
                if n in self.vars and n not in self.attr_names
                else ("attr", n)
                for n in takes
            ]
        )
        # The most common form: all inputs in order and nothing else.
        self.plain = not self.has_lists and self.kernel_order == tuple(
            [("input", i) for i in range(len(self.input_names))]
        )
        self._resolve_quick()
        self.written = None

    def _is_expression(self, takes: Sequence[str]) -> bool:
        """True if a kernel with these parameters has a `scalar` rule with the same."""
        rule = self.rules.get("scalar")
        return rule is not None and rule.takes[1:] == tuple(takes)

    def _has_exact_kernel(self, takes: Sequence[str]) -> bool:
        """True if an explicit kernel is bit for bit equal to that of the `scalar` rule."""
        return self.native_exact and "kernel" in self.rules and self._is_expression(takes)

    def _resolve_quick(self) -> None:
        """Whether eager calls may go straight to the kernel, checking only types.

        `quick` is the number of inputs then, else -1; `stored` are the NumPy dtypes that all
        inputs must be one of, the same for all; `quick_fn` computes, and for other dtypes what
        `by_dtype` has, machine code where arrays are large. An op may name the first two
        itself: `quick_kernel`, `quick_types`.
        """
        fast = getattr(type(self), "quick_kernel", None)
        self.quick_fn = fast or (self.kernel_fn if self.plain else None)
        arity = len(self.input_names)
        same = len(set(self.slots)) == 1
        single = self.result is None and not self.has_list_outputs
        self.by_dtype: dict[Any, Any] = {}
        able = self.quick_fn is not None and single and bool(self.output_names)
        simple = not (self.required or self.stateful or self.has_lists)
        if not (able and simple and same and 1 <= arity <= 2):
            self.quick, self.stored = -1, frozenset[Any]()
            return
        _, fixed, allowed = self.slots[0]
        types = (fixed,) if fixed is not None else tuple(allowed or ())
        types = getattr(type(self), "quick_types", types)
        self.quick = arity
        stored = [d.numpy for d in types if d.is_numpy_compatible and d.numpy.kind != "O"]
        elementwise = "scalar" in self.rules and self.plain and not self.attr_names
        if elementwise and self.native_exact and self.quick_fn is not None:
            run = short_floats.by_compiler(self, self.quick_fn)
            self.by_dtype |= {d: run for d in stored if short_floats.is_short(d)}
        if self.computes_wide and isinstance(self.quick_fn, np.ufunc):
            # NumPy's loops over 16-bit floats call the C library for each element.
            run = scalar.computed_wide(self.quick_fn, arity)
            self.by_dtype |= {
                d: run for d in stored if short_floats.is_short(d) and d not in self.by_dtype
            }
        if self.compiled_when_complex and self.quick_fn is not None:
            run = complex_numbers.by_compiler(self, self.quick_fn)
            self.by_dtype |= {d: run for d in stored if complex_numbers.is_complex(d)}
        self.stored = frozenset([d for d in stored if d not in self.by_dtype])

    @property
    def is_random(self) -> bool:
        """Whether the kernel draws numbers from a random stream, which each call advances."""
        return ("service", "stream") in self.kernel_order

    def fitted_kernel(
        self, specs: Sequence[Spec], attrs: dict[str, Any]
    ) -> Callable[..., Any] | None:
        """A function of the inputs alone that is the kernel for inputs like these, if the op has one."""
        rule = self.rules.get("kernel_for")
        if rule is not None:
            return rule(**self.known(specs, attrs))
        if self.compiled_when_complex and specs and specs[0].dtype.is_complex:
            return self.by_dtype.get(specs[0].dtype.numpy)
        if self.computes_wide and specs and short_floats.is_short(specs[0].dtype.numpy):
            found = self.by_dtype.get(specs[0].dtype.numpy)
            if found is not None:
                return found
        if self.plain and self.whole_kernel is not self.kernel_fn and specs:
            first = specs[0]
            alike = all([s.shape == first.shape for s in specs])
            if alike and first.count is not None and first.count <= scalar.MIN_ELEMENTS:
                return self.whole_kernel
        return None

    # -- calling -------------------------------------------------------------------

    def __call__(self, *args: Any, name: str | None = None, **kwargs: Any) -> Any:
        """Executes the op at the current level: eagerly, or into the graph being recorded."""
        try:
            if not door.INSPECTORS:
                here = door.level()
                if not kwargs and len(args) == self.quick:
                    done = here.quick(self, args)
                    if done is not None:
                        return done
                if here.eager and here.direct:
                    written = self.written
                    if written is None:
                        written = self.written = HOOKS.direct_call(self)
                    try:
                        done = written(here.watchers, *args, **kwargs)
                        if done is door.DECLINED and not self.stateful:
                            read = convert.read(args)
                            if read is not None:
                                done = written(here.watchers, *read, **kwargs)
                        if done is not door.DECLINED:
                            return done
                    except TypeError:  # arguments that do not fit: the door raises the right error
                        pass
            return door.call(self, args, kwargs, name)
        except Exception as e:
            leave_out_package(e)
            raise

    @property
    def must_run(self) -> bool:
        """True if a graph keeps the op even if its outputs are unused."""
        return self.stateful and not self.droppable

    def __repr__(self) -> str:
        return f"<op {self.name}: {self.sig.text}>"

    def types_of(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> dict[str, Any]:
        """The type variables' values for these (flat) inputs; anything with `.dtype` will do."""
        if not self.has_lists and len(inputs) == len(self.input_names):
            return {var: inputs[at].dtype for var, at in self.typed_by}
        found: dict[str, Any] = {}
        for arg, value in zip(self.sig.inputs, self.sig.group(inputs, attrs), strict=True):
            if arg.types:
                found[arg.types] = tuple([v.dtype for v in value])
            elif arg.var and arg.var not in found:
                if arg.is_list:
                    if value:
                        found[arg.var] = value[0].dtype
                else:
                    found[arg.var] = value.dtype
        return found

    def known(self, inputs: Sequence[Any], attrs: dict[str, Any]) -> dict[str, Any]:
        """All arguments a rule may have, by name: inputs grouped, attributes, type variables."""
        names = self.types_of(inputs, attrs)
        names.update(attrs)
        values = self.sig.group(inputs, attrs) if self.has_lists else inputs
        names.update(zip(self.input_names, values, strict=True))
        return names

    def _check_counts(self, attrs: dict[str, Any]) -> None:
        """Raises ShapeError for an impossible number of outputs."""
        for arg in self.sig.outputs:
            count = attrs.get(arg.number or "")
            if count is not None and not 0 <= count < MAX_OUTPUTS:
                raise ShapeError(f"{self.name} cannot have {count} outputs '{arg.name}'")

    def output_specs(self, specs: Sequence[Spec], attrs: dict[str, Any]) -> list[Spec]:
        """The (flat) outputs' specs. Raises ShapeError or ValueError if the inputs do not fit."""
        rule = self.rules.get("infer")
        if rule is None:
            raise ShapeError(f"op {self.name} has no infer rule")
        if self.has_list_outputs:
            self._check_counts(attrs)
        if self.inferred_from is not None and len(specs) == len(self.input_names):
            result = rule.fn(*[specs[i] for i in self.inferred_from])
        else:
            known = self.known(specs, attrs)
            result = rule.fn(*[known[n] for n in rule.takes])
        if result is None:
            return []
        if isinstance(result, Spec):  # most ops have one output
            if result.value is None or self.is_identity:
                return [result]
            return [result.like() if any([result is s for s in specs]) else result]
        flat: list[Spec] = []
        for item in result:
            flat.extend(item) if isinstance(item, list) else flat.append(item)
        if self.is_identity:
            return flat
        # A rule that returns an input's Spec means only its dtype and shape.
        for spec in specs:
            if spec.value is not None:
                flat = [f.like() if f is spec else f for f in flat]
        return flat


def _of_one_shape(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of two arrays that rejects shapes which would have to broadcast."""

    def checked(x: Any, y: Any, *rest: Any) -> Any:
        if x.shape != y.shape:
            raise invalid_argument(f"Inputs must have one shape: {x.shape} vs. {y.shape}")
        return kernel(x, y, *rest)

    return checked


C = TypeVar("C", bound=Op)


def op(cls: type[C]) -> type[C]:
    """Declares the class as an op of the catalogue. Returns the class.

    Raises TypeError for a signature that cannot be parsed, a rule with a parameter that the
    signature does not have, a type variable without dtypes, an unknown trait or one whose
    value is not of its type.
    """
    raw.register(cls())
    return cls
