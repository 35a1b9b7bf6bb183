"""`Function`: the result of `tf.function`, a Python function specialised by trace types.

Follows https://www.tensorflow.org/api_docs/python/tf/function and
https://www.tensorflow.org/guide/function.
"""

from __future__ import annotations

import functools
import time
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from intaglio.accelerators.tensors import quiet_device
from intaglio.autograph.access_paths import Read
from intaglio.autograph.reads import recording
from intaglio.autograph.side_effects import POLICY as EFFECTS
from intaglio.base import origins
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.base.origins import Frame
from intaglio.function import (
    captures,
    control,
    recursion,
    registry,
    retracing,
    sharing,
    stablehlo,
    trace_limits,
)
from intaglio.function.cache import Key, TraceCache
from intaglio.function.captures import POLICY, TraceReads
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.conversion import stepped
from intaglio.function.entry import MISS, Entry, make_entry, make_native_entry
from intaglio.function.explanation import Explanation, Traced, misfits
from intaglio.function.generalisation import POLICY as GENERAL
from intaglio.function.generalisation import Decisions
from intaglio.function.hooks import HOOKS
from intaglio.function.methods import bound_method, converted, has_self, itself
from intaglio.function.number_inputs import Needs
from intaglio.function.options import Options
from intaglio.function.pickling import is_named
from intaglio.function.signature import (
    Bound,
    FunctionType,
    Signature,
    constraints_of,
    failed_binding,
    typed,
)
from intaglio.function.trace_types import cast_for, types_of
from intaglio.function.tracing import trace
from intaglio.function.user_errors import without_our_frames
from intaglio.function.views import TraceViews
from intaglio.function.warming import Warmup
from intaglio.ir import implementations
from intaglio.opdef import door
from intaglio.opdef.door import STATE
from intaglio.opdef.tensor import Tensor
from intaglio.state.replica import RUNNING
from intaglio.trace.graph import FuncGraph
from intaglio.trace.variable_creation import Sites, refusal
from intaglio.type_specs.trace_type import TraceType, Tracing
from intaglio.type_specs.type_spec import TensorSpec

MAX_ENTRIES = 8  # entries that a call tries in order; a recent form of call has one or two

# An entry costs as much as a hundred calls. One is generated at these numbers of calls that no
# entry recognised, so that arguments that always differ cost nothing in the long run.
BUILD_AT = frozenset([2, 4, 8, 32, 128, 512, 4096])


_counting = lasting_lock()


