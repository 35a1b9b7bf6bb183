"""Variables by name: `variable_scope`, `get_variable` and collections.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/variable_scope. Variables that are created
while a graph is recorded belong to it and are found again by name; eagerly each call makes one, as in
TensorFlow.
"""

from __future__ import annotations

import enum
import functools
import inspect
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from intaglio.base.dtypes import as_dtype, float32, string
from intaglio.base.shapes import TensorShape
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.initializers import GlorotUniform, Zeros
from intaglio.compat_v1.partitioned_variables import (
    PartitionedVariable,
    known_sizes,
    partitions,
    slices,
)
from intaglio.opdef import convert, raw
from intaglio.state.creation import VariableAggregation, VariableSynchronization
from intaglio.state.hooks import HOOKS
from intaglio.state.variable import Variable
from intaglio.trace import scopes, variable_creation


class GraphKeys:
    """The names of collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAIN_OP = "train_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    VARIABLES = GLOBAL_VARIABLES
    INIT_OP = "init_op"
    READY_OP = "ready_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


class VariableScope:
    """The prefix of names of variables, and defaults for `get_variable`."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: Any = None,
        constraint: Any = None,
    ) -> None:
        self.name = name
        self.original_name_scope = name_scope
        self.initializer = initializer
        self.regularizer = regularizer
        self.reuse = reuse
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.dtype = as_dtype(dtype)
        self.use_resource = True
        self.constraint = constraint

    def reuse_variables(self) -> None:
        """From now on `get_variable` returns what there is."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """The initializer of variables without one of their own."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """The regularizer of variables without one of their own."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Where values of variables are cached. There is one device."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """The function that says how variables without one of their own are divided."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """A function that `get_variable` calls with the getter and its arguments."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """The dtype of variables without one of their own."""
        self.dtype = as_dtype(dtype)

    def set_use_resource(self, use_resource: Any) -> None:
        """Whether variables are resources: all are."""

    def get_collection(self, name: Any) -> list[Any]:
        """The values of a collection of the current graph that belong to the scope."""
        return get_collection(name, f"{self.name}/" if self.name else None)

    def global_variables(self) -> list[Any]:
        """The variables of the scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """The local variables of the scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def trainable_variables(self) -> list[Any]:
        """The trainable variables of the scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def get_variable(self, name: str, **options: Any) -> Any:
        """The variable `scope/name`."""
        return _get(self, name, options)


class Store:
    """What a graph, or the eager program, has of scopes and variables."""

    def __init__(self) -> None:
        self.scope = VariableScope(False)
        self.variables: dict[str, Any] = {}
        # How often each scope was entered since the one around it was.
        self.entered: dict[str, int] = {}

    @contextmanager
    def inside(self, scope: VariableScope, reentered: bool) -> Generator[None]:
        """`scope` is the current one in the block.

        Default names of scopes inside count from the beginning each time, so that a function called in
        the same scope again finds its variables again.
        """
        above, name = self.scope, scope.name
        self.entered[name] = self.entered.get(name, 0) + 1
        before = dict(self.entered)
        self.scope = scope
        try:
            yield
        finally:
            self.scope = above
            if reentered:
                self.entered = before
            else:
                for other in self.entered:
                    if other.startswith(f"{name}/"):
                        self.entered[other] = 0

    def unused(self, name: str) -> str:
        """`name`, with a number if there is such a scope in the current one."""
        prefix = f"{self.scope.name}/" if self.scope.name else ""
        found, number = name, 0
        while self.entered.get(prefix + found, 0):
            number += 1
            found = f"{name}_{number}"
        return found


class _EagerStores(threading.local):
    """The store of the eager program, and those of the templates that run in it."""

    def __init__(self) -> None:
        self.stack = [_EAGER_STORE]
        # Stores of libraries, which take all calls of get_variable; eagerly and in graphs.
        self.foreign: list[Any] = []


_EAGER_STORE = Store()
_EAGER = _EagerStores()
_STORE_KEY = ("__varscope",)


@contextmanager
def eager_variables(store: Store) -> Generator[None]:
    """Eagerly, variables in the block are those of `store`, and found again by name."""
    store.scope, store.entered = _EAGER.stack[-1].scope, {}
    _EAGER.stack.append(store)
    try:
        yield
    finally:
        _EAGER.stack.pop()


@contextmanager
def with_variable_store(store: Any) -> Generator[None]:
    """`get_variable` is `store.get_variable` in the block: a library's own, as that of Keras 2 for code of TensorFlow 1."""
    _EAGER.foreign.append(store)
    try:
        yield
    finally:
        _EAGER.foreign.pop()


def default_variable_store() -> Any:
    """The store that `get_variable` asks."""
    return _EAGER.foreign[-1] if _EAGER.foreign else _store()


