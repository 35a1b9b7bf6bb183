"""Programs as source text: compiled so that AutoGraph can read them, run and compared."""

from __future__ import annotations

import itertools
import linecache
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import settings

from intaglio import tf

_numbers = itertools.count()


def examples(share: float = 1.0) -> Callable[[Any], Any]:
    """Settings of a property: `share` of the profile's number of programs."""
    hunting = os.environ.get("INTAGLIO_HUNT")
    profile = settings.get_profile("hunt" if hunting else "properties")
    return settings(profile, max_examples=max(1, int(profile.max_examples * share)))


class Rejected(Exception):
    """An exception of the generated programs, whose arguments are not just a message."""

    def __init__(self, text: str) -> None:
        super().__init__(7, text)


def load(source: str, **space: Any) -> Any:
    """The function `f` that the source defines."""
    filename = f"<generated program {next(_numbers)}>"
    lines = source.splitlines(keepends=True)
    linecache.cache[filename] = (len(source), None, lines, filename)
    names: dict[str, Any] = {
        "tf": tf,
        "np": np,
        "Rejected": Rejected,
        "__name__": "generated",
        **space,
    }
    exec(compile(source, filename, "exec"), names)
    return names["f"]


class Outcome:
    """What a call gave: flat arrays, or the class of the error it raised."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.error: BaseException | None = None
        self.values: list[Any] = []
        try:
            self.values = [_plain(v) for v in tf.nest.flatten(call())]
        except Exception as e:
            self.error = e

    def __repr__(self) -> str:
        if self.error is not None:
            return f"{type(self.error).__name__}({self.error})"
        return repr(self.values)


def _plain(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value)
    return tf.convert_to_tensor(value).numpy()


def same(a: Outcome, b: Outcome) -> bool:
    """True for equal bits (any NaN equals any other), or the same class of error."""
    if a.error is not None or b.error is not None:
        return _class(a.error) is _class(b.error)
    return len(a.values) == len(b.values) and all(map(_same_array, a.values, b.values))


def _class(error: BaseException | None) -> type[BaseException]:
    """The class of an error; a graph's failed assertion is an InvalidArgumentError besides."""
    return AssertionError if isinstance(error, AssertionError) else type(error)  # type: ignore[return-value]


def _same_array(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or (a.dtype != b.dtype and a.dtype != object):
        return False
    if a.dtype.kind in "fcV":
        wide = a.astype(complex), b.astype(complex)
        both = np.isnan(wide[0]) & np.isnan(wide[1])
        equal = a.view(_bits(a)) == b.view(_bits(b)) if a.ndim else a.tobytes() == b.tobytes()
        if a.dtype.kind == "c":
            equal = np.asarray(wide[0] == wide[1])
        return bool(np.all(both | equal))
    return bool(np.array_equal(a, b))


def _bits(a: Any) -> Any:
    return np.dtype(f"u{a.dtype.itemsize}") if a.dtype.kind != "c" else a.dtype


# What a graph cannot know without a rank or a length, as TensorFlow says it.
UNKNOWN = (
    "Cannot infer argument `num`",
    "with non-fully-defined element_shape",
    "statically",
    "must be known",
    "known rank",
    "unknown rank",
)


def is_documented(error: BaseException) -> bool:
    """True for the errors of what needs a known rank, or a row to know a shape."""
    return any(part in str(error) for part in UNKNOWN)
