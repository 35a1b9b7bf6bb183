"""`GradientTape`: records what is computed, then differentiates it.

Follows https://www.tensorflow.org/api_docs/python/tf/GradientTape.
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, overload

from intaglio.autodiff.backward import Gradients, backpropagate, total
from intaglio.autodiff.jacobian import batch_jacobian, jacobians, unconnected_jacobian
from intaglio.autodiff.plan import TRAINABLE, filled_like, light, one_for_each, spec_from
from intaglio.autodiff.tape import Tape
from intaglio.base import nest
from intaglio.base.composite import ActsAsTensor
from intaglio.base.dtypes import as_dtype
from intaglio.base.log import logger
from intaglio.opdef import convert, door
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.keys import key
from intaglio.opdef.tensor import Tensor

K = TypeVar("K")
_warned: dict[str, int] = {}


class UnconnectedGradients(enum.Enum):
    """The gradient of a source that the target does not depend on: None or zeros.

    Follows https://www.tensorflow.org/api_docs/python/tf/UnconnectedGradients.
    """

    NONE = "none"
    ZERO = "zero"


def unconnected(value: Any) -> UnconnectedGradients:
    """`value` as UnconnectedGradients. Raises ValueError if it is neither 'none' nor 'zero'."""
    if type(value) is UnconnectedGradients:
        return value
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def warn_few(text: str, argument: object, times: int = 5) -> None:
    """Logs a warning, at most `times` for each text."""
    _warned[text] = _warned.get(text, 0) + 1
    if _warned[text] <= times:
        logger().warning(text, argument)


class GradientTape:
    """Records ops for automatic differentiation inside its `with` block.

    Trainable variables are watched when they are read (unless
    `watch_accessed_variables=False`), tensors after `watch`. A `persistent` tape answers
    more than one call of `gradient`; the resources it holds are freed with it.

    >>> x = tf.Variable(3.0)
    >>> with tf.GradientTape() as tape:
    ...     y = x * x
    >>> print(tape.gradient(y, x).numpy())
    6.0
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._tape: Tape | None = None
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._watched_variables: tuple[Any, ...] = ()
        self._recording = False
        self._level: Any = None

    # -- recording -------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        """Begins to record. Raises ValueError if the tape is recording already."""
        self._push_tape()
        return self

    def __exit__(self, typ: Any, value: Any, traceback: Any) -> None:
        """Ends the recording."""
        if self._recording:
            self._pop_tape()

    def _push_tape(self, level: Any = None) -> None:
        if self._recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape."
            )
        if self._tape is None:
            self._tape = Tape(self._watch_accessed_variables, self._persistent)
        self._level = door.watch(self._tape, level)
        self._recording = True

    def _pop_tape(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        door.unwatch(self._tape, self._level)  # type: ignore[arg-type]  # the tape is recording
        self._recording = False

    def __del__(self) -> None:
        if self._recording:
            self._pop_tape()

    def watch(self, tensor: Any) -> None:
        """Records ops that depend on a tensor, a variable, or any of a structure of these.

        Raises ValueError for anything else.
        """
        for t in nest.flatten(tensor, expand_composites=True):
            if not isinstance(t, Tensor) and not hasattr(t, "handle"):
                raise ValueError(
                    f"Passed in object {t} of type {type(t).__name__!r}, not tf.Tensor or tf.Variable or ExtensionType."
                )
            if as_dtype(t.dtype) not in TRAINABLE:
                warn_few(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    t.dtype,
                )
            if hasattr(t, "handle"):
                self._tape.watch_handle(t)  # type: ignore[union-attr]  # the tape is recording
            else:
                self._tape.watch(t)  # type: ignore[union-attr]  # the tape is recording

    @contextmanager
    def stop_recording(self) -> Generator[None]:
        """Suspends recording in the block.

        Raises RuntimeError if the tape is not recording.
        """
        if self._tape is None or not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop_tape()
        try:
            yield
        finally:
            # Inside a branch or body the level is not the tape's.
            self._push_tape(self._level)

    def reset(self) -> None:
        """Drops all that was recorded. Raises ValueError if the tape is not recording."""
        self._pop_tape()
        self._tape = None
        self._push_tape(self._level)

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables watched, in the order in which they were first used."""
        if self._tape is not None:
            self._watched_variables = tuple(self._tape.variables.values())
        return self._watched_variables

    # -- differentiating ---------------------------------------------------------------

    @overload
    def gradient(
        self,
        target: Any,
        sources: ActsAsTensor,
        output_gradients: Any = None,
        unconnected_gradients: Any = ...,
    ) -> Tensor: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Sequence[ActsAsTensor],
        output_gradients: Any = None,
        unconnected_gradients: Any = ...,
    ) -> list[Tensor]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Mapping[K, ActsAsTensor],
        output_gradients: Any = None,
        unconnected_gradients: Any = ...,
    ) -> dict[K, Tensor]: ...
    @overload
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = ...,
    ) -> Any: ...
    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of `target` by each of `sources`, structured like these.

        `output_gradients` weight the targets. A source without a path to a target gets
        None, or zeros if `unconnected_gradients` is "zero". Raises RuntimeError if the tape
        is used up, TypeError if there is no target, LookupError for an op without gradient.
        """
        tape = self._usable()
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors "
                "to be differentiated, but received None."
            )
        wanted = unconnected(unconnected_gradients)
        targets = [
            t
            for t in map(_supported, nest.flatten(_opened(nest.flatten(target))))
            if as_dtype(t.dtype) in TRAINABLE
        ]
        flat_sources = nest.flatten(sources)
        opened = _opened(flat_sources)
        flat = [self._source(s) for s in nest.flatten(opened)]
        weights: list[Any] | None = None
        if output_gradients is not None:
            weights = [
                None if g is None else _as_gradient(g)
                for g in nest.flatten(_opened(nest.flatten(output_gradients)))
            ]
        found = self._differentiate(tape, targets, flat, weights, wanted)
        self._spent()
        return nest.pack_sequence_as(sources, _closed(flat_sources, opened, found))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of the tensor `target` by each of `sources`, structured like these.

        Each has the target's shape followed by the source's. `parallel_iterations` is
        accepted. The rows are computed together, or one after the other if
        `experimental_use_pfor` is False. Raises RuntimeError if the tape is used up,
        or if it is not persistent, eager, and `experimental_use_pfor` is False.
        """
        tape = self._usable()
        wanted = unconnected(unconnected_gradients)
        self._check_pfor(experimental_use_pfor, "jacobian")
        flat_sources = nest.flatten(sources)
        opened = _opened(flat_sources)
        flat = [self._source(s) for s in nest.flatten(opened)]
        [target] = _opened([target])
        found: list[Any] = [None] * len(flat)
        if as_dtype(target.dtype) in TRAINABLE:
            found = jacobians(tape.entries, target, flat, experimental_use_pfor)
        self._spent()
        if wanted is UnconnectedGradients.ZERO:
            for i, source in enumerate(flat):
                if found[i] is None:
                    found[i] = unconnected_jacobian(target, source, source.dtype)
        return nest.pack_sequence_as(sources, _closed(flat_sources, opened, found))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each example: `target[i]` by `source[i]`, stacked.

        `target` (b, ...) and `source` (b, ...) share their first dimension; without a path
        between them the result is zeros. Raises ValueError if the first dimensions differ.
        """
        of_target, of_source = target.shape, source.shape
        if of_target.rank is None or of_source.rank is None:
            raise ValueError("batch_jacobian needs a target and a source of known rank.")
        if not of_target[:1].is_compatible_with(of_source[:1]):
            raise ValueError(
                f"Need first dimension of target shape ({of_target}) and source shape ({of_source}) to match."
            )
        if not of_target.rank:
            raise IndexError("batch_jacobian needs a target with a batch dimension.")
        tape = self._usable()
        unconnected(unconnected_gradients)
        self._check_pfor(experimental_use_pfor, "batch_jacobian")
        found = batch_jacobian(tape.entries, value_of(target), source, experimental_use_pfor)
        self._spent()
        if found is None:
            return unconnected_jacobian(target, source, target.dtype, shared_axes=1)
        return found

    def _check_pfor(self, use_pfor: bool, method: str) -> None:
        if not use_pfor and door.level().eager and not self._persistent:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {method} with eager execution "
                "enabled and with  experimental_use_pfor set to False."
            )

    def _usable(self) -> Tape:
        """The tape, for a gradient; it stops recording unless it is persistent."""
        tape = self._tape
        if tape is None:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
            )
        if self._recording:
            if not self._persistent:
                self._pop_tape()
            else:
                warn_few(_INSIDE, "", 1)
        return tape

    def _spent(self) -> None:
        """Drops what was recorded, unless the tape is persistent."""
        if not self._persistent and self._tape is not None:
            self._watched_variables = tuple(self._tape.variables.values())
            self._tape = None

    def _source(self, source: Any) -> Any:
        """The source, checked. Raises TypeError for an object without dtype."""
        if not hasattr(_supported(source), "dtype"):
            raise TypeError(
                f"Cannot convert the argument `type_value`: {source!r} to a TensorFlow DType. "
                "Sources are tensors or variables."
            )
        return source

    def _differentiate(
        self,
        tape: Tape,
        targets: Sequence[Any],
        sources: Sequence[Any],
        weights: Sequence[Any] | None,
        wanted: UnconnectedGradients,
    ) -> list[Any]:
        level = door.level()
        gradients: Gradients = {}
        for i, target in enumerate(targets):
            tensor = getattr(target, "handle", target)
            weight = weights[i] if weights is not None and i < len(weights) else None
            if weight is None:
                weight = one_for_each(value_of(target))
            gradients.setdefault(key(tensor), []).append(weight)
        numbers = [key(getattr(s, "handle", s)) for s in sources]
        if level.eager:
            backpropagate(reversed(tape.entries), gradients, set(numbers))
        else:
            scope = getattr(level, "scope", "")
            with level.scoped(f"{scope}gradient_tape/"):
                backpropagate(reversed(tape.entries), gradients, set(numbers))
        results: list[Any] = []
        for source, number in zip(sources, numbers, strict=True):
            parts = gradients.get(number)
            if parts is not None:
                whole = total(parts)
                gradients[number] = [whole]
                results.append(whole)
            elif wanted is UnconnectedGradients.ZERO:
                results.append(filled_like(spec_from(light(value_of(source))), 0))
            else:
                results.append(None)
        return results


