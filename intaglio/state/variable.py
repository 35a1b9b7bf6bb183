"""`tf.Variable`: a mutable tensor behind a resource handle.

Follows https://www.tensorflow.org/api_docs/python/tf/Variable.

An eager read returns the array itself, without a copy: it never changes, because an assignment replaces
the array, and in-place updates happen only while nothing else refers to it. In a graph a read is a
ReadVariableOp of the captured handle, in program order with the writes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.composite import ActsAsTensor
from intaglio.base.devices import DEVICE, is_host
from intaglio.base.dtypes import NUMERIC, DType, as_dtype, as_numbers
from intaglio.base.hooks import ShownInNotebooks
from intaglio.base.shapes import Dims, TensorShape, as_dims
from intaglio.ir.graph import Node
from intaglio.opdef import convert, door, raw, slicing
from intaglio.opdef.dispatch import filtering
from intaglio.opdef.keys import fresh, key
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Reference, Tensor
from intaglio.runtime.eager import EagerTensor, from_array, register_reader
from intaglio.runtime.resources import Resource, new_variable
from intaglio.state import deferred
from intaglio.state.creation import (
    VariableAggregation,
    VariableSynchronization,
    checked_modes,
    create,
)
from intaglio.state.hooks import HOOKS
from intaglio.state.operators import Operators
from intaglio.state.tracking import Trackable
from intaglio.state.updates import PartialUpdates
from intaglio.state.variable_spec import VariableSpec
from intaglio.trace import variable_creation
from intaglio.trace.scopes import created_on, current_name_scope

_STATE = door.STATE
_ADDABLE = frozenset(NUMERIC)
# The result of an assignment with `read_value=False`.
_NO_VALUE: Any = None


# What `tf.Variable` takes beside its parameters, and hands to creators.
_FOR_CREATORS = ("per_worker_variable",)


class _Creating(type):
    """The metaclass that passes calls of `tf.Variable` to the current creators."""

    if not TYPE_CHECKING:  # for which the result is a Variable, of the arguments of its __init__

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if cls is not Variable:
                return super().__call__(*args, **kwargs)
            # For creators of programs and strategies; there are no workers that share a variable.
            of_workers = {k: kwargs.pop(k) for k in _FOR_CREATORS if k in kwargs}
            arguments = {**_arguments(*args, **kwargs), **of_workers}
            return variable_creation.at_site(lambda: create(_placed, arguments))


def _arguments(
    initial_value: Any = None,
    trainable: bool | None = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    synchronization: Any = None,
    aggregation: Any = None,
    shape: Any = None,
    experimental_enable_variable_lifting: bool = True,
) -> dict[str, Any]:
    """The arguments of `tf.Variable` by name, as creators receive them."""
    return dict(locals())


class Variable(
    ShownInNotebooks, Operators, PartialUpdates, ActsAsTensor, Trackable, metaclass=_Creating
):
    """A mutable tensor that persists between calls.

    `initial_value` is a value or a function that makes one; `shape` may leave dimensions
    open that assigned values fill. `dtype` converts the value, `trainable` variables are
    watched by tapes, `constraint` is for optimizers. Other arguments are accepted.

    Raises ValueError without an initial value, for shapes that contradict each other, and
    in a traced function that makes variables after its first call; TypeError for a value
    that does not fit `dtype`.
    """

    __array_priority__ = 100
    _name: str
    _dtype: DType
    _dims: Dims
    _handle: Tensor
    _resource: Any  # a Resource; None for a variable of a graph
    _trainable: bool
    _validate_shape: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _constraint: Callable[[Any], Any] | None
    _initial_value: Tensor
    _initializer: Node
    _snapshot: Any  # the read of a variable of a graph
    _device = DEVICE
    _parent: Any = None
    # The class of results of assignments.
    _unread: Any = None
    _node: Node | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            initial_value: Any = None,
            trainable: bool | None = None,
            validate_shape: bool = True,
            caching_device: Any = None,
            name: str | None = None,
            variable_def: Any = None,
            dtype: Any = None,
            import_scope: str | None = None,
            constraint: Callable[[Any], Any] | None = None,
            synchronization: Any = None,
            aggregation: Any = None,
            shape: Any = None,
            experimental_enable_variable_lifting: bool = True,
        ) -> None: ...

    # -- properties --------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, with the suffix `:0`."""
        return self._name

    @property
    def dtype(self) -> DType:  # type: ignore[override]  # an attribute where operators are written
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape that assigned values must have."""
        return TensorShape(self._dims)

    def get_shape(self) -> TensorShape:
        """The shape that assigned values must have."""
        return TensorShape(self._dims)

    @property
    def handle(self) -> Tensor:  # type: ignore[override]  # an attribute where operators are written
        """The resource that ops use."""
        return self._handle

    @property
    def trainable(self) -> bool:
        """True if tapes watch the variable automatically."""
        return self._trainable

    @property
    def synchronization(self) -> Any:
        """When copies of the variable are brought together."""
        return self._synchronization

    @property
    def aggregation(self) -> Any:
        """How copies of the variable are brought together."""
        return self._aggregation

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return {}

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function that optimizers apply after an update."""
        return self._constraint

    @property
    def device(self) -> str:
        """The device that holds the variable."""
        return self._device if self._resource is not None else self._handle.device

    @property
    def op(self) -> Any:
        """The operation that creates the handle. Raises AttributeError eagerly."""
        if self._resource is not None:
            raise AttributeError("Tensor.op is undefined when eager execution is enabled.")
        return self._handle.op

    @property
    def graph(self) -> Any:
        """The graph of the variable. Raises AttributeError eagerly."""
        if self._resource is not None:
            raise AttributeError("Tensor.graph is undefined when eager execution is enabled.")
        return self._handle.graph

    @property
    def initial_value(self) -> Tensor:
        """The tensor of the initial value, in graphs only."""
        self._in_graphs_only()
        return self._initial_value

    @property
    def initializer(self) -> Node | None:
        """The operation that assigns the initial value; None eagerly."""
        return None if self._resource is not None else self._initializer

    @property
    def create(self) -> Node:
        """The operation that assigns the initial value, in graphs only."""
        self._in_graphs_only("This operation")
        return self._initializer

    def _in_graphs_only(self, what: str = "This property") -> None:
        if self._resource is not None:
            raise RuntimeError(f"{what} is not supported when eager execution is enabled.")

    @property
    def _shared_name(self) -> str:
        return self._name.removesuffix(":0")

    @property
    def _in_graph_mode(self) -> bool:
        """Whether the variable belongs to a graph that is no function's."""
        return self._resource is None

    @property
    def _unique_id(self) -> str:
        """A text that identifies the variable; a traced argument has that of the first call's variable."""
        handle: Any = self._handle
        example = getattr(getattr(handle, "graph", None), "example", {})
        return f"variable_{key(example.get(id(handle), handle))}"

    def ref(self) -> Reference:
        """A hashable reference, for sets and dict keys."""
        return Reference(self)

    experimental_ref = ref

    def _is_of_plain_graph(self) -> bool:
        return self._resource is None and not self._handle.graph.building_function

    # -- reading -----------------------------------------------------------------------

    def accessed(self) -> None:
        """Tells tapes and the function being traced that the variable is used."""
        here = door.level()
        variable = self if self._parent is None else self._parent
        for watcher in here.watchers:
            watcher.watch_variable(variable)
        if type(variable) is BoundVariable:
            return  # an argument: the caller notes the outer handle
        graph = getattr(here, "graph", None)
        if graph is not None and graph.building_function:
            graph.watch_variable(variable)

    def value(self) -> Tensor:
        """The current value."""
        if not _STATE.unusual:
            tensor = EagerTensor()
            tensor._array = self._resource.read()
            return tensor
        return self._read(None)

    def _read(self, name: str | None) -> Tensor:
        self.accessed()
        here: Any = door.level()
        if here.eager and self._resource is not None and not door.INSPECTORS:
            return self._read_now(here, self._resource)
        if self._node is not None and not here.eager:
            with here.after([self._node]):
                return self._read_op(name)
        return self._read_op(name)

    def _read_now(self, here: Any, resource: Resource) -> EagerTensor:
        """A ReadVariableOp that bypasses the door."""
        tensor = here.constant(resource.read())
        if here.watchers:
            tensor._key = fresh()
            attrs = {"dtype": self._dtype}
            for watcher in here.watchers:
                watcher.record(raw.ReadVariableOp, attrs, (self._handle,), (tensor,))
        return tensor

    def _read_op(self, name: str | None) -> Tensor:
        return raw.ReadVariableOp(self._handle, dtype=self._dtype, name=name)

    def read_value(self) -> Tensor:
        """The current value as a new tensor."""
        return raw.Identity(self._read("Read/ReadVariableOp"))

    def read_value_no_copy(self) -> Tensor:
        """The current value."""
        return self._read("Read/ReadVariableOp")

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        if dtype is not None and dtype is not self._dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name!r} for `tf.Variable of type "
                f"{self._dtype.name!r}. (Variable: {self!r})"
            )
        return self._read(door.IMPLIED if name is None else None)

    def _dense_var_to_tensor(  # TensorFlow's name, which libraries call and override
        self, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        return self.__tf_tensor__(dtype, name)

    def numpy(self) -> Any:
        """The value as an array. Raises NotImplementedError in graphs."""
        if self._resource is None or not door.level().eager:
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return from_array(self._resource.read()).numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.value().__array__(dtype)

    @property
    def _copies(self) -> tuple[Variable, ...]:
        """The replicas' copies of this variable; itself alone without replicas."""
        return (self,)

    def _saved_value(self) -> np.ndarray:
        """The value that checkpoints save. Raises ValueError for a variable of a graph."""
        if self._resource is None:
            raise ValueError(f"The variable {self!r} belongs to a graph.")
        return np.asarray(self._resource.read())

    def _restore(self, value: Tensor) -> None:
        """Assigns the value of a checkpoint, of the variable's dtype and shape."""
        self.assign(value)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A variable of a graph as a VariableDef message; None if it is not in the scope.

        Raises RuntimeError eagerly.
        """
        self._in_graphs_only("This operation")
        return HOOKS.variable_def(self, export_scope)

    def eval(self, session: Any = None) -> Any:
        """The value in a session, the default one if None. Raises RuntimeError eagerly."""
        self._in_graphs_only("This operation")
        return self._snapshot.eval(session=session)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable has a value."""
        return raw.VarIsInitializedOp(self._handle, name=name)

    def set_shape(self, shape: Any) -> None:
        """Refines the static shape. Raises ValueError if it is incompatible."""
        self._dims = as_dims(TensorShape(self._dims).merge_with(shape))

    def count_up_to(self, limit: int) -> Tensor:
        """Returns the value and increments it; raises OutOfRangeError once it is `limit`."""
        return raw.ResourceCountUpTo(self._handle, limit=limit, T=self._dtype)

    # -- writing -----------------------------------------------------------------------

    def assign(
        self,
        value: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Assigns `value`; returns the updated variable.

        Raises ValueError if the shape does not fit, or for a tensor of another dtype.
        """
        if type(value) is EagerTensor and not _STATE.unusual and self._fits(value):
            self._resource.assign(value._array)
            return self._changed(None) if read_value else _NO_VALUE
        tensor = convert.to_tensor(value, self._dtype)
        if not shapes.compatible(self._dims, tensor.dims):
            raise self._misfit(tensor)
        if not _STATE.unusual and self._resource is not None:
            self._resource.assign(tensor._array)
            return self._changed(None) if read_value else _NO_VALUE
        return self._assign_by_op(tensor, name, read_value)

    def _misfit(self, tensor: Tensor) -> ValueError:
        """The error for a value of an incompatible shape."""
        return ValueError(
            f"Cannot assign value to variable ' {self.name}': Shape mismatch.The variable shape "
            f"{shapes.text(self._dims)}, and the assigned value shape {tensor.shape} are incompatible."
        )

    def _assign_by_op(self, value: Any, name: str | None, read_value: bool) -> Any:
        """`assign` by its op. Raises ValueError for an incompatible shape."""
        tensor = convert.to_tensor(value, self._dtype)
        if not shapes.compatible(self._dims, tensor.dims):
            raise self._misfit(tensor)
        validate = self._validate_shape and shapes.known(self._dims)
        done = raw.AssignVariableOp(self._handle, tensor, validate_shape=validate, name=name)
        return self._changed(done) if read_value else done

    def assign_add(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Adds `delta`, of the same shape; returns the updated variable."""
        if type(delta) is EagerTensor and not _STATE.unusual and self._fits(delta):
            self._resource.accumulate(np.add, delta._array)
            return self._changed(None) if read_value else _NO_VALUE
        tensor = convert.to_tensor(delta, self._dtype)
        done = raw.AssignAddVariableOp(self._handle, tensor, name=name)
        return self._changed(done) if read_value else done

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Variable:
        """Subtracts `delta`, of the same shape; returns the updated variable."""
        if type(delta) is EagerTensor and not _STATE.unusual and self._fits(delta):
            self._resource.accumulate(np.subtract, delta._array)
            return self._changed(None) if read_value else _NO_VALUE
        tensor = convert.to_tensor(delta, self._dtype)
        done = raw.AssignSubVariableOp(self._handle, tensor, name=name)
        return self._changed(done) if read_value else done

    def load(self, value: Any, session: Any = None) -> None:
        """Assigns a value, in a session if the variable belongs to a graph; None: the default session."""
        if self._resource is not None:
            self.assign(value)
        else:
            self._initializer.run({self._initial_value: value}, session)

    def _fits(self, tensor: EagerTensor) -> bool:
        """True if the tensor can replace the value without conversion or further checks."""
        array = tensor._array
        return (
            self._resource is not None
            and array.shape == self._dims
            and array.dtype == self._dtype.numpy
            and self._dtype in _ADDABLE
        )

    def _changed(self, operation: Any) -> Any:
        if _STATE.unusual:
            self.accessed()  # the result may be read
        unread = object.__new__(self._unread)
        unread.follow(self if self._parent is None else self._parent, operation)
        return unread

    # -- Python's protocols ------------------------------------------------------------

    def __getitem__(self, slice_spec: Any) -> Tensor:
        value: Any = self.value()
        if isinstance(slice_spec, Tensor) and slice_spec.dtype.is_bool:
            return value[slice_spec]
        part: Any = value[slice_spec]
        if not issubclass(type(part), Tensor):  # a library's symbol
            return part
        parsed = slicing.parse(slice_spec)
        part.assign = functools.partial(self.assign_slice, parsed)
        return part

    def __copy__(self) -> Any:
        return self  # a variable is a reference to its storage

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not door.level().eager or self._resource is None:
            raise NotImplementedError(
                "__deepcopy__() is only available when eager execution is enabled."
            )
        copied = ResourceVariable(
            initial_value=self.read_value(),
            trainable=self._trainable,
            constraint=self._constraint,
            dtype=self._dtype,
            name=self._shared_name,
            shape=TensorShape(self._dims),
        )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        kind: Any = ResourceVariable
        return functools.partial(
            kind,
            initial_value=self.numpy(),
            trainable=self._trainable,
            name=self._shared_name,
            dtype=self._dtype,
            constraint=self._constraint,
        ), ()

    def __repr__(self) -> str:
        head = (
            f"<tf.Variable '{self.name}' shape={shapes.text(self._dims)} dtype={self._dtype.name}"
        )
        if self._resource is None or not door.level().eager:
            return f"{head}>"
        if not self._resource.initialized:
            return f"{head}, numpy=<uninitialized>>"
        text = _value_text(self._resource.read())
        gap = "\n" if "\n" in text else ""
        return f"{head}, numpy={gap}{text}>"

    # -- tracing -----------------------------------------------------------------------

    def __tf_tracing_type__(self, context: Any) -> Any:
        return VariableSpec(self._dims, self._dtype, self._trainable, context.alias(self._handle))


def _value_text(array: Any) -> str:
    array = np.asarray(as_numbers(array))
    if array.ndim == 0:
        return repr(array[()]) if array.dtype == np.dtype(object) else str(array)
    return np.array_repr(array)


class ResourceVariable(Variable):
    """The class of variables that `tf.Variable(...)` creates."""

    @filtering
    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        modes = checked_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        self._check(initial_value, constraint)
        self._constraint = constraint
        self._validate_shape = validate_shape
        graph = getattr(door.level(), "graph", None)
        variable_creation.admit(self)
        scope = current_name_scope()
        full = f"{scope}/{name or 'Variable'}" if scope else name or "Variable"
        if callable(initial_value):
            initial_value = initial_value()
        wanted = None if dtype is None else as_dtype(dtype)
        if graph is not None and not graph.building_function:
            full = graph.unique_name(full)
        first = self._first_value(initial_value, wanted, full, graph)
        self._name = f"{full}:0"
        self._dtype = first.dtype
        self._dims = self._checked_shape(first.dims, shape)
        if graph is None or graph.building_function:
            value = variable_creation.lift(first)
            contents = Spec(self._dtype, self._dims)
            self._resource = new_variable(contents, name or "Variable")
            self._put(value, created_on())
        else:
            self._resource = None
            self._record(first, full)
        if deferred.RESTORATIONS:
            deferred.delay(self)

    def _put(self, value: Any, device: str) -> None:
        """Sets the initial value to a tensor, and creates the handle on a device."""
        self._resource.assign(value._array)
        self._handle = from_array(self._resource)
        if device != DEVICE:
            self._device = self._handle._device = device  # type: ignore[misc]  # in the tensor's own dict

    def _check(self, initial_value: Any, constraint: Any) -> None:
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are not providing a "
                "`variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(
                f"Argument `constraint` must be None or a callable. a callable. Got a {type(constraint)}:  {constraint}"
            )

    @staticmethod
    def _first_value(value: Any, dtype: DType | None, name: str, graph: Any) -> Tensor:
        plain = graph is not None and not graph.building_function
        label = f"{name}/Initializer/initial_value" if plain else "initial_value"
        return convert.to_tensor(value, dtype, label)

    @staticmethod
    def _checked_shape(found: Dims, shape: Any) -> Dims:
        if shape is None:
            return found
        wanted = as_dims(shape)
        if not shapes.compatible(found, wanted):
            shown = shape if isinstance(shape, (list, tuple)) else TensorShape(wanted)
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({shapes.text(found)}) is not compatible "
                f"with the explicitly supplied `shape` argument ({shown})."
            )
        return wanted

    @classmethod
    def of_graph(
        cls, handle: Any, first: Any, initializer: Node, snapshot: Any, trainable: bool
    ) -> Variable:
        """A variable of nodes that a plain graph has already: handle, initial value, assignment, read."""
        found: Variable = object.__new__(cls)
        attrs = handle.node.attrs
        found._handle, found._resource = handle, None
        found._name, found._dtype, found._dims = handle.name, attrs["dtype"], attrs["shape"]
        found._initial_value, found._initializer, found._snapshot = first, initializer, snapshot
        found._trainable, found._constraint, found._validate_shape = trainable, None, True
        modes = checked_modes(None, None, trainable, None)
        found._synchronization, found._aggregation, _ = modes
        return found

    def _record(self, first: Tensor, name: str) -> None:
        """Records the nodes of a variable that belongs to a plain graph."""
        self._initial_value = first
        with door.level().scoped(""):
            self._handle = raw.VarHandleOp(
                dtype=self._dtype, shape=self._dims, shared_name=name, name=f"{name}/"
            )
            self.is_initialized(f"{name}/IsInitialized/VarIsInitializedOp")
            self._initializer = raw.AssignVariableOp(self._handle, first, name=f"{name}/Assign")
            self._snapshot = raw.ReadVariableOp(
                self._handle, dtype=self._dtype, name=f"{name}/Read/ReadVariableOp"
            )
        variable_creation.collect(self)


