"""Values of which each replica has its own: `PerReplica` and `Mirrored`.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/DistributedValues and
https://www.tensorflow.org/api_docs/python/tf/types/experimental/distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.distribute.contexts import current
from intaglio.ir.replicas import NotOneProgram
from intaglio.opdef import convert
from intaglio.state.variable import ResourceVariable
from intaglio.type_specs.type_spec import TypeSpec, type_spec_of


class DistributedValues:
    """A value of which each replica has its own; `values` are those of this process' replicas."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = tuple(values)

    @property
    def values(self) -> tuple[Any, ...]:
        """The replicas' values, in their order."""
        return self._values

    @property
    def _primary(self) -> Any:
        return self._values[0]

    def _of(self, index: int) -> Any:
        """What a replica of this process gets of the value."""
        return self._values[index]

    def _listed(self, text: Callable[[Any], str]) -> str:
        rows = ",\n".join([f"  {i}: {text(v)}" for i, v in enumerate(self._values)])
        return f"{type(self).__name__}:{{\n{rows}\n}}"

    def __str__(self) -> str:
        return self._listed(str)

    def __repr__(self) -> str:
        return self._listed(repr)


class PerReplica(DistributedValues, CompositeTensor):
    """Values of replicas that are not kept equal, such as the parts of a batch."""

    @property
    def _type_spec(self) -> Any:
        return PerReplicaSpec(*[type_spec_of(v) for v in self._values])


def _no_tensor(value: Any, **_: Any) -> Any:
    """Raises ValueError: which replica's tensor is wanted is not known outside of replicas."""
    raise ValueError(
        "It looks like you are using a PerReplica object while not inside a replica context, "
        "which is not supported. Try running your op or function inside a replica context by "
        "using `strategy.run`"
    )


convert.register(PerReplica, _no_tensor)


class Mirrored(DistributedValues):
    """Values of replicas that are kept equal, such as reduced gradients.

    Where a tensor is wanted it is the value of the replica that runs, or else the first.
    """

    @property
    def _own(self) -> Any:
        return current().replicas.own(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._own, name)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return convert.to_tensor(self._own, dtype, name)


_OPERATORS = (
    "abs", "add", "and", "floordiv", "ge", "getitem", "gt", "invert", "le", "lt", "matmul", "mod", "mul", "neg",
    "or", "pow", "radd", "rand", "rfloordiv", "rmatmul", "rmod", "rmul", "ror", "rpow", "rsub", "rtruediv", "rxor",
    "sub", "truediv", "xor",
)  # fmt: skip


def _operator(name: str) -> Callable[..., Any]:
    def apply(self: Mirrored, *others: Any) -> Any:
        values = [other._own if isinstance(other, Mirrored) else other for other in others]
        return getattr(self._own, name)(*values)

    return apply


for _name in _OPERATORS:
    setattr(Mirrored, f"__{_name}__", _operator(f"__{_name}__"))


class _OneForAll(DistributedValues):
    """The value of whichever replica runs, while the replicas are one program."""

    def __init__(self, value: Any) -> None:
        super().__init__((value,))

    @property
    def values(self) -> tuple[Any, ...]:
        """Raises NotOneProgram: a program has the value of one replica."""
        raise NotOneProgram("Python code looks at the values of single replicas")

    def _of(self, index: int) -> Any:
        return self._values[0]


class Lane(_OneForAll, PerReplica):
    """A `PerReplica` in an SPMD program."""


class MirroredLane(_OneForAll, Mirrored):
    """A `Mirrored` in an SPMD program."""

    @property
    def _own(self) -> Any:
        return self._values[0]


class PerReplicaSpec(TypeSpec):
    """The type of `PerReplica`: the spec of each replica's value."""

    __slots__ = ("_value_specs",)

    def __init__(self, *value_specs: Any) -> None:
        self._value_specs = tuple(value_specs)

    @property
    def value_type(self) -> Any:
        """`PerReplica`."""
        return PerReplica

    def _serialize(self) -> tuple[Any, ...]:
        return self._value_specs

    @property
    def _component_specs(self) -> Any:
        return self._value_specs

    def _to_components(self, value: Any) -> Any:
        return value._values

    def _from_components(self, components: Any) -> Any:
        return PerReplica(components)


def regrouped(
    values: Sequence[Any], kind: type[DistributedValues] = PerReplica, always: bool = False
) -> Any:
    """The structures of all replicas as one, whose leaves are `kind`.

    Unless `always`, what is one object, or equal numbers, stays it.
    """
    first = values[0]
    if not always and all(v is first for v in values):
        return first
    if isinstance(first, dict):
        return type(first)([(k, regrouped([v[k] for v in values], kind, always)) for k in first])
    if isinstance(first, (list, tuple)) and all(len(v) == len(first) for v in values):
        parts = [regrouped(part, kind, always) for part in zip(*values, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if always:
        return kind(values)
    if isinstance(first, (bool, int, float, str)) and all(
        type(v) is type(first) and v == first for v in values
    ):
        return first
    containers = {id(c): c for c in map(container_of, values)}
    if len(containers) == 1 and (found := containers.popitem()[1]) is not None:
        return found
    return kind(values)


def container_of(value: Any) -> Any:
    """The variable that a copy belongs to; None for other values, and for results of writing."""
    if not isinstance(value, ResourceVariable):
        return None
    reference = getattr(value, "_distributed_container", None)
    return None if reference is None else reference()


def of_replica(index: int, structure: Any) -> Any:
    """A structure as one replica of this process sees it: its own of each DistributedValues."""
    return nest.map_structure(
        lambda v: v._of(index) if isinstance(v, DistributedValues) else v, structure
    )


__all__ = [
    "DistributedValues",
    "Lane",
    "Mirrored",
    "MirroredLane",
    "PerReplica",
    "PerReplicaSpec",
    "of_replica",
    "regrouped",
]