def _of_library(name: str, **options: Any) -> Any:
    """`get_variable` of a library's store; the name has those of the scopes already."""
    with scopes.name_scope(""):
        return _EAGER.foreign[-1].get_variable(name, **options)


def note_created(variables: dict[str, Any]) -> None:
    """The variables of a template are also those of the one that called it."""
    above = _EAGER.stack[-1]
    if above is not _EAGER_STORE:
        above.variables.update(variables)


def _store() -> Store:
    if scopes.executing_eagerly():
        return _EAGER.stack[-1]
    graph: Any = get_default_graph()
    while getattr(graph, "enclosing", None) is not None:  # the body of a loop has its graph's
        graph = graph.enclosing
    found = graph.get_collection_ref(_STORE_KEY)
    if not found:
        found.append(Store())
    return found[0]


def get_variable_scope() -> VariableScope:
    """The current scope."""
    return _store().scope


def add_to_collection(name: Any, value: Any) -> None:
    """Adds a value to a collection of the current graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Adds a value to several collections of the current graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """The values of a collection of the current graph, those of a scope if one is arguments."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """The collection itself."""
    return get_default_graph().get_collection_ref(key)


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables of the current graph."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """The local variables of the current graph."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables of the current graph that are a model's."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The trainable variables of the current graph."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """The variable `name` of the current scope: an existing one, or a new one.

    Raises ValueError if it exists and the scope does not reuse variables, if it does not exist
    and the scope only reuses, or if shapes differ.

    >>> with tf.compat.v1.variable_scope("layer"):
    ...     print(tf.compat.v1.get_variable("w", [2]).name)
    layer/w:0
    """
    arguments = {
        "shape": shape,
        "dtype": dtype,
        "initializer": initializer,
        "regularizer": regularizer,
        "trainable": trainable,
        "collections": collections,
        "custom_getter": custom_getter,
        "constraint": constraint,
        "partitioner": partitioner,
        "synchronization": synchronization,
        "aggregation": aggregation,
    }
    return _get(get_variable_scope(), name, {k: v for k, v in arguments.items() if v is not None})


def _get(scope: VariableScope, name: str, options: dict[str, Any]) -> Any:
    getter: Callable[..., Any] = _of_library if _EAGER.foreign else _create_or_find
    custom = options.pop("custom_getter", None) or scope.custom_getter
    if custom is not None:
        if not callable(custom):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom!r}")
        getter = _custom(custom, getter)
        options.setdefault("synchronization", VariableSynchronization.AUTO)
        options.setdefault("aggregation", VariableAggregation.NONE)
    full = "/".join(filter(None, (scope.name, name)))
    for key in ("initializer", "regularizer", "constraint", "partitioner"):
        if options.get(key) is None:
            options[key] = getattr(scope, key)
    options.setdefault("dtype", scope.dtype)
    options.setdefault("reuse", scope.reuse)
    return getter(full, **options)


def _custom(custom: Callable[..., Any], inner: Callable[..., Any]) -> Callable[..., Any]:
    return lambda name, *args, **kwargs: custom(inner, name, *args, **kwargs)


def _create_or_find(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    reuse: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    constraint: Any = None,
    partitioner: Any = None,
    **_: Any,
) -> Any:
    store = _store()
    found = None if store is _EAGER_STORE else store.variables.get(name)
    if found is not None:
        if not reuse and not scopes.executing_eagerly():
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
        if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {TensorShape(shape)} and "
                f"found shape {found.shape}."
            )
        if not as_dtype(dtype).is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {as_dtype(dtype).name} and found dtype "
                f"{found.dtype.name}."
            )
        return found
    if reuse is True and not scopes.executing_eagerly():
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you "
            "mean to set reuse=tf.AUTO_REUSE in VarScope?"
        )
    kind = as_dtype(dtype)
    with variable_creation.collected_in(collections):
        whole = _shape(shape, initializer)
        if partitioner is None or whole.rank == 0:
            created = _new(name, shape, kind, initializer, trainable, constraint)
        else:
            counts = partitions(partitioner, whole, kind)
            parts = _parts(whole, counts, shape is None, initializer)
            variables = [
                _new(f"{name}/part_{i}", part, kind, first, trainable, constraint)
                for i, (part, first) in enumerate(parts)
            ]
            created = PartitionedVariable(name, whole, kind, variables, counts)
    store.variables[name] = created
    if not scopes.executing_eagerly() and regularizer is not None:
        with scopes.name_scope(f"{name}/Regularizer/"):
            loss = regularizer(created)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return created


def _shape(shape: Any, initializer: Any) -> TensorShape:
    """The shape of a variable, of which the value is one where no shape is given."""
    if shape is None and initializer is not None and not callable(initializer):
        return TensorShape(convert.to_tensor(initializer).shape)
    return TensorShape(shape)


def _parts(
    whole: TensorShape, counts: list[int], valued: bool, initializer: Any
) -> Iterator[tuple[Any, Any]]:
    """The shapes and initializers of the parts of a variable; of one with a value, slices of that."""
    value = convert.to_tensor(initializer) if valued else None
    for part in slices(known_sizes(whole), counts):
        if value is not None:
            yield None, raw.Slice(value, part.offset, part.sizes)
        else:
            yield part.sizes, _of_part(initializer, PartitionInfo(whole.as_list(), part.offset))


def _of_part(initializer: Any, info: PartitionInfo) -> Any:
    """An initializer that knows which part it is for, if it asks."""
    if not callable(initializer):
        return initializer
    asked = initializer() if isinstance(initializer, type) else initializer
    try:
        parameters = inspect.signature(asked).parameters
    except ValueError:  # a function in C without a text of its signature
        return asked
    if "partition_info" not in parameters:
        return asked
    return functools.partial(asked, partition_info=info)


class PartitionInfo:
    """Which part of a variable an initializer is for."""

    def __init__(self, full_shape: Any, var_offset: Any) -> None:
        self._full_shape = list(full_shape)
        self._var_offset = list(var_offset)

    @property
    def full_shape(self) -> list[Any]:
        """The shape of the whole variable."""
        return self._full_shape

    @property
    def var_offset(self) -> list[Any]:
        """Where the part begins."""
        return self._var_offset


def _takes_nothing(function: Any) -> bool:
    """Whether a function may be called without arguments; True where Python does not know."""
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    except ValueError:  # a function in C without a text of its signature
        return True
    return True


def _new(
    name: str, shape: Any, dtype: Any, initializer: Any, trainable: bool | None, constraint: Any
) -> Any:
    if initializer is None:
        if not (dtype.is_floating or dtype.is_integer or dtype.is_bool):
            raise ValueError(f"An initializer for variable {name} of {dtype} is required")
        if shape is None:
            raise ValueError(
                f"Variable {name} did not get an initializer, so its `shape` argument must be specified."
            )
        initializer = GlorotUniform() if dtype.is_floating else Zeros()
    if callable(initializer):
        if isinstance(initializer, type):
            initializer = initializer()
        function = initializer
        fits = _takes_nothing(function) if shape is None else TensorShape(shape).is_fully_defined()
        if not fits:
            raise ValueError(
                "The initializer passed is not valid. It should be a callable with no arguments and the shape "
                "should not be provided or an instance of `tf.keras.initializers.*' and `shape` should be "
                "fully defined."
            )

        def value() -> Any:
            with scopes.name_scope(f"{name}/Initializer/"):
                return function() if shape is None else function(_list(shape), dtype=dtype)

    else:
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype = None  # that of the value

        def value() -> Any:
            return initializer

    # The name has the variable scope's name already.
    with _in_its_graph(), scopes.name_scope(""):
        return Variable(
            value, trainable is not False, name=name, dtype=dtype, constraint=constraint
        )


@contextmanager
def _in_its_graph() -> Generator[None]:
    """Variables of a loop's body are those of the plain graph that the loop is in."""
    with scopes.init_scope():
        plain = not scopes.executing_eagerly()
    with scopes.init_scope() if plain else _nothing():
        yield


