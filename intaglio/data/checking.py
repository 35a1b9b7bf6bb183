"""The stages that drop or check elements: unique, ignore_errors, assert_cardinality; and options."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.dtypes import int32, int64, string
from intaglio.base.log import logger
from intaglio.data.options import Options
from intaglio.data.stage import (
    ELEMENTS,
    INFINITE,
    OUTPUTS,
    UNKNOWN,
    Advance,
    DatasetOp,
    Element,
    Root,
    Stage,
    require,
)
from intaglio.opdef.op import op

_COMPARED = ((int32,), (int64,), (string,))


@op
class UniqueDataset(DatasetOp):
    """The elements without repetitions."""

    signature = f"input_dataset: variant; {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, output_types):
        require(
            len(output_types) == 1, "UniqueDataset only supports inputs with a single component."
        )
        require(
            output_types in _COMPARED,
            "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or "
            "`tf.string` component.",
        )

        def open(root: Root) -> Advance:
            source, seen = input_dataset.open(root), set[Any]()

            def advance() -> Element:
                while True:
                    element = source()
                    key = _identity(element[0])
                    if key not in seen:
                        seen.add(key)
                        return element

            root.keep(lambda: list(seen), seen.update)
            return advance

        return Stage("Unique", UNKNOWN, open)


def _identity(component: Any) -> Any:
    """A hashable key of a component's value."""
    value = np.asarray(component)
    if value.ndim == 0:
        return value.item()
    content = tuple(value.ravel()) if value.dtype == object else value.tobytes()
    return value.shape, content


@op
class IgnoreErrorsDataset(DatasetOp):
    """The elements, without those whose computation fails."""

    signature = f"input_dataset: variant; {ELEMENTS}, log_warning: bool = False -> handle: variant"

    def kernel(self, input_dataset, log_warning):
        def open(root: Root) -> Advance:
            source = input_dataset.open(root)

            def advance() -> Element:
                while True:
                    try:
                        return source()
                    except errors.OpError as e:
                        if log_warning:
                            logger().warning("Error raised with error message %s", e.message)

            return advance

        known = input_dataset.cardinality
        return Stage("IgnoreErrors", INFINITE if known == INFINITE else UNKNOWN, open)


@op
class AssertCardinalityDataset(DatasetOp):
    """The elements; an error if their number is not the one declared."""

    signature = f"input_dataset: variant, cardinality: int64; {ELEMENTS} -> handle: variant"

    def kernel(self, input_dataset, cardinality):
        wanted = int(cardinality)
        return Stage(
            "AssertCardinality",
            wanted,
            lambda root: _counted(input_dataset, wanted, root),
            input_dataset.at,
        )


def _counted(stage: Stage, wanted: int, root: Root) -> Advance:
    source, count = stage.open(root), 0

    def wrong(found: str) -> Exception:
        shown = "an infinite number of" if wanted == INFINITE else wanted
        return errors.FailedPreconditionError(
            None,
            None,
            f"Input dataset was expected to contain {shown} elements but contained {found}.",
        )

    def advance() -> Element:
        nonlocal count
        try:
            element = source()
        except StopIteration:
            if wanted not in (count, UNKNOWN):
                raise wrong(f"only {count} elements") from None
            raise
        count += 1
        if 0 <= wanted < count:
            raise wrong(f"at least {count} elements")
        return element

    def restore(position: int) -> None:
        nonlocal count
        count = position

    root.keep(lambda: count, restore)
    return advance


@op
class OptionsDataset(DatasetOp):
    """The elements, with options for the computation of the whole pipeline.

    Stages read the options after they have opened their input, so that options
    apply to the stages above them too.
    """

    signature = f"input_dataset: variant; serialized_options: str, {OUTPUTS} -> handle: variant"

    def kernel(self, input_dataset, serialized_options):
        own = Options.from_text(serialized_options)

        def open(root: Root) -> Advance:
            root.shared.options = root.shared.options.merge(own)
            return input_dataset.open(root)

        return Stage("Options", input_dataset.cardinality, open, input_dataset.at)
