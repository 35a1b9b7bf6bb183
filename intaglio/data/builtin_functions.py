"""Python's built-in functions on datasets and iterators, in converted code of graphs.

Follows https://www.tensorflow.org/guide/function, "Looping over Python data".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.data import building
from intaglio.opdef import convert, door, raw


def called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`function(*args)`, of which one argument is a dataset or an iterator."""
    stage = _STAGED.get(function)
    has_dataset = any(building.is_dataset(a) for a in args)
    if door.level().eager or stage is None or not has_dataset:
        return function(*args, **kwargs)
    return stage(*args, **kwargs)


def _enumerate(dataset: Any, start: Any = 0) -> Any:
    return dataset.enumerate(start)


def _zip(*datasets: Any, strict: bool = False) -> Any:
    return type(datasets[-1]).zip(tuple(datasets))


def _map(function: Any, *datasets: Any) -> Any:
    together = datasets[0] if len(datasets) == 1 else _zip(*datasets)
    return together.map(function)


def _filter(function: Any, dataset: Any) -> Any:
    return dataset.filter(function)


def _abs(dataset: Any) -> Any:
    return dataset.map(abs)


def _any(dataset: Any) -> Any:
    hits = dataset.filter(lambda x: x).take(1)
    return hits.reduce(convert.to_tensor(False), raw.LogicalOr)


def _all(dataset: Any) -> Any:
    misses = dataset.filter(lambda x: raw.LogicalNot(x)).take(1)
    return misses.reduce(convert.to_tensor(True), raw.LogicalAnd)


def _len(dataset: Any) -> Any:
    return dataset.cardinality()


_STAGED: dict[Any, Callable[..., Any]] = {
    abs: _abs,
    enumerate: _enumerate,
    zip: _zip,
    map: _map,
    filter: _filter,
    any: _any,
    all: _all,
    len: _len,
}