class Function(TraceViews):
    """A Python function that runs as a graph, traced again for each kind of arguments.

    Make one with `tf.function`. Calling it looks for a trace that serves the arguments,
    traces the Python function if there is none, and runs the graph.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        options: Options | None = None,
        *,
        bound: bool = False,
        **named: Any,
    ) -> None:
        # Libraries construct `Function` directly, with the keywords of `tf.function`.
        options = Options(**named) if options is None else options
        self._python_function = python_function
        self._name = name
        self._options = options
        self._is_bound = bound
        self._signature_cache: Signature | None = None
        self._constraints: list[TraceType] | None = None
        self._cache = TraceCache(options.reduce_retracing)
        self._entries: tuple[Entry, ...] = ()
        # The entries for calls in a block of `tf.device` for an accelerator.
        self._placed_entries: tuple[Entry, ...] = ()
        self._initialized = False
        self._created: list[Frame | None] | None = None  # lines of the first trace's variables
        self._sites = Sites()
        self._traced = 0
        self._detector = retracing.detector_of(python_function)
        self.recorded_calls: Any = ()  # the calls kept by the last `record_calls`, of any function
        self._warming: Warmup | None = None  # a warm-up in the background
        self._removed = 0  # number of traces that `trace_cache` evicted
        self._decisions = Decisions()  # which arguments and dimensions are generalised
        self._reported: set[Any] = set()  # the changed captures that a warning has named
        # Bound functions by the object's id: (weak reference to it, its function, its last method).
        self._descriptors: dict[int, tuple[Any, Function, Any]] = {}
        registry.register(self)
        if bound:
            self.__signature__ = getattr(python_function, "__signature__", None)
        else:
            functools.update_wrapper(self, python_function, updated=())
            # The attributes of the wrapped function or object are also those of this one.
            for name, value in getattr(python_function, "__dict__", {}).items():
                if not hasattr(self, name):
                    setattr(self, name, value)
        if options.input_signature is not None and not has_self(python_function, bound):
            self._constraints = constraints_of(self._signature, options.input_signature)

    # -- properties -------------------------------------------------------------------

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function."""
        return self._python_function

    @property
    def name(self) -> str:
        """The name of the Python function."""
        return self._name

    @property
    def _signature(self) -> Signature:
        if self._signature_cache is None:
            self._signature_cache = Signature.of(self._python_function)
        return self._signature_cache

    @property
    def input_signature(self) -> Any:
        """The specs given as `input_signature`, or None."""
        signature = self._options.input_signature
        return None if signature is None else tuple(signature)

    @property
    def function_type(self) -> FunctionType:
        """The parameters, with their types if there is an `input_signature`."""
        if self._constraints is not None:
            bound = self._signature.bind_constraints(self._constraints)
            return typed(self._signature, bound, self._constraints, optional=True)
        return self._signature.untyped()

    @property
    def is_converted(self) -> bool:
        """Whether AutoGraph converts the function."""
        return bool(self._options.autograph)

    @property
    def options_key(self) -> tuple[Any, ...]:
        """The options, to be compared with those of another function."""
        options = self._options
        return tuple([repr(getattr(options, name)) for name in options.__slots__])

    @property
    def function_spec(self) -> Signature:
        """The Python function's signature."""
        return self._signature

    def experimental_get_compiler_ir(self, *args: Any, **kwargs: Any) -> Any:
        """A function `get(stage="hlo")` of the XLA program for arguments, or specs of static shape.

        Stages are `"stablehlo"`, `"hlo"`, `"optimized_hlo"`, and as bytes `"hlo_serialized"` and
        `"optimized_hlo_serialized"`. Raises ValueError without `jit_compile=True`, or for a
        function without such a program, ImportError without jax.
        """
        return stablehlo.compiler_ir(self.get_concrete_function(*args, **kwargs), args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Function:
        """The function for one object: every object has its own traces, as long as it lives."""
        if instance is None:
            return self
        found = self._descriptors.get(id(instance))
        if found is None or found[0]() is not instance:
            return self._bind_to(instance)
        return found[2]() or self._handed_out(instance, found[0], found[1])

    def _decorate(self, decorator: Callable[[Any], Callable[..., Any]]) -> None:
        """Puts a decorator around the Python function, as Sonnet does with methods.

        Raises ValueError if there are traces already, or functions of objects.
        """
        if self._traced or self._descriptors:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._signature_cache = None

    def _bind_to(self, instance: Any) -> Function:
        number = id(instance)
        table = self._descriptors
        ref: Any
        try:
            ref = weakref.ref(instance, lambda _: table.pop(number, None))
        except TypeError:  # an object without weak references
            ref = functools.partial(itself, instance)
        bound_function = Function(
            bound_method(self._python_function, ref), self._name, self._options, bound=True
        )
        bound_function._detector = self._detector
        method = Method(instance, bound_function)
        # Concurrent threads get one function: its first trace creates the variables.
        entry = (ref, bound_function, weakref.ref(method))
        found = table.setdefault(number, entry)
        if found is entry:
            return method
        if found[0]() is instance:
            return found[2]() or self._handed_out(instance, found[0], found[1])
        table[number] = entry  # replaces the entry of a deleted object
        return method

    def _handed_out(self, instance: Any, ref: Any, function: Function) -> Function:
        method = Method(instance, function)
        self._descriptors[id(instance)] = (ref, function, weakref.ref(method))
        return method

    def __reduce__(self) -> Any:
        if is_named(self, self._python_function):
            return self._python_function.__qualname__
        return _unpickled, (self._python_function, self._name, self._options)

    def __deepcopy__(self, memo: Any) -> Function:
        return self

    # -- calling ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the graph for these arguments, tracing it first if there is none.

        Raises TypeError if the arguments do not fit the signature; tracing and running raise
        what the function's ops do.
        """
        try:
            if not OPTIONS.special_calls:
                entries = self._entries
                if STATE.unusual:
                    entries = self._placed_entries if quiet_device() is not None else ()
                for entry in entries:
                    result = entry(args, kwargs)
                    if result is not MISS:
                        self._detector.calls += 1
                        return result
            return self._call(args, kwargs)
        except Exception as e:
            raise without_our_frames(e)  # noqa: B904 - it is the same error

    def debug(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the code that is traced op by op, on values: breakpoints stop in what runs."""
        if not self._options.autograph:
            return self._python_function(*args, **kwargs)
        return stepped(self._python_function, args, kwargs)

    def replay(self, call: Any = -1, until: str | None = None, *, debugger: bool = False) -> Any:
        """Runs a call again that `intaglio.record_calls` has kept, eagerly, with its variables as they were.

        `call` is one of its `calls`, a call's `number`, or -1 for the last of this function. With
        `until="train.py:41"` it stops before that line: the result's `values` are the names there, and with
        `debugger=True` Python's debugger asks there what to do. Afterwards the variables are what they are now. Random
        ops draw new numbers. Raises ValueError for a call or a line that is not there. TensorFlow has no such
        method.
        """
        return HOOKS.replay(self, call, until, debugger)

    def fresh(self) -> Function:
        """A function of the same Python function and options, without traces."""
        return Function(self._python_function, self._name, self._options, bound=self._is_bound)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if OPTIONS.special_calls:
            mode = control.mode_of(self)
            if mode == "eager":
                return self._python_function(*args, **kwargs)
            if door.level().eager:
                if control.interceptors():
                    return control.intercepted(self, args, kwargs)
                if mode == "verify":
                    return HOOKS.verified_call(self, args, kwargs)
        bound, types, key = self._typed(args, kwargs)
        if (OPTIONS.calls_are_controlled or self._warming) and not self._may_trace(
            key, bound, types
        ):
            return self._python_function(*args, **kwargs)
        if recursion.allowed():
            unfinished = recursion.in_progress(self._cache, key)
            if unfinished is not None:
                return unfinished.call(_tensors(types, bound.values))
        concrete, is_new = self._current(key, bound, types)
        trace_limits.used(concrete)
        eager = door.level().eager  # a graph that calls the function is traced once itself
        if eager and is_new:
            retracing.note(self._cache)
            self._detector.traced(self._shown(), self._why)
        elif not is_new:
            self._detector.calls += eager
            if EFFECTS.mode == "replay":
                concrete.advance_counters()
        tensors = _tensors(concrete.types, bound.values)
        if concrete.check_dimensions is not None:
            concrete.check_dimensions(tensors)
        result = concrete.pack(concrete.call_with_state(tensors))
        concrete.general_calls += 1
        if concrete.general_calls in BUILD_AT and (not STATE.unusual or quiet_device() is not None):
            self._remember(concrete, args, kwargs, bound)
        return result

    def _current(
        self, key: Key, bound: Bound, types: Sequence[TraceType]
    ) -> tuple[ConcreteFunction, bool]:
        """The trace for a call, with the policy for changed captures applied; whether it is new."""
        concrete, is_new = self._concrete(key, bound, types, has_values=True)
        reads = concrete.reads
        if reads is not None and not is_new and POLICY.mode != "freeze" and not reads.is_fresh():
            return self._after_change(concrete, reads.changed(), bound)
        return concrete, is_new

    def trace_of(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ConcreteFunction, list[Tensor]]:
        """The trace that a call would use, made if there is none, and the tensors that it would pass."""
        bound, types, key = self._typed(args, kwargs)
        concrete, _ = self._current(key, bound, types)
        return concrete, _tensors(concrete.types, bound.values)

    def _may_trace(self, key: Key, bound: Bound, types: Sequence[TraceType]) -> bool:
        """False if the call has no trace and is to run eagerly instead."""
        if self._cache.find(key) is not None:
            return True
        if self._warming is not None:
            if not self._warming.done():
                return False
            self._warming = None
        where = next(iter(origins.frames(origins.caller()[:1])), None)

        def explained() -> Explanation:
            new = Traced(dict(zip(bound.names, types, strict=True)), where, 0.0)
            return self._cache.explanation(further=[new])

        return control.may_trace(self, where, explained)

    def warmup(
        self, signatures: Sequence[Any], *, background: bool = False
    ) -> list[ConcreteFunction] | Warmup:
        """Traces and compiles for signatures, before the first call needs it; the traces.

        A signature is a tuple of arguments or specs of them, or a single one; With `background=True` it
        is an object with `done()` and `result(timeout)`: a thread does the work, and calls that have no
        trace yet run eagerly until it is done. Raises what tracing raises. TensorFlow has no such method.

        >>> f = tf.function(lambda x: x * 2)
        >>> [c.output_shapes for c in f.warmup([tf.TensorSpec([2]), tf.TensorSpec([None])])]
        [TensorShape([2]), TensorShape([None])]
        """
        calls = [s if isinstance(s, tuple) else (s,) for s in signatures]

        def work() -> list[ConcreteFunction]:
            found = [self.get_concrete_function(*call) for call in calls]
            for concrete in found:
                concrete.optimized_run()
            return found

        if not background:
            return work()
        warming = Warmup(work, self._name)
        warming.start()
        self._warming = warming
        return warming

    def _remember(
        self,
        concrete: ConcreteFunction,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        bound: Bound,
    ) -> None:
        """Generates an entry for calls like this one, and tries it first from now on."""
        if concrete.states or (EFFECTS.mode == "replay" and concrete.effects.counters):
            return
        entry = make_entry(
            # Checked dimensions are exact: the entry is for the shapes of this call.
            concrete,
            args,
            kwargs,
            bound,
            self._signature.default_values,
            exact=len(self._cache) > 1 or concrete.check_dimensions is not None,
        )
        if STATE.unusual:
            kept = self._placed_entries if entry is None else (entry, *self._placed_entries)
            self._placed_entries = kept[:MAX_ENTRIES]
            return
        quick = make_native_entry(concrete, args, kwargs, bound, self._signature.default_values)
        entries = [e for e in (quick, entry) if e is not None]
        self._entries = (*entries, *self._entries)[:MAX_ENTRIES]

    def _typed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], for_signature: bool = False
    ) -> tuple[Bound, list[TraceType], Key]:
        """The call's arguments in canonical form, their types, and the key of the trace cache."""
        try:
            bound = self._signature.bind(args, kwargs)
        except TypeError as e:
            raise failed_binding(e, args, kwargs, self._shown_signature()) from None
        context = Tracing(for_signature=for_signature)
        if self._constraints is not None:
            types = self._constraints
            try:
                bound = bound._replace(values=self._cast(bound, types, context))
            except (TypeError, ValueError) as e:
                error = failed_binding(e, args, kwargs, self._shown_signature())
                for note in misfits(bound.names, types, bound.values):
                    error.add_note(note)
                raise error from None
        else:
            types = types_of(bound.names, bound.values, context)
        return bound, types, (_call_form(bound), *types)

    def _cast(self, bound: Bound, types: Sequence[TraceType], context: Tracing) -> list[Any]:
        if len(bound.values) != len(types):
            known = {p.name for p in self._signature.keyword_only}
            strange = [name for name in bound.keywords if name not in known]
            if strange:
                raise TypeError(f"got an unexpected keyword argument {strange[0]!r}")
            raise TypeError(
                "too many positional arguments"
                if len(bound.values) > len(types)
                else f"missing a required argument: {'args'!r}"
            )
        pairs = zip(types, bound.values, strict=True)
        return [cast_for(kind, value, context) for kind, value in pairs]

    def _shown_signature(self) -> str:
        return str(self._signature) if self._constraints is None else str(self.function_type)

    def _shown(self) -> Callable[..., Any]:
        """The function that messages name."""
        return getattr(self._python_function, "__wrapped_method__", self._python_function)

    def _why(self) -> str:
        """The cause of the last trace, as the end of a message."""
        reasons = self.explain()
        if len(reasons) < 2 and not self._removed:
            if hasattr(self._python_function, "__wrapped_method__"):
                return " It is the method of a new object, and each object has traces of its own: keep the object."
            return " The function that was traced is a new one: make it once, and call it often."
        changes = reasons[-1].changes
        return " The last one: " + "; ".join(map(str, changes)) if changes else ""

    # -- tracing ----------------------------------------------------------------------

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments, or for specs of them.

        With an `input_signature` no arguments are needed. Raises TypeError if arguments
        are missing or do not fit.
        """
        if self._constraints is not None and not args and not kwargs:
            kinds = self._constraints
            bound = self._signature.bind_constraints(kinds)
            key: Key = (_call_form(bound), *kinds)
            return self._concrete(key, bound, kinds, has_values=False)[0]
        bound, types, key = self._typed(args, kwargs, for_signature=True)
        return self._concrete(key, bound, types, has_values=False)[0]

    def _concrete(
        self, key: Key, bound: Bound, types: Sequence[TraceType], has_values: bool
    ) -> tuple[ConcreteFunction, bool]:
        """The trace for these types, and whether it is new."""
        found = self._cache.find(key)
        if found is not None:
            return found, False
        if self._initialized:
            return self._cache.find_or_trace(
                key, lambda: self._trace(key, bound, types, has_values)
            )
        with self._cache.first:
            if not self._initialized and not (GENERAL.functions and self._takes_over()):
                return self._trace_first(key, bound, types, has_values), True
        return self._concrete(key, bound, types, has_values)

    def _takes_over(self) -> bool:
        """Whether an equal function was traced earlier; this one shares its traces from now on."""
        shared = sharing.find(self)
        if shared is None:
            return False
        self._cache, self._created, self._initialized = shared, [], True
        return True

    def _trace_first(
        self, key: Key, bound: Bound, types: Sequence[TraceType], has_values: bool
    ) -> ConcreteFunction:
        """Traces for the first time. If that trace creates variables, a second one must not."""
        created: list[Frame | None] = []

        def admit(variable: Any) -> None:
            created.append(origins.innermost())

        key, concrete = self._generalised_trace(key, bound, types, has_values, admit)
        self._created = created
        if not created:
            self._keep(key, concrete)
            self._initialized = True
            if GENERAL.functions:
                sharing.publish(self)
            return concrete
        self._initialized = True
        # From now on a thread waits only for a trace of its own types, not for the first trace.
        return self._cache.find_or_trace(key, lambda: self._trace(key, bound, types, has_values))[0]

    def _trace(
        self, key: Key, bound: Bound, types: Sequence[TraceType], has_values: bool
    ) -> ConcreteFunction:
        def refuse(variable: Any) -> None:
            raise refusal(self._created)

        key, concrete = self._generalised_trace(key, bound, types, has_values, refuse)
        self._keep(key, concrete)
        return concrete

    def _generalised_trace(
        self,
        key: Key,
        bound: Bound,
        types: Sequence[TraceType],
        has_values: bool,
        admit: Callable[[Any], None],
    ) -> tuple[Key, ConcreteFunction]:
        """A trace and its key; Python numbers are inputs unless the trace needs their values."""
        while GENERAL.numbers and has_values and self._constraints is None:
            needs = Needs()
            promoted = self._decisions.promoted(bound.names, types, needs)
            if all(a is b for a, b in zip(promoted, types, strict=True)):
                break
            general = self._joined((key[0], *promoted), bound)
            try:
                concrete = self._recorded(general, bound, general[1:], has_values, admit)
                if not needs.lines and not concrete.effects.keep_values:
                    self._decisions.decide(bound.names, promoted)
                    return general, concrete
                self._count(-1)  # the repeated trace is counted instead
            except Exception:  # of a number that is none, or what the function raises for each
                pass
            self._decisions.refuse(needs, promoted)
        key = self._joined(key, bound)
        return key, self._recorded(key, bound, key[1:], has_values, admit)

    def _joined(self, key: Key, bound: Bound) -> Key:
        """The key with open dimensions where calls have differed, under `reduce_retracing`."""
        if not (self._options.reduce_retracing or GENERAL.dimensions) or not len(self._cache):
            return key
        joined = self._cache.generalize(key)
        self._decisions.open(bound.names, key[1:], joined[1:])
        return joined

    def _keep(self, key: Key, concrete: ConcreteFunction) -> None:
        if recursion.provisional():
            return
        concrete.key = key
        self._cache.add(key, concrete)
        self._entries = self._placed_entries = ()  # another trace may now be the most specific one
        trace_limits.used(concrete)
        trace_limits.enforce(concrete)

    def _recorded(
        self,
        key: Key,
        bound: Bound,
        types: Sequence[TraceType],
        has_values: bool,
        admit: Callable[[Any], None],
    ) -> ConcreteFunction:
        """A new trace; for a function that may call itself, that of `recursion.trace_to_fixpoint`.

        It is counted if it succeeds.
        """

        def trace() -> ConcreteFunction:
            return self._record(bound, types, has_values, admit)

        if recursion.allowed():  # all rounds count as one trace
            concrete = recursion.trace_to_fixpoint(self._cache, key, self._name, trace)
        else:
            concrete = trace()
        self._count(1)
        return concrete

    # -- limits of the cache ---------------------------------------------------------------

    def all_traces(self) -> list[ConcreteFunction]:
        """The traces, for `trace_cache`."""
        return list(self._cache)

    def forget_entries(self) -> bool:
        """Drops the entries, so that the next call uses the cache; True if there were any."""
        had = bool(self._entries or self._placed_entries)
        self._entries = self._placed_entries = ()
        return had

    def remove_trace(self, trace: ConcreteFunction) -> None:
        """Removes a trace from the cache. Code that holds a reference may still call it."""
        self._cache.remove(trace)
        self._removed += 1
        self._entries = self._placed_entries = ()

    # -- changed captures -----------------------------------------------------------------

    def captures_again(self) -> None:
        """Called when the policy for changed captures changes: calls check all captures again."""
        self._entries = self._placed_entries = ()
        self._reported = set()
        for concrete in self._cache:
            if concrete.reads is not None:
                concrete.reads.reset()

    def _after_change(
        self, concrete: ConcreteFunction, changed: Sequence[Read], bound: Bound
    ) -> tuple[ConcreteFunction, bool]:
        """The trace for a call whose cached trace read values that changed; whether it is new."""
        assert concrete.reads is not None
        self._entries = self._placed_entries = ()
        if changed and POLICY.mode == "retrace":
            return self._variant(concrete, bound)
        if changed and POLICY.mode == "error":
            raise captures.StaleCaptureError(captures.message(self._name, changed))
        concrete.reads.release(changed)
        unknown = [r for r in changed if r.ident not in self._reported]
        self._reported |= {r.ident for r in unknown}
        if unknown:
            captures.warn(self._name, unknown)
        return concrete, False

    def _variant(self, concrete: ConcreteFunction, bound: Bound) -> tuple[ConcreteFunction, bool]:
        """A trace of the same types whose captured values are the current ones."""
        key = concrete.key
        with self._cache.tracing(key):
            for other in self._cache.variants(concrete):
                if other.reads is None or other.reads.is_fresh():
                    self._cache.replace(concrete, other)
                    return other, False

            def refuse(variable: Any) -> None:
                raise refusal(self._created)

            new = self._recorded(key, bound, key[1:], True, refuse)
            new.key = key
            self._cache.replace(concrete, new)
            trace_limits.used(new)
            trace_limits.enforce(new)
            return new, True

    def _count(self, traces: int) -> None:
        with _counting:
            self._traced += traces

    def _record(
        self,
        bound: Bound,
        types: Sequence[TraceType],
        has_values: bool,
        admit: Callable[[Any], None],
    ) -> ConcreteFunction:
        attributes = self._options.declared()
        origin, start = origins.caller(), time.perf_counter()
        graph = FuncGraph(self._name)
        graph.admit_variable = admit
        graph.variable_sites = self._sites.of_trace()
        graph.compiled_whole |= bool(self._options.jit_compile)
        graph.seed = getattr(getattr(door.level(), "graph", None), "seed", None)
        function = self._python_function
        if self._options.autograph:
            function = converted(function, self._options.autograph_options)
        with recording(POLICY.check_arrays) as recorder:
            output = trace(
                function,
                self._shown(),
                graph,
                bound,
                types,
                converted=self._options.autograph,
                has_values=has_values,
            )
            reads, effects = recorder.finished(), recorder.effects
        graph.admit_variable = graph.variable_sites = None
        whole = typed(self._signature, bound, types, optional=self._constraints is not None)
        whole.output = output
        concrete = ConcreteFunction(graph, whole, bound, self._name)
        concrete.jit_compile = self._options.jit_compile
        concrete.effects, concrete.states = effects, graph.declared
        if reads:
            concrete.reads = TraceReads(reads)
        concrete.origin, concrete.seconds = origin, time.perf_counter() - start
        if attributes:
            implementations.declare(concrete.frozen, attributes)
        return concrete


def _call_form(bound: Bound) -> Hashable:
    """The part of the cache key besides the types: the context of the call, such as its replica."""
    form = (bound.extra, bound.keywords)
    return form if RUNNING.replica is None else (*form, RUNNING.replica)


def _tensors(types: Sequence[TraceType], values: Sequence[Any]) -> list[Any]:
    """The tensors that a call with these values passes to a graph."""
    tensors: list[Any] = []
    for kind, value in zip(types, values, strict=True):
        if type(kind) is not TensorSpec:
            tensors += kind.to_tensors(value)
        elif isinstance(value, Tensor):
            tensors.append(value)
        else:
            tensors.append(kind.cast(value))
    return tensors


class Method(Function):
    """The function of one object, which keeps the object alive as Python's methods do.

    It shares everything else with the function that is kept for the object, whose traces
    must not keep the object alive.
    """

    __slots__ = ("__self__",)

    def __init__(self, instance: Any, function: Function) -> None:
        self.__self__ = instance
        # Both share one `__dict__`.
        self.__dict__ = function.__dict__  # pyright: ignore[reportGeneralTypeIssues]  # a method shares all that its function has

    def __reduce__(self) -> Any:
        return getattr, (self.__self__, self._name)


def _unpickled(function: Callable[..., Any], name: str, options: Options) -> Function:
    return Function(function, name, options)


def traced(function: Any) -> Function:
    """A callable as a traced function with the default options."""
    return Function(function, getattr(function, "__name__", type(function).__name__), Options())
