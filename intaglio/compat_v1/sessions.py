"""`tf.compat.v1.Session`: runs the part of a graph that fetches need.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session.

A call looks up what the fetches and feeds name, takes the nodes that lie between them in the order
in which they were recorded, and runs these in the interpreter. The parts of a graph are kept by fetches
and feeds. Variables and tables belong to the session: ops that find resources by a name do so in a container
of the session's own.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from intaglio.base import errors, nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.shapes import TensorShape, compatible
from intaglio.compat_v1 import default_graphs, partial_runs
from intaglio.compat_v1.values import RaggedTensorValue
from intaglio.function.user_errors import detected_at, session_failure
from intaglio.ir import walk
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.tensor import RaggedTensor
from intaglio.runtime import interpreter
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.runtime.hooks import SERVICES
from intaglio.runtime.resources import MANAGER, Resource
from intaglio.sparse.tensor import SparseTensor, SparseTensorValue
from intaglio.state.variable import Variable
from intaglio.trace.graph import Graph

_numbers = itertools.count()


class _Stack(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Session] = []


_stack = _Stack()


def get_default_session() -> Session | None:
    """The innermost session that is the default one of this thread, or None."""
    return _stack.sessions[-1] if _stack.sessions else None


def run_in_session(fetch: Any, feed_dict: Any, session: Any) -> Any:
    """What `Tensor.eval` and `Operation.run` do. Raises ValueError without a session."""
    found = get_default_session() if session is None else session
    verb = "execute operation" if isinstance(fetch, Node) else "evaluate tensor"
    method = "run" if isinstance(fetch, Node) else "eval"
    if found is None:
        raise ValueError(
            f"Cannot {verb} using `{method}()`: No default session is registered. Use `with "
            f"sess.as_default()` or pass an explicit session to `{method}(session=sess)`"
        )
    if found.graph is not fetch.graph:
        raise ValueError(
            f"Cannot use the {'given' if session is not None else 'default'} session to {verb}: the "
            "operation's graph is different from the session's graph."
        )
    return found.run(fetch, feed_dict)


class BaseSession:
    """A session: a graph, and the values of its variables.

    Args:
      target: accepted and ignored: graphs run in this process.
      graph: the graph; the default graph if None.
      config: accepted and ignored, a ConfigProto.

    Raises TypeError for a graph that is none.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got {type(graph)}")
        self._graph: Graph = default_graphs.get_default_graph() if graph is None else graph
        self._container = f"session {next(_numbers)}"
        self._config = config
        self._closed = False
        self._parts: dict[Any, Callable[..., Any]] = {}
        self._streams: dict[Node, Any] = {}  # by the node as it was recorded
        self._partial_runs: dict[str, partial_runs.PartialRun] = {}
        self._defaults: list[ExitStack] = []
        self.sess_str = target

    @property
    def graph(self) -> Graph:
        """The graph that the session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef message."""
        return self._graph.as_graph_def(add_shapes=True)

    # -- lifetime ---------------------------------------------------------------------

    def close(self) -> None:
        """Ends the session: its variables are gone."""
        self._closed = True
        MANAGER.reset(self._container)

    def __del__(self) -> None:
        if not getattr(self, "_closed", True) and globals().get("MANAGER"):  # None when Python ends
            self.close()

    @contextmanager
    def as_default(self) -> Generator[BaseSession]:
        """The block's default session is this one."""
        _stack.sessions.append(self)  # type: ignore[arg-type]  # or a class of the user's
        try:
            yield self
        finally:
            _stack.sessions.remove(self)  # type: ignore[arg-type]  # as above

    def _enter(self) -> None:
        entered = ExitStack()
        entered.enter_context(self._graph.as_default())
        entered.enter_context(self.as_default())
        self._defaults.append(entered)

    def _leave(self) -> None:
        if self._defaults:
            self._defaults.pop().close()

    # -- running ----------------------------------------------------------------------

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs what the fetches need.

        Args:
          fetches: a tensor, operation, variable, composite tensor or name of such, or a structure of them.
          feed_dict: values of tensors, by tensor or by its name.
          options: a RunOptions message: the nodes are measured one by one if its trace level is not
            NO_TRACE, and the graph is reported if `output_partition_graphs` is set.
          run_metadata: a RunMetadata message for what `options` asks for.

        Returns:
          The structure with NumPy values; None for operations.

        Raises:
          RuntimeError: the session is closed, or its graph empty.
          TypeError, ValueError: a fetch or feed is no element of the graph, or a value does not fit.
          tf.errors.OpError: an operation failed.
        """
        self._check_open("run")
        feeds = self._feeds(feed_dict or {})
        report = _Report(options, run_metadata)
        return self._structured(fetches, lambda elements: self._values(elements, feeds, report))

    def _check_open(self, method: str) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph.nodes:
            raise RuntimeError(
                f"The Session graph is empty. Add operations to the graph before calling {method}()."
            )

    def _structured(self, fetches: Any, evaluate: Callable[[list[Any]], list[Any]]) -> Any:
        """The structure of fetches with the values of their elements of the graph."""
        wanted = [self._fetch(leaf) for leaf in nest.flatten(fetches)]
        values = iter(evaluate([e for parts, _ in wanted for e in parts]))
        results = [put([next(values) for _ in parts]) for parts, put in wanted]
        return nest.pack_sequence_as(fetches, results)

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Begins a run that is fed and fetched in several steps; returns its handle.

        Raises RuntimeError, TypeError, ValueError as `run`; InvalidArgumentError if there is no fetch.
        """
        self._check_open("run")
        wanted = [e for leaf in nest.flatten(fetches) for e in self._fetch(leaf)[0]]
        fed = [self._feedable(feed) for feed in nest.flatten(feeds) if feed is not None]
        started = partial_runs.PartialRun(self._graph.nodes, wanted, fed, self._kernel)
        names = [",".join(e.name for e in part) for part in (fed, wanted)]
        handle = f"{'->'.join(names)};{next(_numbers)}"
        self._partial_runs[handle] = started
        return handle

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Continues a run with more fed values; returns what is fetched.

        Each tensor is fed once and fetched once, and no node runs twice.

        Raises RuntimeError if an operation is fetched; InvalidArgumentError if the run has ended, a feed
        or fetch is none of `partial_run_setup`, comes twice, or needs what has not been fed.
        """
        if handle is None:
            return self.run(fetches, feed_dict)
        self._check_open("run")
        feeds = self._feeds(feed_dict or {})

        def evaluate(elements: list[Any]) -> list[Any]:
            operations = [e for e in elements if isinstance(e, Node)]
            if operations:
                raise RuntimeError(
                    "partial_run() requires empty `target_list`. Received: "
                    f"target_list={operations} (non-empty)"
                )
            found = self._partial_runs.get(handle)
            if found is None:
                raise errors.InvalidArgumentError(
                    None, None, "Must run 'setup' before performing partial runs!"
                )
            arrays = _reporting(lambda: found.run(elements, feeds))
            if found.ended:
                self._partial_runs.pop(handle, None)
            return [_as_numpy(array) for array in arrays]

        return self._structured(fetches, evaluate)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the values of `feed_list` that runs `fetches`."""
        fed = list(feed_list or [])

        def call(*values: Any, options: Any = None, run_metadata: Any = None) -> Any:
            if len(values) != len(fed):
                raise TypeError(f"This callable takes {len(fed)} arguments, but got {len(values)}")
            feeds = dict(zip(map(_hashable, fed), values, strict=True))
            return self.run(fetches, feeds, options, run_metadata)

        return call

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        """A function of fed values that returns what a CallableOptions message fetches.

        Its connections give tensors the values of others.
        """
        feeds, fetches = list(callable_options.feed), list(callable_options.fetch)
        targets = list(callable_options.target)
        connections = [(c.from_tensor, c.to_tensor) for c in callable_options.tensor_connection]

        def call(*values: Any, run_metadata: Any = None) -> Any:
            fed = dict(zip(feeds, values, strict=True))
            if connections:
                sources = dict.fromkeys(source for source, _ in connections)
                found = dict(zip(sources, self.run([*sources], fed), strict=True))
                # What is connected is fed under both names, so that it is computed once.
                fed |= found | {target: found[source] for source, target in connections}
            return self.run([*fetches, *targets], fed)[: len(fetches)]

        return call

    def list_devices(self) -> list[Any]:
        """The devices of the session: that of the host."""
        return [partial_runs.DeviceAttributes(partial_runs.CPU, "CPU", 2**28, 0)]

    def reset(self, containers: Any = None) -> None:
        """Forgets the session's variables."""
        MANAGER.reset(self._container)

    # -- fetches and feeds ------------------------------------------------------------

    def _fetch(self, leaf: Any) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        """The elements of the graph that a fetch stands for, and what makes the result of their values."""
        if isinstance(leaf, Variable):
            leaf = leaf._snapshot
        if isinstance(leaf, SparseTensor):
            parts = [leaf.indices, leaf.values, leaf.dense_shape]
            return parts, lambda values: SparseTensorValue(*values)
        if isinstance(leaf, RaggedTensor):
            parts = [leaf.flat_values, *leaf.nested_row_splits]
            return parts, _ragged
        if isinstance(leaf, CompositeTensor):
            parts = nest.flatten(leaf, expand_composites=True)
            return parts, lambda values: nest.pack_sequence_as(
                leaf, [from_array(np.asarray(v)) for v in values], expand_composites=True
            )
        convert = getattr(leaf, "_as_graph_element", None)
        element = leaf if convert is None else convert()
        if element is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(element, (EagerTensor, bool, int, float)):
            raise TypeError(
                f'Argument `fetch` = {leaf} has invalid type "{type(leaf).__name__}" must be a string or '
                f"Tensor. (Can not convert a {type(leaf).__name__} into a Tensor or Operation.)"
            )
        try:
            found = self._graph.as_graph_element(element, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(
                f'Argument `fetch` = {leaf} has invalid type "{type(leaf).__name__}" must be a string or Tensor. ({e})'
            ) from None
        except (ValueError, KeyError) as e:
            raise ValueError(
                f"Argument `fetch` = {leaf} cannot be interpreted as a Tensor. ({e})"
            ) from None
        return [found], lambda values: values[0]

    def _feeds(self, feed_dict: Mapping[Any, Any]) -> list[tuple[SymbolicTensor, Any]]:
        """The tensors that are fed, and the arrays that they get."""
        found: list[tuple[SymbolicTensor, Any]] = []
        for key, value in feed_dict.items():
            target = key.deref() if hasattr(key, "deref") else key
            for tensor, part in _parts_of_feed(target, value):
                element: Any = self._feedable(tensor)
                if not self._graph.is_feedable(element):
                    raise ValueError(f"Tensor {element.name} may not be fed.")
                found.append((element, _array_for(element, part)))
        return found

    def _feedable(self, key: Any) -> Any:
        try:
            return self._graph.as_graph_element(key, allow_operation=False)
        except (KeyError, TypeError, ValueError) as e:
            text = e.args[0] if e.args else e
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {text}") from None

    def _values(
        self, elements: list[Any], feeds: list[tuple[SymbolicTensor, Any]], report: _Report
    ) -> list[Any]:
        if report.wanted:
            return self._measured_values(elements, feeds, report)
        key = (
            tuple(id(e) for e in elements),
            tuple(id(t) for t, _ in feeds),
            len(self._graph.nodes),
        )
        run = self._parts.get(key)
        if run is None:
            run = self._parts[key] = self._compiled(elements, [t for t, _ in feeds])
        fed = {id(t): array for t, array in feeds}
        computed = iter(_reporting(lambda: run(*[array for _, array in feeds])))
        results: list[Any] = []
        for element in elements:
            if isinstance(element, Node):
                results.append(None)
            else:
                results.append(
                    _as_numpy(next(computed)) if id(element) not in fed else fed[id(element)]
                )
        return results

    def _measured_values(
        self, elements: list[Any], feeds: list[tuple[SymbolicTensor, Any]], report: _Report
    ) -> list[Any]:
        """As `_values`, with the message that a report fills."""
        fed = {id(t): (t, array) for t, array in feeds}
        nodes = self._between(elements, set(fed))
        arrays, statistics = _reporting(lambda: partial_runs.measured(nodes, fed, self._kernel))
        report.fill(statistics, self._graph)
        results: list[Any] = []
        for element in elements:
            computed = None if isinstance(element, Node) else arrays[id(element)]
            results.append(computed if id(element) in fed else _as_numpy(computed))
        return results

    def _compiled(self, elements: list[Any], fed: list[SymbolicTensor]) -> Callable[..., Any]:
        """The part of the graph between the feeds and the fetches, as a function of arrays."""
        known = {id(t) for t in fed}
        outputs = [e for e in elements if not isinstance(e, Node) and id(e) not in known]
        graph = FrozenGraph("session", fed, self._between(elements, known), outputs)
        return interpreter.compiled_with(graph, self._kernel)

    def _between(self, elements: list[Any], known: set[int]) -> list[Node]:
        """The nodes between tensors that are given and the fetches.

        Raises InvalidArgumentError if a placeholder among them is not fed.
        """
        wanted = [e if isinstance(e, Node) else e.node for e in elements if id(e) not in known]
        needed = partial_runs.needed_nodes(wanted, known)
        nodes = [n for n in self._graph.nodes if id(n) in needed]
        for node in nodes:
            if node.op is raw.Placeholder and id(node.outputs[0]) not in known:
                tensor = node.outputs[0]
                shape = TensorShape(tensor.dims)
                unfed = errors.InvalidArgumentError(
                    None,
                    node,
                    f"You must feed a value for placeholder tensor '{node.name}' with dtype "
                    f"{tensor.dtype.name.replace('float32', 'float').replace('float64', 'double')}"
                    + (f" and shape {_brackets(shape)}" if shape.rank is not None else ""),
                )
                raise detected_at(node, unfed)
        return nodes

    def _kernel(self, node: Node) -> Callable[..., Any] | None:
        """The kernel of a node that keeps something in the session: random numbers, resources found by a name."""
        if node.op.is_random:
            stream = self._stream(node)
            return lambda *arrays: interpreter.call_kernel(
                node.op, arrays, node.attrs, node, stream=stream
            )
        if any(inner.op.is_random for inner in _inside(node)):
            return lambda *arrays: interpreter.call_kernel(
                node.op, arrays, node.attrs, node, run=self._run_inside
            )
        if "shared_name" not in node.attrs or "container" not in node.attrs:
            return None
        attrs = {
            **node.attrs,
            "container": node.attrs["container"] or self._container,
            "shared_name": node.attrs["shared_name"] or node.name,
        }
        return lambda *arrays: interpreter.call_kernel(node.op, arrays, attrs, node)

    def _stream(self, node: Node) -> Any:
        """The session's own random numbers for a node: a new session draws the same again."""
        traced = node.source or node
        found = self._streams.get(traced)
        if found is None:
            found = SERVICES.stream.for_node(node.op, node.attrs)
            found = self._streams.setdefault(traced, found)
        return found

    def _run_inside(self, graph: FrozenGraph, arrays: Sequence[Any]) -> list[Any]:
        """Runs a branch, body or called graph that draws random numbers."""
        run = self._parts.get(graph)
        if run is None:
            run = self._parts[graph] = interpreter.compiled_with(graph, self._kernel)
        return list(run(*arrays))


class Session(BaseSession):
    """A session; `with` makes it, and its graph, the default, and closes it at the end.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, [2])
    ...     total = tf.reduce_sum(x * 2)
    >>> with tf.compat.v1.Session(graph=graph) as session:
    ...     print(session.run(total, {x: [1, 2]}))
    6.0
    """

    def __enter__(self) -> Session:
        self._enter()
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()
        self.close()


class InteractiveSession(BaseSession):
    """A session that is the default one from the beginning, until it is closed."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._enter()

    def close(self) -> None:
        """Ends the session."""
        self._leave()
        super().close()


class _Report:
    """What the options of a run ask for, and the message that it goes into."""

    def __init__(self, options: Any, run_metadata: Any) -> None:
        self._metadata = run_metadata
        asked = None if run_metadata is None else options
        self._times = asked is not None and bool(asked.trace_level)
        self._graphs = asked is not None and asked.output_partition_graphs
        self.wanted = self._times or self._graphs
        if run_metadata is not None:
            run_metadata.Clear()

    def fill(self, statistics: list[partial_runs.NodeStatistics], graph: Graph) -> None:
        """Writes the message."""
        if self._times:
            partial_runs.describe(self._metadata.step_stats, statistics)
        if self._graphs:
            ran = {found.node.name for found in statistics}
            part = self._metadata.partition_graphs.add()
            part.CopyFrom(graph.as_graph_def())
            kept = [node for node in part.node if node.name in ran]
            del part.node[:]
            part.node.extend(kept)


def _reporting(run: Callable[[], Any]) -> Any:
    """Calls a function whose errors are those of a session."""
    try:
        return run()
    except Exception as e:
        reported = session_failure(e)
        if reported is e:
            raise
        raise reported from None


def _inside(node: Node) -> Iterator[Node]:
    """The nodes of the branches, bodies and called graphs of a node, and of those in them."""
    for graph in walk.attached(node):
        for inner in graph.nodes:
            yield inner
            yield from _inside(inner)


def _hashable(tensor: Any) -> Any:
    return tensor.ref() if isinstance(tensor, Tensor) else tensor


def _parts_of_feed(target: Any, value: Any) -> list[tuple[Any, Any]]:
    if isinstance(target, SparseTensor):
        return list(zip((target.indices, target.values, target.dense_shape), value, strict=True))
    if isinstance(target, RaggedTensor):
        values, splits = value, list[Any]()
        while isinstance(values, RaggedTensorValue):
            splits.append(values.row_splits)
            values = values.values
        return [(target.flat_values, values), *zip(target.nested_row_splits, splits, strict=True)]
    return [(target, value)]


def _array_for(tensor: SymbolicTensor, value: Any) -> Any:
    """A fed value as an array. Raises TypeError or ValueError if it does not fit."""
    if isinstance(value, SymbolicTensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            f"strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} "
            f"which was passed to the argument `feed_dict` with key {tensor}."
        )
    if isinstance(value, EagerTensor):
        array = value._array
    elif tensor.dtype.name == "string":
        array = _texts(value)
    else:
        array = np.asarray(value, dtype=tensor.dtype.numpy)
    if not compatible(tensor.dims, array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape {TensorShape(tensor.dims)}"
        )
    return array


def _texts(value: Any) -> Any:
    found = np.asarray(value, dtype=object)
    flat = [v.encode() if isinstance(v, str) else bytes(v) for v in found.ravel()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(found.shape)


def _as_numpy(array: Any) -> Any:
    """A computed array as a session returns it: scalars as NumPy's scalars, texts as bytes."""
    if isinstance(array, Resource):
        array = array.read()  # `v:0` names a variable, and is its value
    if not isinstance(array, (np.ndarray, np.generic)):
        return array  # a resource or variant
    found = from_array(array).numpy()
    return found[()] if isinstance(found, np.ndarray) and not found.ndim else found


def _ragged(values: list[Any]) -> Any:
    flat, *splits = values
    for one in reversed(splits):
        flat = RaggedTensorValue(flat, one)
    return flat


def _brackets(shape: TensorShape) -> str:
    return f"[{','.join('?' if d is None else str(d) for d in shape.as_list())}]"
