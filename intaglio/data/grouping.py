"""The stages that group elements by key: in windows that become datasets, or reduced to one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.data.functional import runner
from intaglio.data.positions import dataset_of, elements_of, of_elements
from intaglio.data.stage import (
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Opened,
    Root,
    Shared,
    Stage,
    exhausted,
    require,
)
from intaglio.opdef.op import op


@op
class GroupByWindowDataset(DatasetOp):
    """Elements of one key in windows, each reduced to a dataset whose elements follow."""

    signature = (
        "input_dataset: variant, key_func_other_arguments: *Tkey_func_other_arguments,"
        " reduce_func_other_arguments: *Treduce_func_other_arguments,"
        " window_size_func_other_arguments: *Twindow_size_func_other_arguments;"
        " key_func: func, reduce_func: func, window_size_func: func,"
        f" {OUTPUTS} -> handle: variant"
    )

    def kernel(
        self,
        input_dataset,
        key_func_other_arguments,
        reduce_func_other_arguments,
        window_size_func_other_arguments,
        key_func,
        reduce_func,
        window_size_func,
    ):
        name = "GroupByWindowDataset"

        def open(root: Root) -> Advance:
            shared = root.shared
            windows = _Windows(
                shared,
                input_dataset.open(root),
                runner(shared, key_func, key_func_other_arguments, name),
                runner(shared, reduce_func, reduce_func_other_arguments, name),
                runner(shared, window_size_func, window_size_func_other_arguments, name),
            )
            root.keep(windows.save, windows.restore)
            return windows.advance

        return Stage("GroupByWindow", UNKNOWN, open)


class _Windows:
    """Windows of elements by key, and the dataset reduced from the last full one."""

    def __init__(
        self,
        shared: Shared,
        source: Advance,
        key_of: Callable[..., Any],
        reduce: Callable[..., Any],
        size_of: Callable[..., Any],
    ) -> None:
        self._shared = shared
        self._source = source
        self._key_of = key_of
        self._reduce = reduce
        self._size_of = size_of
        self._groups: dict[int, list[Element]] = {}
        self._keys: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._open: tuple[Any, Sequence[Element], Opened] | None = None
        self._results: Advance = exhausted

    def _begin(self, key: Any, window: Sequence[Element]) -> Opened:
        opened = Opened(self._reduce(key, dataset_of(window))[0], self._shared)
        self._open, self._results = (key, window, opened), opened.advance
        return opened

    def _reduced(self, number: int) -> None:
        self._begin(self._keys[number], self._groups.pop(number))

    def advance(self) -> Element:
        """The next element of the datasets of full windows."""
        while True:
            try:
                return self._results()
            except StopIteration:
                self._open, self._results = None, exhausted
            try:
                element = self._source()
            except StopIteration:
                if not self._groups:
                    raise
                self._reduced(min(self._groups))
                continue
            self._add(element)

    def _add(self, element: Element) -> None:
        (key,) = self._key_of(*element)
        number = int(key)
        if number not in self._sizes:
            self._keys[number] = key
            self._sizes[number] = size = int(self._size_of(key)[0])
            require(size > 0, f"Window size must be greater than zero, but got {size}.")
        group = self._groups.setdefault(number, [])
        group.append(element)
        if len(group) == self._sizes[number]:
            self._reduced(number)

    def save(self) -> Any:
        """The groups, and where the dataset of the last full window is."""
        groups = [
            [self._keys[n], self._sizes[n], of_elements(self._groups.get(n, ()))]
            for n in self._keys
        ]
        if self._open is None:
            return [groups, None]
        key, window, opened = self._open
        return [groups, [key, of_elements(window), opened.root.save()]]

    def restore(self, position: Any) -> None:
        """Has these groups, and continues in that dataset."""
        groups, current = position
        for key, size, elements in groups:
            number = int(key)
            self._keys[number], self._sizes[number] = key, size
            if elements is not None:
                self._groups[number] = elements_of(elements)
        if current is not None:
            key, window, inner = current
            self._begin(key, elements_of(window)).root.restore(inner)


@op
class GroupByReducerDataset(DatasetOp):
    """For each key one element, reduced from all elements that have it; keys in rising order."""

    signature = (
        "input_dataset: variant, key_func_other_arguments: *Tkey_func_other_arguments,"
        " init_func_other_arguments: *Tinit_func_other_arguments,"
        " reduce_func_other_arguments: *Treduce_func_other_arguments,"
        " finalize_func_other_arguments: *Tfinalize_func_other_arguments;"
        " key_func: func, init_func: func, reduce_func: func, finalize_func: func,"
        " output_types: list(type), output_shapes: list(shape) -> handle: variant"
    )
    stateful = True
    droppable = True

    def kernel(
        self,
        input_dataset,
        key_func_other_arguments,
        init_func_other_arguments,
        reduce_func_other_arguments,
        finalize_func_other_arguments,
        key_func,
        init_func,
        reduce_func,
        finalize_func,
    ):
        name = "GroupByReducerDataset"

        def open(root: Root) -> Advance:
            shared = root.shared
            reduced = _Reduced(
                input_dataset.open(root),
                runner(shared, key_func, key_func_other_arguments, name),
                runner(shared, init_func, init_func_other_arguments, name),
                runner(shared, reduce_func, reduce_func_other_arguments, name),
                runner(shared, finalize_func, finalize_func_other_arguments, name),
            )
            root.keep(reduced.save, reduced.restore)
            return reduced.advance

        return Stage("GroupByReducer", UNKNOWN, open)


class _Reduced:
    """One state for each key; they are finished once the input has ended."""

    def __init__(self, source: Advance, key_of: Any, first: Any, reduce: Any, finish: Any) -> None:
        self._source = source
        self._key_of = key_of
        self._first = first
        self._reduce = reduce
        self._finish = finish
        self._states: dict[int, tuple[Any, ...]] = {}
        self._left: list[int] | None = None  # the keys to come, the next one last

    def advance(self) -> Element:
        """The next key's value."""
        if self._left is None:
            self._read_all()
            self._left = sorted(self._states, reverse=True)
        if not self._left:
            raise StopIteration
        return self._finish(*self._states.pop(self._left.pop()))

    def _read_all(self) -> None:
        states = self._states
        while True:
            try:
                element = self._source()
            except StopIteration:
                return
            (key,) = self._key_of(*element)
            number = int(key)
            state = states.get(number)
            if state is None:
                state = self._first(key)
            states[number] = self._reduce(*state, *element)

    def save(self) -> Any:
        """The states of the keys to come."""
        return [list(self._states), [list(s) for s in self._states.values()], self._left]

    def restore(self, position: Any) -> None:
        """Has these states."""
        numbers, states, self._left = position
        self._states = dict(zip(numbers, map(tuple, states), strict=True))