class _VariableKind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Variable)

    def __call__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        experimental_enable_variable_lifting: Any = None,
    ) -> Any:
        arguments = {"synchronization": synchronization, "aggregation": aggregation, "shape": shape}
        with variable_creation.collected_in(collections):
            return Variable(
                initial_value,
                trainable,
                validate_shape=validate_shape,
                name=name,
                dtype=dtype,
                constraint=constraint,
                **{key: value for key, value in arguments.items() if value is not None},
            )


class VariableV1(metaclass=_VariableKind):
    """`tf.Variable` with the parameters of TensorFlow 1; in graphs it joins collections.

    https://www.tensorflow.org/api_docs/python/tf/compat/v1/Variable
    """

    @staticmethod
    def from_proto(variable_def: Any, import_scope: str | None = None) -> Any:
        """The variable of the current graph that a VariableDef message names.

        Raises ValueError if the graph does not have its operations.
        """
        return HOOKS.variable_of_def(variable_def, import_scope)


def _list(shape: Any) -> Any:
    return shape.as_list() if isinstance(shape, TensorShape) else shape


class variable_scope:
    """Names of variables in the block begin with the scope's name.

    `reuse` is True, False, None (as the scope above) or `AUTO_REUSE`. The block may be entered again,
    and has its name then, also that made from the default name. Raises TypeError if there is neither a name nor
    a default name.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: Any = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                f"The auxiliary_name_scope must be `True` or `False`, not {auxiliary_name_scope!r}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._unused: str | None = None  # the name made from the default name
        self._auxiliary = auxiliary_name_scope
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._dtype = dtype
        self._constraint = constraint
        self._open: list[AbstractContextManager[VariableScope]] = []

    def __enter__(self) -> VariableScope:
        block = self._block()
        scope = block.__enter__()
        self._open.append(block)
        return scope

    def __exit__(self, *error: Any) -> bool | None:
        return self._open.pop().__exit__(*error)

    @contextmanager
    def _block(self) -> Generator[VariableScope]:
        store = _store()
        above, own = store.scope, self._name_or_scope
        again = isinstance(own, VariableScope)
        template = own if again else above
        if again:
            name, in_names = own.name, own.name.rpartition("/")[2]
        elif own is not None:
            name = f"{above.name}/{own}" if above.name and own else own
            name, in_names = name or above.name, own
        else:
            in_names = self._default_name or ""
            if self._unused is None:
                self._unused = store.unused(in_names)
            name = f"{above.name}/{self._unused}" if above.name else self._unused
        with scopes.name_scope(in_names) if self._auxiliary and in_names else _nothing() as full:
            names = template.original_name_scope if again else full or _name_scope()
            scope = self._scope(template, name, names)
            with store.inside(scope, again):
                yield scope

    def _scope(self, template: VariableScope, name: str, name_scope: str) -> VariableScope:
        """The scope: what the block does not set is the template's."""
        initializer = self._initializer  # a tensor is no bool
        return VariableScope(
            template.reuse if self._reuse is None or template.reuse is True else self._reuse,
            name,
            template.initializer if initializer is None else initializer,
            self._regularizer or template.regularizer,
            self._caching_device or template.caching_device,
            self._partitioner or template.partitioner,
            custom_getter=_chained(self._custom_getter, template.custom_getter),
            name_scope=name_scope,
            dtype=self._dtype or template.dtype,
            constraint=self._constraint or template.constraint,
        )


