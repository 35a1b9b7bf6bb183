"""`ConcreteFunction`: one trace, callable with tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/types/experimental/ConcreteFunction.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from intaglio import xla
from intaglio.accelerators.tensors import keep_copies, reports_of
from intaglio.autograph.declared_state import State, hand_over, take_back
from intaglio.autograph.reads import absorb
from intaglio.autograph.side_effects import Effects
from intaglio.base import nest, origins
from intaglio.base.devices import is_default_chosen, is_host, placed
from intaglio.base.locks import lasting_lock
from intaglio.base.log import logger
from intaglio.base.origins import Frame, Origin
from intaglio.base.shapes import TensorShape
from intaglio.function import pipeline, trace_limits
from intaglio.function.captures import TraceReads
from intaglio.function.explanation import CompileReport, Traced
from intaglio.function.inspection import Inspected
from intaglio.function.kinds import AtomicFunction, ConcreteFunctionKind
from intaglio.function.signature import Bound, FunctionType, failed_binding
from intaglio.function.trace_types import Literal, Weakref
from intaglio.function.user_errors import expected_dtype, graph_failure
from intaglio.ir import implementations
from intaglio.ir.builder import is_node_name
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import SymbolicTensor
from intaglio.ir.hooks import HOOKS
from intaglio.ir.leaks import leaked
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.eager import EagerTensor
from intaglio.runtime.executors import EXECUTORS, executor_of
from intaglio.runtime.placement import eager_level
from intaglio.trace.graph import FuncGraph
from intaglio.trace.large_constants import MIN_BYTES
from intaglio.type_specs import dimensions
from intaglio.type_specs.trace_type import TraceType
from intaglio.type_specs.type_spec import TensorSpec

# Serial numbers that make the names of traces unique in a process, as TensorFlow names its functions.
_uids = itertools.count(1)
# Held while a trace's next call chooses what it runs.
_preparing = lasting_lock()


class UnknownArgument:
    """Stands for an argument that is neither a tensor nor a plain Python value."""


class ConcreteFunction(Inspected, ConcreteFunctionKind):
    """A traced graph with the signature that it was traced for.

    Call it with the arguments of the Python function (Python values must be those of the
    trace, or be left out) or with the tensors alone, in order.
    """

    def __init__(
        self, graph: FuncGraph, function_type: FunctionType, bound: Bound, python_name: str
    ) -> None:
        self._graph = graph
        self.number = next(_uids)
        self._name = f"__inference_{python_name}_{self.number}"
        self._bound = bound._replace(values=[])  # arguments are not kept alive
        self._python_name = python_name
        self._type = FunctionType(
            list(function_type.parameters.values()),
            function_type.output,
            {id(outer): TensorSpec(outer.dims, outer.dtype) for outer, _ in graph.captures},
        )
        # in the order in which calls pass the tensors
        self.types = tuple([self._type.parameters[n].typed for n in bound.names])
        flat = zip(bound.names, self.types, strict=True)
        # The check of dimensions with names, if there are any.
        self.check_dimensions = dimensions.check_of(
            python_name, [(name, spec) for name, kind in flat for spec in kind.flatten()]
        )
        self._frozen: FrozenGraph | None = None
        self._run: Callable[..., tuple[Any, ...]] | None = None
        self._was_called = False
        self._is_optimizing = False  # a thread is preparing `_run`
        # The accelerator of the graph's nodes: None before the first look-up, "" if there is none.
        self._placed: str | None = None
        self._arrays: tuple[Any, ...] | None = None
        self._keywords: list[str] | None = None
        self._dtypes = tuple([v.dtype for v in graph.inputs])
        self._arguments = len(graph.inputs) - len(graph.captures)
        self._pack = _packer(self._type.output)
        # The user's frames at the time of tracing, innermost first, and the seconds that tracing took.
        self.origin: Origin = ()
        self.seconds = 0.0
        # The replacements of the trace's captures and variables, if there are any.
        self._replaced: list[Tensor] | None = None
        # Whether one of the captures is on an accelerator or a mesh of devices; None until it is needed.
        self._has_captures_elsewhere: bool | None = None
        # Whether captured tensors of the host are copied to a device once instead of by each call.
        self._keeps_copies = False
        self._variables: tuple[Any, ...] | None = None
        # Functions that hold the arrays of captures: they are notified when these are replaced.
        self.taking_captures: list[Callable[[tuple[Any, ...]], None]] = []
        self.general_calls = 0  # calls through binding and the cache, for `Function`
        # An argument that no entry can guard, so that all calls are bound and converted.
        self.bound_anew: str | None = None
        # The trace's reads of Python state, and its key in the cache of `Function`.
        self.reads: TraceReads | None = None
        self.effects = Effects()
        self.states: tuple[State, ...] = ()
        self.key: Any = None
        self.last_used = 0  # in the order of all uses, as far as entries do not hide them
        # True requires machine code, False forbids it.
        self.jit_compile: bool | None = False

    # -- properties -------------------------------------------------------------------

    @property
    def name(self) -> bytes:
        """The graph's unique name, as bytes."""
        return self._name.encode()

    @property
    def python_name(self) -> str:
        """The name of the Python function that was traced."""
        return self._python_name

    @property
    def graph(self) -> FuncGraph:
        """The graph as it was recorded."""
        return self._graph

    @property
    def frozen(self) -> FrozenGraph:
        """The immutable graph that runs."""
        if self._frozen is None:
            self._graph.get_operations()
            graph = self._graph.freeze_function()
            graph.name = self._name
            if self.jit_compile:
                graph.derived[interpreter.COMPILER] = pipeline.compiled
            elif self.jit_compile is None:
                graph.derived[interpreter.MAY_BE_COMPILED] = True
            self._frozen = graph
        return self._frozen

    @property
    def traced(self) -> Traced:
        """What distinguishes this trace from others of its function."""
        where = origins.frames(self.origin[:1])
        types = {name: p.typed for name, p in self._type.parameters.items()}
        reads = () if self.reads is None else self.reads.all
        read = {r.name: r.before() for r in reads}
        programs = getattr(self._run, "shapes", ())
        line = where[0] if where else None
        by_reads = self.reads is not None and self.reads.distinguish
        return Traced(types, line, self.seconds, read, programs, self.number, by_reads)

    @property
    def function_type(self) -> FunctionType:
        """The types of parameters, output and captures."""
        return self._type

    @property
    def inputs(self) -> list[SymbolicTensor]:
        """The graph's inputs: arguments first, then captures."""
        return list(self._graph.inputs)

    @property
    def outputs(self) -> list[SymbolicTensor]:
        """The graph's outputs, flat."""
        return list(self._graph.outputs)

    @property
    def structured_outputs(self) -> Any:
        """The outputs in the structure that the function returned."""
        return self._graph.structured_outputs

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the outputs, in their structure."""
        return self._outputs_as(lambda t: t.dtype, lambda _: None)

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the outputs, in their structure."""
        return self._outputs_as(lambda t: t.shape, lambda _: TensorShape(None))

    def _outputs_as(self, of_tensor: Callable[[Any], Any], of_other: Callable[[Any], Any]) -> Any:
        structure = self._graph.structured_outputs
        if structure is None:
            return None
        return nest.map_structure(
            lambda v: of_tensor(v) if isinstance(v, (Tensor, TensorSpec)) else of_other(v),
            structure,
            expand_composites=True,
        )

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The outer tensors that every call passes along."""
        return list(self._captured)

    def set_external_captures(self, captures: Any) -> None:
        """Calls pass these tensors from now on instead of `captured_inputs`, in the same order.

        Raises ValueError for another number of them.
        """
        tensors = list(captures)
        if len(tensors) != len(self._captured):
            raise ValueError(
                f"{self._python_name} captures {len(self._captured)} tensors, got {len(tensors)}."
            )
        self._replaced = tensors
        self._arrays = self._has_captures_elsewhere = None
        self._keeps_copies = False
        for take in self.taking_captures:
            take(self.capture_arrays)

    def set_variables(self, variables: Any) -> None:
        """Names the variables that the function uses: tapes watch these when it is called."""
        self._variables = tuple(variables)

    @property
    def _captured(self) -> list[Tensor]:
        replaced = self._replaced
        return self._graph.external_captures if replaced is None else replaced

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses."""
        own = self._variables
        return self._graph.variables if own is None else own

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The trainable among `variables`."""
        return tuple([v for v in self.variables if v.trainable])

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) of specs and Python values, as the function was traced."""
        names = self._bound.names
        args, kwargs = self._bound.call_with(
            [described(t, (n,)) for t, n in zip(self.types, names, strict=True)]
        )
        return tuple(args), {n: kwargs[n] for n in self._type.parameters if n in kwargs}

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The signature as text: parameters, output and captures, or one line."""
        if not verbose:
            return str(self._type)
        return repr(self._type)

    @property
    def inference_fn(self) -> AtomicFunction:
        """The graph, to be called with tensors alone."""
        return Inference(self)

    @property
    def function_def(self) -> Any:
        """The graph as a `FunctionDef` message."""
        return HOOKS.exporter.function_def(self.frozen)

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Makes the function known to a graph, as one that implements an interface may run in it.

        It lives as long as other implementations of its interface. Nothing else is done: graphs know the
        functions that they call.
        """
        implementations.keep(self.frozen)

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Makes the functions of the gradient known to a graph; as `add_to_graph`, it does nothing."""

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self._type!s} at 0x{id(self):X}>"

    # -- calling ----------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the graph. Raises TypeError for arguments that do not fit the signature."""
        return self._pack(self.call_flat(self.flat_arguments(args, kwargs)))

    def flat_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        """The tensors that a call passes: by the signature, or else as tensors alone."""
        try:
            tensors = self._structured(args, kwargs)
        except (TypeError, ValueError, AssertionError) as structured:
            try:
                tensors = self._flat(args, kwargs)
            except TypeError as flat:
                whole = failed_binding(structured, args, kwargs, self._type)
                raise TypeError(
                    f"{whole}\nFallback to flat signature also failed due to: {flat}"
                ) from None
        self._check(tensors)
        return tensors

    def _structured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        bound = self._type.bind(*args, **kwargs)
        tensors: list[Tensor] = []
        for name, kind in zip(self._bound.names, self.types, strict=True):
            value = bound[name]
            if isinstance(kind, TensorSpec):
                tensors.append(
                    value if isinstance(value, Tensor) else convert.to_tensor(value, kind.dtype)
                )
            else:
                tensors += kind.to_tensors(kind.cast(value))
        return tensors

    @property
    def arg_keywords(self) -> list[str]:
        """The names of the tensor arguments, for calls with tensors alone."""
        if self._keywords is None:
            self._keywords = [v.node.name for v in self._graph.inputs[: self._arguments]]
        return self._keywords

    def _flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
        names = self.arg_keywords
        call = f"{self._python_name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{call} takes {len(names)} positional arguments, got {len(args)}.")
        left = dict(kwargs)
        positional = list(args)
        missing: list[str] = []
        for name in names[len(args) :]:
            if name in left:
                positional.append(left.pop(name))
            else:
                missing.append(name)
        if missing:
            raise TypeError(f"{call} missing required arguments: {', '.join(missing)}.")
        twice = [n for n in left if n in names]
        if twice:
            raise TypeError(f"{call} got two values for {twice[0]!r}.")
        if left:
            raise TypeError(f"{call} got unexpected keyword arguments: {', '.join(left)}.")
        for index, value in enumerate(positional):
            if not isinstance(value, Tensor) and not hasattr(value, "__tf_tensor__"):
                raise TypeError(
                    f"{call}: expected argument #{index}(zero-based) to be a Tensor; "
                    f"got {type(value).__name__} ({value})."
                )
        return [convert.to_tensor(v) for v in positional]

    def _check(self, tensors: Sequence[Tensor]) -> None:
        for index, (tensor, dtype) in enumerate(zip(tensors, self._dtypes, strict=False)):
            if tensor.dtype is not dtype:
                raise expected_dtype(self._name, index, dtype, tensor.dtype)
        if self.check_dimensions is not None:
            self.check_dimensions(tensors)

    def call_flat(self, tensors: list[Tensor]) -> Sequence[Tensor]:
        """Runs or records the call with the tensors of all arguments; returns flat outputs."""
        level = door.level()
        elsewhere = level.is_elsewhere or self.runs_elsewhere(tensors)
        if level.eager and not level.watchers and not elsewhere:
            return self._run_now(tensors)
        for variable in self.variables:
            _accessed(level, variable)
        if self.reads is not None and not level.eager:
            absorb(self.reads.all)
        inputs = [*tensors, *self._captured]
        if elsewhere and not self._keeps_copies:
            keep_copies(self._captured)
            self._keeps_copies = True
        is_seen = elsewhere or any([w.depends(inputs) for w in level.watchers])
        if level.eager and not is_seen:
            return self._run_now(tensors)
        return self.carry_out(inputs)

    def runs_elsewhere(self, tensors: Sequence[Tensor] = ()) -> bool:
        """Whether an accelerator computes the call: some of its tensors or nodes are on one."""
        if EXECUTORS and (executor_of(tensors) is not None or self._captures_elsewhere()):
            return True
        return self._device() is not None

    def _captures_elsewhere(self) -> bool:
        """Whether a captured tensor is not on the host."""
        if self._has_captures_elsewhere is None:
            self._has_captures_elsewhere = executor_of(self._captured) is not None
        return self._has_captures_elsewhere

    def _device(self) -> str | None:
        """The accelerator that nodes of the graph are placed on, which then computes all of it."""
        if self._placed is None:
            names = {n.device: None for n in self.frozen.nodes if n.device}
            found = [placed(name) for name in names]
            self._placed = next((d for d in found if d is not None and not is_host(d)), "")
        return self._placed or None

    def carry_out(self, inputs: list[Tensor]) -> Sequence[Tensor]:
        """Executes the call as one op of the current level: eagerly, or as a recorded node."""
        graph = self.frozen
        op = raw.StatefulPartitionedCall if graph.stateful else raw.PartitionedCall
        attrs = {
            "Tin": tuple([t.dtype for t in inputs]),
            "f": graph,
            "Tout": tuple([t.dtype for t in graph.outputs]),
            "config": "",
            "config_proto": "",
            "executor_type": "",
        }
        if not door.level().eager:
            return door.carry_out(op, inputs, attrs, None)
        device = None if door.level().is_elsewhere else self._device()
        try:
            if device is None:
                return door.carry_out(op, inputs, attrs, None)
            with door.pushed(eager_level(device, door.level())):
                return door.carry_out(op, inputs, attrs, None)
        except Exception as e:
            self.fail(e)

    def _run_now(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        run = self._run or self.prepare()
        try:
            arrays = [t._array for t in tensors]
        except AttributeError:
            raise leaked(next(t for t in tensors if not isinstance(t, EagerTensor))) from None
        try:
            wrap = door.level().constant  # on the device of the call
            return [wrap(a) for a in run(*arrays, *self.capture_arrays)]
        except Exception as e:
            self.fail(e)

    def prepare(self) -> Callable[..., tuple[Any, ...]]:
        """The graph as a Python function of arrays, arguments and then captures, for the next call.

        The first call runs node by node, and what comes after it is optimised.
        """
        if not self._prepares_first:
            with _preparing:
                if self._run is not None:  # another thread is done meanwhile
                    return self._run
                is_first, self._was_called = not self._was_called, True
                if is_first or self._is_optimizing:
                    return functools.partial(interpreter.run_nodes, self.frozen)
                self._is_optimizing = True
        return self.optimized_run()

    @property
    def _prepares_first(self) -> bool:
        """Whether the graph is optimised or compiled before its first call: all calls give the same bits."""
        if self.jit_compile or pipeline.optimizes_first(self.frozen):
            return True
        graph = self.frozen
        is_ahead = pipeline.compiles_ahead(graph) or pipeline.divides_first(graph)
        return is_ahead and not self._trains

    def optimized_run(self) -> Callable[..., tuple[Any, ...]]:
        """The optimised or compiled graph as a function of arrays, for a repeated call."""
        run = self._run
        if run is None:
            make = pipeline.compiled if self.jit_compile else pipeline.optimized_run
            if self.jit_compile is None:
                make = functools.partial(pipeline.tiered, trains=self._trains)
            if self._trains:
                _note_unused_accelerator()
            self._is_optimizing = True
            try:
                run = self._run = make(self.frozen)
            finally:
                self._is_optimizing = False
        return run

    def advance_counters(self) -> None:
        """Repeats the trace's additions to Python numbers: `effects("replay")`."""
        for counter in self.effects.counters.values():
            counter.advance()

    def call_with_state(self, tensors: list[Tensor]) -> Sequence[Tensor]:
        """`call_flat` with declared Python state: attributes are passed in, and assigned from outputs."""
        if not self.states:
            return self.call_flat(tensors)
        if not door.level().eager:
            hand_over(self.states)
            results = self.call_flat(tensors)
            take_back(self.states)
            return results
        for state in self.states:
            state.take()
        results = self.call_flat(tensors)
        for state in self.states:
            state.put()
        return results

    @property
    def bytes(self) -> int:
        """An estimate of the trace's memory in bytes."""
        nodes = self._graph.nodes
        arrays = [n.attrs.get("value") for n in nodes if n.op is raw.Const]
        data = sum([getattr(a, "nbytes", 0) for a in arrays])
        return trace_limits.BYTES_PER_TRACE + trace_limits.BYTES_PER_NODE * len(nodes) + data

    @property
    def constants(self) -> list[tuple[Frame | None, int]]:
        """The lines of large constants of the graph, with their bytes."""
        arrays = [(n, n.attrs.get("value")) for n in self._graph.nodes if n.op is raw.Const]
        sizes = [(n, getattr(a, "nbytes", 0)) for n, a in arrays]
        large = [(n, size) for n, size in sizes if size >= MIN_BYTES]
        return [(next(iter(origins.frames(n.origin[:1])), None), size) for n, size in large]

    @property
    def _trains(self) -> bool:
        """Whether calls write trainable variables, so that no two need to give the same results."""
        handles = {id(v.handle) for v in self.trainable_variables}
        captured = [i for o, i in self._graph.captures if id(o) in handles]
        return pipeline.writes_to(self.frozen, captured)

    def compile_report(self) -> str:
        """A line for each step of the graph as it runs: machine code, or why not."""
        elsewhere = reports_of(self.frozen)
        if elsewhere and self._run is None:
            return CompileReport("\n".join(elsewhere))
        here = pipeline.report(self.frozen, bool(self.jit_compile), self._run)
        return CompileReport("\n".join([here, *elsewhere]))

    @property
    def runs_native(self) -> bool:
        """Whether calls run machine code, for those ops of the trace that have it."""
        return self._run is not None and (
            bool(self.jit_compile) or bool(getattr(self._run, "native", False))
        )

    @property
    def capture_arrays(self) -> tuple[Any, ...]:
        """The values of the captures. Raises TypeError for tensors of a finished graph."""
        arrays = self._arrays
        if arrays is None:
            captured = self._captured
            symbolic = [t for t in captured if not isinstance(t, EagerTensor)]
            if symbolic:
                raise leaked(symbolic[0])
            arrays = self._arrays = tuple([t._array for t in captured])
        return arrays

    def failure(self, error: Exception) -> Exception:
        """The error of a run, with the node's name and the user's lines."""
        return graph_failure(error, self._name)

    def fail(self, error: Exception) -> NoReturn:
        """Raises the error of a run with its origin; a user's own error as it is, with its cause."""
        reported = self.failure(error)
        if reported is error:
            raise reported
        raise reported from None

    @property
    def pack(self) -> Callable[[Sequence[Tensor]], Any]:
        """Puts flat outputs into the structure that the function returned."""
        return self._pack


UNUSED = (
    "A training step runs on the host, though jax has a plugin for other devices. INTAGLIO_DEFAULT_DEVICE=GPU:0, "
    "intaglio.default_device or tf.device says that it runs there; INTAGLIO_DEFAULT_DEVICE=CPU:0 that it does not."
)


@functools.cache
def _note_unused_accelerator() -> None:
    """Logs once that the machine may have an accelerator that the program does not use."""
    if xla.has_plugin() and not is_default_chosen():
        logger().warning(UNUSED)


class Inference(AtomicFunction):
    """A concrete function's graph, called with flat tensors."""

    def __init__(self, concrete: ConcreteFunction) -> None:
        self._concrete = concrete

    @property
    def name(self) -> bytes:
        """The graph's name."""
        return self._concrete.name

    @property
    def function_type(self) -> FunctionType:
        """The types of parameters, output and captures."""
        return self._concrete.function_type

    @property
    def graph(self) -> FuncGraph:
        """The graph as it was recorded."""
        return self._concrete.graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._concrete(*args, **kwargs)

    def call_flat(self, *args: Tensor) -> Sequence[Tensor]:
        """Calls the graph with the tensors of arguments and captures; returns flat outputs."""
        return self._concrete.carry_out(list(args))

    def call_with_captures(self, args: Any, kwargs: dict[str, Any], captures: Any) -> Any:
        tensors = self._concrete.flat_arguments(tuple(args), kwargs)
        outputs = self._concrete.carry_out([*tensors, *captures])
        return self._concrete.pack(outputs)


def _accessed(level: door.Level, variable: Any) -> None:
    """Notifies tapes, or the graph being recorded, that a call uses the variable."""
    for watcher in level.watchers:
        watch = getattr(watcher, "watch_variable", None)
        if watch is not None:
            watch(variable)
    watch = getattr(getattr(level, "graph", None), "watch_variable", None)
    if watch is not None:
        watch(variable)


def _packer(output: TraceType | None) -> Callable[[Sequence[Tensor]], Any]:
    if isinstance(output, TensorSpec):
        return lambda flat: flat[0]
    if output is None or (isinstance(output, Literal) and output.value is None):
        return lambda flat: None
    return lambda flat: output.from_tensors(iter(flat))


def described(kind: TraceType, path: tuple[Any, ...]) -> Any:
    """A type as `structured_input_signature` shows it: specs with names, values, placeholders."""
    if isinstance(kind, TensorSpec):
        label = "_".join(map(str, path)).lower()
        if not is_node_name(label):
            label = f"tensor_{label}"
        return kind if kind.name else TensorSpec.from_spec(kind, label)
    if isinstance(kind, Literal):
        return kind.value
    if isinstance(kind, Weakref):
        return UnknownArgument()
    parts = getattr(kind, "parts", None)
    if parts is None:
        return kind
    labels = getattr(kind, "keys", getattr(kind, "names", range(len(parts))))
    return kind._make(  # type: ignore[attr-defined]  # a named tuple
        [described(p, (*path, n)) for p, n in zip(parts, labels, strict=True)]
    )
