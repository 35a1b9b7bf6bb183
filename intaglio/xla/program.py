"""A graph as XLA programs, one for each combination of shapes that calls have.

A call passes arrays; handles of variables stand for their values, which the program takes and
returns. The results are arrays of NumPy that share their memory with those of jax.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import SingleDeviceSharding

from intaglio.base import shapes
from intaglio.base.device_spec import DeviceSpec
from intaglio.base.locks import lasting_lock
from intaglio.base.options import OPTIONS
from intaglio.ir import resources, walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef.spec import Spec
from intaglio.ops.random.philox import Stream
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES
from intaglio.runtime.resources import Locks, Resource, donate, give
from intaglio.xla import checks, collectives, direct_calls, donated, meshes, registry, rules, target
from intaglio.xla.evaluator import Evaluator, NodeUntraceable
from intaglio.xla.lists import List
from intaglio.xla.rules import replicas
from intaglio.xla.spanning import NotAlike, Spanning, agree, compared, exchange_in
from intaglio.xla.state import State, Variable
from intaglio.xla.transfers import fetched, put
from intaglio.xla.values import Untraceable

# Programs kept for a graph; the least recently used one goes.
MAX_PROGRAMS = 16
# A variable, by the first input that it is; or all copies of one.
Unit = int | tuple[int, ...]
Run = Callable[..., tuple[Any, ...]]
# An argument of at most so many integers may be part of a program.
MAX_CONSTANT_ELEMENTS = 16


class Program:
    """The graph compiled for arguments of these shapes.

    Variables that the graph may write are donated: XLA writes their new values to the same memory
    where nothing else refers to it. Of a program that `stays` on its devices the results are arrays
    of these; nothing is donated, and variables keep their shardings. A program of a `device` takes and
    returns arrays of that one, and donates. Others are the host's, also where jax has an accelerator.
    """

    def __init__(
        self,
        graph: Graph,
        arrays: Sequence[Any],
        streams: Sequence[Node],
        constants: Sequence[int] = (),
        stays: bool = False,
        device: Any = None,
        exchange: Node | None = None,
    ) -> None:
        self.graph = graph
        self._device = device
        self._exchange = exchange
        self._result_of = _itself if stays or device is not None else np.asarray
        # Arguments whose values are part of the program, as shapes and numbers of iterations are.
        self._constants = {i: fetched(arrays[i]) for i in constants}
        self.routes: dict[str, str] = {}
        self._streams = streams
        # The position of the first input with the same variable, for each that is a variable.
        first_inputs: dict[int, int] = {}
        self.variables = {
            i: first_inputs.setdefault(id(a), i)
            for i, a in enumerate(arrays)
            if isinstance(a, Resource)
        }
        self._ids = [id(arrays[i]) for i in self.variables]
        self.shapes = tuple([_shape(a) for a in arrays])
        self._specs = {i: arrays[i].spec for i in self.variables}
        values = [p for p in first_inputs.values() if arrays[p].initialized]
        # Whether all variables had a value: they keep one, and the program is for them from then on.
        self.has_values = len(values) == len(first_inputs)
        changed = {self.variables.get(i) for i in resources.written(graph)}
        self._group(arrays, set(values), stays)
        units: list[Unit] = [p for p in values if p not in self._rows]
        units += self._copies
        self._donated = [u for u in units if not changed.isdisjoint(_positions(u))]
        self._donated_positions = [p for u in self._donated for p in _positions(u)]
        self._shardings = {p: getattr(arrays[p], "sharding", None) for p in values}
        self._read = [u for u in units if u not in self._donated]
        self.written: tuple[Unit, ...] = ()
        # What is no array, such as a list of the host: a node that takes one is no part of the program.
        self._objects = [i for i, a in enumerate(arrays) if not _is_passed(a)]
        in_groups = [i for group in self._batches for i in group]
        left_out = {*self.variables, *self._constants, *self._objects, *in_groups}
        self._passed = [i for i in range(len(arrays)) if i not in left_out]
        self._checks = checks.Checks(graph) if _has_checks(graph) else None
        self.is_plain = not (exchange or left_out or streams or self._checks)
        # The operands of the function of jax: donated variables, other variables, arrays, streams.
        counts = len(self._donated), len(self._read), len(self._passed) + len(self._batches)
        self._ends = [*itertools.accumulate(counts)]
        donates = () if stays else tuple(range(len(self._donated)))
        replicas_on = _kinds_of_replicas(graph)
        self._is_of_host = device is None and not stays and replicas_on <= {"CPU"}
        # The value of the host that a variable had in the last call, by the ids of both.
        self._last_values: dict[int, int] = {}
        self._keeps_copies = self._is_of_host and not replicas_on
        # The device of arrays of the host that a mesh of the host's devices takes; None: jax selects it.
        self._home, shardings = self._placement(device, bool(replicas_on))
        self._run: Any = (
            jax.jit(self._flat, donate_argnums=donates, **shardings)
            if exchange is None
            else Spanning(exchange, self._flat, donates)
        )
        # How far the program moves each stream, where that does not follow from data.
        self.distances: list[int | None] = [None] * len(streams)

    def _placement(self, device: Any, has_replicas: bool) -> tuple[Any, dict[str, Any]]:
        """The device of arrays of the host, and the shardings of the program's arguments and results."""
        if device is not None:
            return None, {"out_shardings": SingleDeviceSharding(device)}
        if not self._is_of_host or jax.default_backend() == "cpu":
            return None, {}
        host = meshes.host_devices()[0]  # jax would take an accelerator
        if has_replicas:
            return host, {}
        here = SingleDeviceSharding(host)
        return None, {"in_shardings": here, "out_shardings": here}

    def _group(self, arrays: Sequence[Any], values: set[int], stays: bool) -> None:
        """Finds the variables and arrays of which each device of a mesh has one."""
        self._copies: dict[tuple[int, ...], Any] = {}
        self._batches: dict[tuple[int, ...], Any] = {}
        for inputs, sharding in () if stays else replicas.groups(self.graph):
            positions = tuple([self.variables.get(i, -1) for i in inputs])
            if values.issuperset(positions):
                self._copies[positions] = sharding
            elif set(positions) == {-1} and self._constants.keys().isdisjoint(inputs):
                self._batches |= {inputs: sharding} if _are_alike(arrays, inputs) else {}
        self._rows = {
            place: (replicas.group_key(positions), row)
            for positions in self._copies
            for row, place in enumerate(positions)
        }

    def _flat(self, *operands: Any) -> Any:
        """The program as a function of arrays that gives arrays: jax takes and returns these faster than lists.

        The results are the outputs, the new values of variables, and the rest; a single one is not in a tuple.
        """
        results = tuple(itertools.chain(*self._traced(operands)))
        return results[0] if len(results) == 1 else results

    def _traced(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The outputs, the new values of the variables written, and the positions of streams and checks."""
        _, last, end = self._ends
        arrays, words = operands[last:end], operands[end:]
        units = zip([*self._donated, *self._read], operands[:last], strict=True)
        known = {_key_of(unit): value for unit, value in units}
        state = State({**known, **dict(zip(self._streams, words, strict=True))})
        state.rows, state.checks = self._rows, self._checks
        state.spans = self._exchange is not None
        evaluator = Evaluator(state, self._note)
        inputs: list[Any] = [None] * len(self.shapes)
        for index, array in zip([*self._passed, *self._batches], arrays, strict=True):
            if isinstance(index, int):
                inputs[index] = array
                continue
            evaluator.stacked[tuple([id(self.graph.inputs[i]) for i in index])] = array
            for row, place in enumerate(index):
                inputs[place] = array[row]
        for index in self._objects:
            inputs[index] = checks.HostArgument(index)
        for index, value in self._constants.items():
            inputs[index] = value
        for index, place in self.variables.items():
            inputs[index] = Variable(place, self._specs[place])
        with _precision(), target.of(self._platform()):
            found = evaluator.run(self.graph, inputs)
        for value, result in zip(self.graph.outputs, found, strict=True):
            if isinstance(result, (Variable, List)) or not hasattr(result, "dtype"):
                raise NodeUntraceable(
                    value.node, "its result, which leaves the program, is no array"
                )
        changed = {u: None for u in map(_unit_of, state.written) if u is not None}
        self.written = tuple({**dict.fromkeys(self._donated), **changed})
        self.distances = [state.distances.get(s, 0) for s in self._streams]
        outputs = [jnp.asarray(v) for v in found]
        new_values = [
            self._as_variable(u, jnp.asarray(state.read(_key_of(u)))) for u in self.written
        ]
        cells = [] if self._checks is None else self._checks.cells
        return outputs, new_values, [state.read(k) for k in (*self._streams, *cells)]

    def _platform(self) -> str:
        """The platform that the program is for: cpu, gpu or tpu."""
        if self._device is not None:
            return self._device.platform
        return "cpu" if self._is_of_host else jax.default_backend()

    def variables_are(self, arrays: Sequence[Any]) -> bool:
        """Whether the variables of a call are those that the program was made for."""
        return [*map(id, map(arrays.__getitem__, self.variables))] == self._ids

    def _as_variable(self, unit: Unit, value: Any) -> Any:
        """A new value, divided among devices as the variable is."""
        shardings: dict[Any, Any] = self._copies if isinstance(unit, tuple) else self._shardings
        sharding = shardings.get(unit)
        return value if sharding is None else jax.lax.with_sharding_constraint(value, sharding)

    def tried(self, arrays: Sequence[Any], words: Any) -> None:
        """Traces the program without compiling it. Raises Untraceable if it cannot be one."""
        jax.eval_shape(self._flat, *self.operands(arrays, words))

    def outputs_of(self, arrays: Sequence[Any], words: Any) -> Any:
        """The outputs as part of a program that is being traced."""
        return self._traced(self.operands(arrays, words))[0]

    def _note(self, node: Node, route: str) -> None:
        if route == "rule":  # it may have said more
            self.routes.setdefault(node.op.name, route)
        else:
            self.routes[node.op.name] = route

    def operands(self, arrays: Sequence[Any], words: Any) -> list[Any]:
        """What the program takes for a call's arrays; variables keep what they have."""
        return [*self._values(self._donated, arrays), *self._others(arrays, words)]

    def _others(self, arrays: Sequence[Any], words: Any) -> list[Any]:
        """The operands after donated variables."""
        passed = self._here([arrays[i] for i in self._passed])
        for group, sharding in self._batches.items():
            passed.append(meshes.stacked([arrays[i] for i in group], sharding))
        return [*self._values(self._read, arrays), *passed, *self._here(words)]

    def _values(self, units: Sequence[Unit], arrays: Sequence[Any]) -> list[Any]:
        """The present values of variables, as the program takes them."""
        values = [self.value_of(arrays[p]) for u in units for p in _positions(u)]
        return self._as_operands(units, values)

    def value_of(self, variable: Any) -> Any:
        """A variable's present value, on the device if it stays as it is.

        What the last call read from the host, too, is kept on the device. What other code writes between
        calls is not: it would be copied twice.
        """
        value = variable.on_device()
        if self._keeps_copies and type(value) is np.ndarray:
            if self._last_values.get(id(variable)) == id(value):
                value, read = meshes.on_host(value), value
                variable.keep_copy(read, value)
            else:
                self._last_values[id(variable)] = id(value)
        return value

    def _as_operands(self, units: Sequence[Unit], values: list[Any]) -> list[Any]:
        """Values of variables, in the order of their positions, as the program takes them."""
        if not self._copies and self._device is None and meshes.Part not in map(type, values):
            return values
        found: list[Any] = []
        rest = iter(values)
        for unit in units:
            if isinstance(unit, tuple):
                rows = [next(rest) for _ in unit]
                found.append(meshes.stacked(rows, self._copies[unit]))
            else:
                found.append(self._of_variable(next(rest)))
        return found

    def _here(self, arrays: Sequence[Any]) -> list[Any]:
        """The arrays where the program takes them: on its device."""
        device = self._device
        if device is None:
            return [*arrays]
        return [put(a, device) if isinstance(a, _HOST_ARRAYS) else a for a in arrays]

    def _of_variable(self, value: Any) -> Any:
        """The value of a variable of one copy."""
        if isinstance(value, meshes.Part):
            value = np.asarray(value)
        return value if self._device is None else put(value, self._device)

    def plain(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs of a program without variables and random numbers."""
        return tuple(map(self._result_of, _in_tuple(self._run(*self._here(arrays)))))

    @property
    def is_simple(self) -> bool:
        """Whether arrays of the host and variables that have values are all that goes in and comes out."""
        has_others = (
            self._exchange or self._streams or self._checks or self._constants or self._objects
        )
        has_groups = self._copies or self._batches
        is_here = (
            self._is_of_host and self._home is None and len(self.written) == len(self._donated)
        )
        return is_here and self.has_values and not has_others and not has_groups

    @property
    def run(self) -> Run:
        """The function of jax, of operands as `operands` gives them."""
        return self._run

    @property
    def operand_indices(self) -> tuple[list[int], list[int], list[int]]:
        """The arguments of a simple program that are donated variables, read variables, and arrays."""
        return self._donated_positions, [p for u in self._read for p in _positions(u)], self._passed

    def __call__(self, arrays: Sequence[Any], words: Any) -> tuple[tuple[Any, ...], Any, Any]:
        """The outputs as arrays, the streams' positions after the call, and what `verify` takes.

        Variables are written.
        """
        if self.is_plain:
            return self.plain(arrays), (), ()
        others = self._others(arrays, words)
        variables = [arrays[p] for p in self._donated_positions]
        with Locks(variables):
            taken = kept = donate(variables)
            try:
                operands = self._as_operands(self._donated, donated.apart(taken))
                with self._default_device():
                    found = _in_tuple(self._run(*operands, *others))
                count = len(self.graph.outputs)
                end = count + len(self.written)
                values = self._new_values(found[count:end])
                outputs = tuple([self._result_of(v) for v in found[:count]])
                kept = values[: len(variables)]
            except Exception as e:
                donated.raise_if_lost(variables, taken, e)
                raise
            finally:
                give(variables, taken, kept)
        if len(values) > len(variables):
            self._write(arrays, values)
        streams = end + len(self._streams)
        return outputs, found[end:streams], found[streams:]

    def _write(self, arrays: Sequence[Any], values: Sequence[Any]) -> None:
        """Writes the variables that had no value, or that the graph was not known to write."""
        places = [p for unit in self.written for p in _positions(unit)]
        for place, value in zip(places, values, strict=True):
            if place in self._donated_positions:
                continue
            if self._device is None:
                arrays[place].assign(np.asarray(value))
            else:
                arrays[place].hold(value)

    def verify(self, found: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Raises the error of the check that has failed in a call, if any has."""
        if self._checks is not None:
            self._checks.verify(found, arrays)

    def _new_values(self, changed: Sequence[Any]) -> Sequence[Any]:
        """The variables' new values: parts on devices of copies, and what devices share on the host."""
        if not self._copies and not self._batches:
            return changed
        values: list[Any] = []
        for unit, value in zip(self.written, changed, strict=True):
            values += meshes.parts(value) if isinstance(unit, tuple) else [np.asarray(value)]
        return values

    def lowered(self, arrays: Sequence[Any], words: Any) -> Any:
        """The program before XLA compiles it: `jax.stages.Lowered`."""
        with self._default_device():
            return self._run.lower(*self.operands(arrays, words))

    def _default_device(self) -> Any:
        """A context in which jax puts what is on no device where the program is."""
        return _NOTHING if self._home is None else jax.default_device(self._home)


def _precision() -> Any:
    """How exact products of float32 are: the device's own, TensorFloat-32 on GPUs, as TensorFlow's; or all digits.

    `tf.config.experimental.enable_tensor_float_32_execution(False)` asks for all digits.
    """
    exact = OPTIONS.tensor_float_32 is False
    return jax.default_matmul_precision("highest") if exact else nullcontext()


def _itself(value: Any) -> Any:
    return value


def _in_tuple(results: Any) -> tuple[Any, ...]:
    """The results of a function of jax that returns a single one by itself."""
    return results if type(results) is tuple else (results,)


def _positions(unit: Unit) -> tuple[int, ...]:
    return unit if isinstance(unit, tuple) else (unit,)


def _key_of(unit: Unit) -> Any:
    """The key of a variable's value in the state."""
    return replicas.group_key(unit) if isinstance(unit, tuple) else unit


def _unit_of(key: Any) -> Unit | None:
    """The variable, or the copies of one, of a key of the state; None for streams."""
    if isinstance(key, tuple) and key[0] == replicas.AXIS:
        return key[1:]
    return key if isinstance(key, int) else None


_NOTHING = nullcontext()
_HOST_ARRAYS = (np.ndarray, np.generic)


def _is_passed(array: Any) -> bool:
    """True for an array of numbers, and for a variable."""
    if isinstance(array, Resource):
        return True
    return isinstance(array, (np.ndarray, np.generic, jax.Array)) and array.dtype != object


def _are_alike(arrays: Sequence[Any], inputs: Sequence[int]) -> bool:
    """True for arrays of one shape."""
    if not all(_is_passed(arrays[i]) for i in inputs):
        return False
    return len({np.shape(arrays[i]) for i in inputs}) == 1


class Programs:
    """A graph as a function of arrays: an XLA program for each of the last shapes that it saw.

    Calls raise Untraceable for a graph that cannot be a program. `stays` and `device`: see `Program`.
    `limit` is how many programs are kept, `constants` which arguments are part of them from the beginning. With
    `spans` a graph in which processes exchange values is a program of all of them.
    """

    def __init__(
        self,
        graph: Graph,
        stays: bool = False,
        device: Any = None,
        limit: int = MAX_PROGRAMS,
        constants: tuple[int, ...] = (),
        spans: bool = False,
    ) -> None:
        self.graph = graph
        # The node for which the graph is a program of all processes of a cluster.
        self._exchange = exchange_in(graph) if spans else None
        self._stays = stays
        self._device = device
        self._limit = limit
        # Where each stream is after a program: its position, and the same as an array of the device.
        self._after: list[tuple[Stream, Any]] = []
        self._programs: OrderedDict[Any, Program] = OrderedDict()
        meshes.host_devices()
        self._lock = lasting_lock()
        self._calling = threading.RLock()
        self._streams = streams_of(graph)
        # The numbers of the arguments that are part of the programs.
        self._constants = constants
        self._plain = not any(v.dtype.name == "resource" for v in graph.inputs)
        self._has_one = self._plain and all(shapes.known(v.dims) for v in graph.inputs)
        # Whether a program depends on nothing but which variables are the same one; the last, if it does not.
        self._has_known_shapes = all(_has_known_shape(v) for v in graph.inputs)
        self._last: Program | None = None
        # The program of a graph that has one only, and its outputs if it takes arrays alone.
        self._fixed: Program | None = None
        self._quick: Run | None = None

    @property
    def programs(self) -> list[Program]:
        """The programs, those last used last."""
        with self._lock:
            return [*self._programs.values()]

    @property
    def shapes(self) -> list[tuple[Any, ...]]:
        """The shapes of the arguments of each program."""
        return [program.shapes for program in self.programs]

    @property
    def platform(self) -> str:
        """The platform that programs run on: cpu, gpu or tpu."""
        return "cpu" if self._device is None else self._device.platform

    def bound_to(self, captured: Sequence[Any], otherwise: Run) -> Run | None:
        """The last program as a function of what comes before `captured`, if there is one for all calls.

        It calls `otherwise` with all arguments where it raises an error that is not of an op.
        """
        program = self._last if self._fixed is None else self._fixed
        if program is None or self._device is not None or not program.is_simple:
            return None
        return direct_calls.bound(program, self.staged(captured), otherwise)

    def staged(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Arrays that every call passes, as arrays of XLA where these need no copy in each."""
        if self._device is not None or _kinds_of_replicas(self.graph):
            return tuple(arrays)
        is_staged = [type(a) is np.ndarray and _is_passed(a) for a in arrays]
        return tuple(
            [meshes.on_host(a) if s else a for a, s in zip(arrays, is_staged, strict=True)]
        )

    @property
    def constants(self) -> tuple[int, ...]:
        """The numbers of the arguments that are part of the programs."""
        return self._constants

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        if self._quick is not None:
            return self._quick(*arrays)
        before = jax.enable_x64.swap_local(True)
        try:
            return self._called(arrays)
        except NotAlike:
            raise
        except Untraceable:
            if self._exchange is not None:  # the integers of other processes may have other shapes
                agree(self._exchange, str(_possible_constants(arrays)))
            if not self._with_constants(arrays):
                raise
            return self._called(arrays)
        finally:
            jax.enable_x64.set_local(before)

    def _called(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        if self._exchange is None:
            return self._outputs(arrays)
        with compared(self._exchange):
            return self._outputs(arrays)

    def _outputs(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        program = self.program(arrays)
        if not self._streams:
            outputs, _, found = program(arrays, ())
            program.verify(found, arrays)
            return outputs
        with self._calling:
            return self._with_streams(program, arrays)

    def _with_constants(self, arrays: Sequence[Any]) -> bool:
        """Makes the integers among the arguments part of the programs; False if they are already.

        Shapes and numbers of iterations must be known; a program is made for each then.
        """
        possible = _possible_constants(arrays)
        if len(possible) <= len(self._constants):
            return False
        with self._lock:
            self._constants = possible
            self._programs.clear()
            self._fixed = self._quick = self._last = None
        return bool(self._constants)

    def ir(self, arrays: Sequence[Any], stage: str) -> Any:
        """The program for these arrays: "stablehlo" and "hlo" as XLA gets it, "optimized_hlo" as it runs.

        "lowered" and "compiled" are jax' own objects. Raises Untraceable, ValueError for other stages.
        """
        with jax.enable_x64(True):
            try:
                lowered = self.program(arrays).lowered(arrays, self.words())
            except Untraceable:
                if not self._with_constants(arrays):
                    raise
                lowered = self.program(arrays).lowered(arrays, self.words())
            if stage == "lowered":
                return lowered
            if stage in ("stablehlo", "hlo"):
                return lowered.as_text(dialect=stage)
            compiled = lowered.compile()
            if stage == "compiled":
                return compiled
            if stage == "optimized_hlo":
                return compiled.as_text()
            raise ValueError(f"stage {stage!r}")

    def program(self, arrays: Sequence[Any]) -> Program:
        """The program for arrays of these shapes."""
        if self._fixed is not None:
            return self._fixed
        last = self._last
        if last is not None and last.variables_are(arrays):
            return last
        key = tuple([a.shape for a in arrays]) if self._plain else _key(arrays)
        is_new = False
        with self._lock:
            if self._constants:
                key = (*key, *[fetched(arrays[i]).tobytes() for i in self._constants])
            found = self._programs.get(key)
            if found is not None:
                self._programs.move_to_end(key)
            else:
                found = self._new(key, arrays)
                is_new = True
            is_lasting = self._has_known_shapes and not self._constants and found.has_values
            self._last = found if is_lasting else None
        if not is_new:
            return found
        for observe in collectives.OBSERVERS:
            lowered = found.lowered(arrays, self.words())
            observe(self.graph.name, lowered.compile().as_text())
        return found

    def _new(self, key: Any, arrays: Sequence[Any]) -> Program:
        """A program for arrays of these shapes, kept in the place of the one that was not used longest."""
        found = Program(
            self.graph,
            arrays,
            self._streams,
            self._constants,
            self._stays,
            self._device,
            self._exchange,
        )
        self._programs[key] = found
        if self._has_one and not self._constants:
            self._fixed = found
            self._quick = direct_calls.of_arrays(found) if found.is_plain else None
        if len(self._programs) > self._limit:
            if self._constants:
                raise Untraceable(
                    "its programs depend on the values of integers among its arguments,"
                    " which change from call to call"
                )
            self._programs.popitem(last=False)
        return found

    def _with_streams(
        self, program: Program, arrays: Sequence[Any], counters: Sequence[Any] | None = None
    ) -> tuple[Any, ...]:
        if counters is None:
            counters = [interpreter.kept(s, SERVICES.stream) for s in self._streams]
        before = [c.take(0) for c in counters]
        words: list[Any] = words_of(before)
        if len(self._after) == len(before):  # nobody else has drawn from most streams
            kept = zip(self._after, before, words, strict=True)
            words = [known if [*at] == [*now] else new for (at, known), now, new in kept]
        outputs, after, found = program(arrays, words)
        ends: list[tuple[Stream, Any]] = []
        positions = zip(counters, before, after, program.distances, strict=True)
        for counter, start, end_words, blocks in positions:
            if blocks is None:  # data said how much was drawn
                end = Stream(*[int(w) for w in fetched(end_words)])
                blocks = _distance(start, end)
            counter.take(blocks)
            ends.append((start.skipped(blocks), end_words))
        self._after = [] if self._device is None else ends
        program.verify(found, arrays)
        return outputs

    def drawn(self, arrays: Sequence[Any], counters: Sequence[Any]) -> tuple[Any, ...]:
        """The outputs with random numbers from these states, in the order of the graph's streams."""
        before = jax.enable_x64.swap_local(True)
        try:
            with self._calling:
                try:
                    return self._with_streams(self.program(arrays), arrays, counters)
                except Untraceable:
                    if not self._with_constants(arrays):
                        raise
                    return self._with_streams(self.program(arrays), arrays, counters)
        finally:
            jax.enable_x64.set_local(before)

    def words(self) -> Any:
        """The positions of the graph's streams, as programs take them."""
        return words_of([interpreter.kept(s, SERVICES.stream).take(0) for s in self._streams])


def _has_known_shape(value: Any) -> bool:
    """Whether an input of a graph has one shape, or is a variable that has."""
    if value.dtype.name != "resource":
        return shapes.known(value.dims)
    contents = value.spec.value
    return isinstance(contents, Spec) and shapes.known(contents.shape)


def _possible_constants(arrays: Sequence[Any]) -> tuple[int, ...]:
    return tuple([i for i, a in enumerate(arrays) if _may_be_constant(a)])


def _may_be_constant(array: Any) -> bool:
    """True for a few integers, such as a shape."""
    if isinstance(array, Resource) or not hasattr(array, "size"):
        return False
    return array.dtype.kind in "iu" and array.size <= MAX_CONSTANT_ELEMENTS


def words_of(streams: Sequence[Stream]) -> list[np.ndarray]:
    """Streams as arrays: the key and the counter's two halves."""
    return [np.array([s.key, s.low, s.high], np.uint64) for s in streams]


def _distance(start: Stream, end: Stream) -> int:
    """The blocks from one position of a stream to a later one."""
    return (end.low - start.low + (end.high - start.high << 64)) % (1 << 128)


def streams_of(graph: Graph) -> list[Node]:
    """The traced nodes that draw from a stream of their own, also in branches and bodies."""
    found: dict[int, Node] = {}
    for part in (graph, *walk.nested(graph)):
        for node in part.nodes:
            if node.op.is_random:
                traced = Evaluator.stream_key(node)
                found[id(traced)] = traced
    return [*found.values()]


def _kinds_of_replicas(graph: Graph) -> set[str]:
    """The types of the devices of meshes that compute a part of the graph."""
    nodes = [n for g in (graph, *walk.nested(graph)) for n in g.nodes]
    names = [d for n in nodes if n.op.control_flow == "replicas" for d in n.attrs["devices"]]
    return {DeviceSpec.from_string(name).device_type or "CPU" for name in names}


def _has_checks(graph: Graph) -> bool:
    """Whether a node of the graph, or of its branches and bodies, checks data."""
    return any(
        [n.op.name in registry.CHECKING for g in (graph, *walk.nested(graph)) for n in g.nodes]
    )


def _shape(array: Any) -> Any:
    if isinstance(array, Resource):
        return array.on_device().shape if array.initialized else None
    return getattr(array, "shape", None)


def _key(arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The shapes of a call, and which of its variables are the same one."""
    first_inputs: dict[int, int] = {}
    key: list[Any] = []
    for index, array in enumerate(arrays):
        if isinstance(array, Resource):
            dims = array.stored_shape()
            if dims is None:
                dims = _shape(array)
            key.append((first_inputs.setdefault(id(array), index), dims))
        else:
            key.append(getattr(array, "shape", None))
    return tuple(key)


__all__ = ["MAX_PROGRAMS", "Program", "Programs", "rules", "streams_of", "words_of"]