def _name_scope() -> str:
    """The current name scope, with the slash at its end."""
    current = scopes.current_name_scope()
    return f"{current}/" if current else ""


def _chained(own: Callable[..., Any] | None, above: Callable[..., Any] | None) -> Any:
    """The getter of a scope: its own one, whose getter is that of the scope above."""
    if own is None or above is None:
        return own or above
    return lambda getter, *args, **options: own(
        lambda *names, **rest: above(getter, *names, **rest), *args, **options
    )


@contextmanager
def _nothing() -> Generator[None]:
    yield


def create_partitioned_variables(
    shape: Any,
    slicing: list[int],
    initializer: Any,
    dtype: Any = float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable that is divided as `slicing` says. Raises ValueError for several axes."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        whole = get_variable(
            "",
            shape,
            dtype,
            initializer,
            trainable=trainable,
            partitioner=lambda **_: slicing,
            collections=collections,
        )
        return list(whole)


@contextmanager
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, **options: Any
) -> Generator[VariableScope]:
    """`variable_scope`, with the order of its first parameters in earlier versions."""
    with variable_scope(name_or_scope, default_name, values, **options) as scope:
        yield scope


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """An operation that gives variables their first values; eagerly they have them already."""
    return _group([v.initializer for v in var_list or ()], name)


def global_variables_initializer() -> Any:
    """An operation that gives the variables of the graph their first values."""
    return variables_initializer(_of_graph(global_variables))


def local_variables_initializer() -> Any:
    """An operation that gives the local variables of the graph their first values."""
    return variables_initializer(_of_graph(local_variables))


def tables_initializer(name: str = "init_all_tables") -> Any:
    """An operation that fills the tables of the graph."""
    return _group(get_collection(GraphKeys.TABLE_INITIALIZERS), name)


def is_variable_initialized(variable: Any) -> Any:
    """Whether a variable has a value."""
    return variable.is_initialized()


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Any:
    """The names of variables without values, as a vector of texts."""
    variables = list([*global_variables(), *local_variables()] if var_list is None else var_list)
    with scopes.name_scope(name):
        names = convert.to_tensor([v.op.name for v in variables], string)
        if not variables:
            return names
        missing = raw.LogicalNot(raw.Pack([v.is_initialized() for v in variables], axis=0))
        return raw.Reshape(raw.GatherV2(names, raw.Where(missing), 0), [-1])


def _of_graph(found: Callable[[], list[Any]]) -> list[Any]:
    return [] if scopes.executing_eagerly() else found()


def _group(operations: list[Any], name: str) -> Any:
    """An operation that waits for others; None eagerly."""
    if scopes.executing_eagerly():
        return None
    with scopes.control_dependencies(operations):
        return raw.NoOp(name=name)