def _placed(**arguments: Any) -> Variable:
    """Creates the variable itself, after all creators, on the device of the block."""
    kind: Any = ResourceVariable if is_host(created_on()) else HOOKS.variable_on
    return kind(**{k: v for k, v in arguments.items() if k not in _FOR_CREATORS})


class BoundVariable(Variable):
    """A variable defined by a handle, such as an argument of a traced function."""

    def __init__(self, handle: Tensor, dims: Dims, dtype: DType, trainable: bool) -> None:
        self._handle = handle
        self._resource = getattr(handle, "_array", None)
        self._name = getattr(handle, "name", "Variable:0")
        self._dtype = dtype
        self._dims = dims
        self._trainable = trainable
        modes = checked_modes(None, None, trainable, None)
        self._synchronization, self._aggregation, _ = modes
        self._constraint = None
        self._validate_shape = True


class UnreadVariable(Variable):
    """The result of an assignment: the variable, whose reads come after the assignment."""

    def follow(self, parent: Variable, operation: Any) -> None:
        """Initializes it as `parent` read after `operation`."""
        vars(self).update(vars(parent))
        self._name = "UnreadVariable"
        self._parent = parent
        self._operation = operation if isinstance(operation, Node) else None
        if self._operation is not None and not operation.graph.building_function:
            self._name = operation.name
            self._node = operation
            self._snapshot = self._read(None)

    @property
    def op(self) -> Any:
        """The assignment's operation; None eagerly."""
        return self._operation


Variable._unread = UnreadVariable


def _eager_value(variable: Variable) -> EagerTensor | None:
    """The current value if ops run eagerly."""
    if _STATE.unusual and (not door.level().eager or door.INSPECTORS):
        return None
    return None if variable._resource is None else variable.value()  # type: ignore[return-value]  # eager here


register_reader((ResourceVariable, BoundVariable, UnreadVariable), _eager_value)


__all__ = ["ResourceVariable", "UnreadVariable", "Variable"]