def value_of(source: Any) -> Tensor:
    """The tensor, or the variable's current value."""
    return source if isinstance(source, Tensor) else convert.to_tensor(source)


def _supported(value: Any) -> Any:
    """The source or target, checked. Raises ValueError for structures that have no gradient."""
    composite = nest.composite_spec(value) is not None
    if composite and not hasattr(value, "__tf_tensor__"):
        raise ValueError(
            f"Type {type(value).__name__} is not supported as a gradient source or gradient target."
        )
    return value


def _opened(values: Sequence[Any]) -> list[Any]:
    """The structure with composite values replaced by their differentiable tensors.

    Their class has `__composite_gradient__`, with `get_gradient_components(value)` and
    `replace_gradient_components(value, gradients)`, as in TensorFlow.
    """
    return [
        v if rule is None else rule.get_gradient_components(v)
        for v in values
        for rule in [getattr(type(v), "__composite_gradient__", None)]
    ]


def _closed(values: Sequence[Any], opened: list[Any], found: list[Any]) -> list[Any]:
    """The gradients by each value; the gradient of a composite value is a composite value of its class."""
    gradients = nest.pack_sequence_as(opened, found)
    results: list[Any] = []
    for value, gradient in zip(values, gradients, strict=True):
        rule = getattr(type(value), "__composite_gradient__", None)
        if rule is not None and gradient is not None:
            gradient = rule.replace_gradient_components(value, gradient)
        results.append(gradient)
    return results


def _as_gradient(value: Any) -> Any:
    return value if isinstance(value, IndexedSlices) else convert.to_tensor(value)


_INSIDE = (
    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
    "calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to increased CPU "
    "and memory usage). Only call GradientTape.gradient inside the context if you actually want to trace the gradient "
    "in order to compute higher order derivatives.%s"
)

__all__ = ["GradientTape", "UnconnectedGradients"]
