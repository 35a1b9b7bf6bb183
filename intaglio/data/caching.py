"""Caches of a dataset's elements, in memory or in a file."""

from __future__ import annotations

import os
import secrets
from typing import Any

from intaglio.base import errors, files, replacing
from intaglio.data.positions import counted, dataset_of, elements_of, of_elements
from intaglio.data.record_files import RecordWriter
from intaglio.data.snapshots import elements_in, record_of
from intaglio.data.stage import OUTPUTS, Advance, DatasetOp, Element, Opened, Root, Stage
from intaglio.opdef.op import op


@op
class CacheDataset(DatasetOp):
    """The elements, computed once: they are cached when one iteration reaches the end."""

    signature = f"input_dataset: variant, filename: string; {OUTPUTS} -> handle: variant"
    path_inputs = ("filename",)

    def kernel(self, input_dataset, filename, output_types):
        path = os.fsdecode(filename[()])
        kept: Any = _File(path, len(output_types)) if path else _Memory()

        def open(root: Root) -> Advance:
            cached = _Cached(input_dataset, kept, root)
            root.keep(cached.save, cached.restore)
            return cached.advance

        return Stage("Cache", input_dataset.cardinality, open, input_dataset.at)


class _Cached:
    """An iteration over the cached elements, or over the input while it fills the cache."""

    def __init__(self, stage: Stage, kept: Any, root: Root) -> None:
        self._stage = stage
        self._kept = kept
        self._shared = root.shared
        self._writing: Any = None
        self._opened: Opened | None = None
        self._source: Advance | None = None

    def _begin(self) -> Advance:
        complete = self._kept.stage()
        self._opened = Opened(complete or self._stage, self._shared)
        self._source = self._opened.advance
        if complete is None:
            self._writing = self._kept.begin()
        return self._source

    def advance(self) -> Element:
        """The next element."""
        source = self._source or self._begin()
        writing = self._writing
        if writing is None:
            return source()
        try:
            element = source()
        except StopIteration:
            writing.finish()
            raise
        writing.add(element)
        return element

    def save(self) -> Any:
        """The position, with the elements collected so far or those of the cache."""
        if self._opened is None:
            self._begin()
        opened: Any = self._opened
        kept = self._writing.save() if self._writing else self._kept.save()
        return [self._writing is not None, kept, opened.root.save()]

    def restore(self, position: Any) -> None:
        """Continues at a position."""
        writes, kept, inner = position
        if writes:
            self._opened = Opened(self._stage, self._shared)
            self._writing = self._kept.begin()
            self._writing.restore(kept)
        else:
            self._kept.restore(kept)
            self._opened = Opened(self._kept.stage(), self._shared)
        self._opened.root.restore(inner)
        self._source = self._opened.advance


class _Memory:
    """The elements of a dataset, once they are complete."""

    def __init__(self) -> None:
        self._elements: list[Element] | None = None

    def stage(self) -> Stage | None:
        """A dataset of the elements if they are complete."""
        return None if self._elements is None else dataset_of(self._elements)

    def begin(self) -> _Collected:
        """Storage for an iteration's elements."""
        return _Collected(self)

    def complete(self, elements: list[Element]) -> None:
        """Stores the elements, unless another iteration has done so."""
        if self._elements is None:
            self._elements = elements

    def save(self) -> Any:
        """The elements as a plain value."""
        return of_elements(self._elements or ())

    def restore(self, position: Any) -> None:
        """Has these elements."""
        self.complete(elements_of(position))


class _Collected:
    """The elements of one iteration, for the memory of all."""

    def __init__(self, memory: _Memory) -> None:
        self._memory = memory
        self._elements: list[Element] = []
        self.add = self._elements.append

    def finish(self) -> None:
        """Called at the end of the iteration."""
        self._memory.complete(self._elements)

    def save(self) -> Any:
        """The elements so far."""
        return of_elements(self._elements)

    def restore(self, position: Any) -> None:
        """Has had these elements."""
        self._elements.extend(elements_of(position))


class _File:
    """The elements of a dataset in a file of records, once they are complete."""

    def __init__(self, path: str, width: int) -> None:
        self.path = path
        self.width = width

    @property
    def data(self) -> str:
        """The file of the complete elements."""
        return f"{self.path}.data-00000-of-00001"

    def stage(self) -> Stage | None:
        """A dataset of the elements if they are complete."""
        if not os.path.exists(self.data):
            return None
        return Stage("Cache", -2, lambda root: _read(self.data, self.width, root))

    def begin(self) -> _Written:
        """Storage for an iteration's elements."""
        return _Written(self)

    def save(self) -> None:
        """Nothing: the elements are in the file."""

    def restore(self, position: Any) -> None:
        """Raises NotFoundError unless the file is there."""
        if not os.path.exists(self.data):
            raise errors.NotFoundError(None, None, f"{self.data}; No such file or directory")


def _read(path: str, width: int, root: Root) -> Advance:
    """The elements in a file."""
    return counted(elements_in(path, width, ""), root)


class _Written:
    """The elements of one iteration, while they are written to a file.

    Raises AlreadyExistsError if another iteration writes the file.
    """

    def __init__(self, file: _File) -> None:
        self._file = file
        self._lock = f"{file.path}_0.lockfile"
        self._partial = f"{file.path}_0.{secrets.token_hex(8)}.partial"
        self._writer: RecordWriter | None = None
        try:
            with files.explained(self._lock):
                os.close(os.open(self._lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except errors.AlreadyExistsError:
            raise errors.AlreadyExistsError(
                None,
                None,
                "There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{self._lock}'). If you are sure no other running TF "
                "computations are using this cache prefix, delete the lockfile and "
                "re-initialize the iterator.",
            ) from None
        self._writer = RecordWriter(self._partial)

    def add(self, element: Element) -> None:
        """Writes an element."""
        if self._writer is not None:
            for component in element:
                self._writer.write(record_of(component))

    def finish(self) -> None:
        """Called at the end of the iteration: renames the file."""
        if self._writer is not None:
            self._writer.close()
            os.replace(self._partial, self._file.data)
            replacing.sync_folder(os.path.dirname(self._file.data))
            self._writer = None
            os.remove(self._lock)

    def __del__(self) -> None:
        if self._writer is not None:  # dropped before the end
            self._writer.close()
            os.remove(self._partial)
            os.remove(self._lock)

    def save(self) -> Any:
        """The elements so far."""
        if self._writer is None:
            return None
        self._writer.flush()
        return of_elements(list(elements_in(self._partial, self._file.width, "")))

    def restore(self, position: Any) -> None:
        """Has had these elements."""
        for element in elements_of(position):
            self.add(element)
