"""`ForwardAccumulator`: Jacobian-vector products, computed along with the program.

Follows https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator. The tangent
of an op's outputs is the transpose of its gradient rule: the rule is linear in the output
gradients, so differentiating it by them gives the Jacobian times a vector.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.autodiff.backward import Gradients, backpropagate, through, total
from intaglio.autodiff.derivative import gradient_spec
from intaglio.autodiff.gradient_tape import UnconnectedGradients, unconnected, value_of, warn_few
from intaglio.autodiff.plan import TRAINABLE, filled_like, light, spec_from
from intaglio.autodiff.tape import Backward, Entry, Tape
from intaglio.base import nest
from intaglio.base.dtypes import variant
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.keys import key
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor


@dataclasses.dataclass
class _Call:
    """A recorded call or loop, and how many of its outputs have had their tangents computed."""

    node: Node
    # The tensors that the accumulator was notified of: a variable's resource, not the node's capture of it.
    inputs: Sequence[Tensor]
    covered: int = 0


class ForwardAccumulator:
    """Computes Jacobian-vector products of what runs inside its `with` block.

    `primals` are tensors or variables, `tangents` the vectors, of the same structure.
    Raises ValueError if the structures or dtypes differ or a primal is given twice.

    >>> x = tf.constant(3.0)
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as forward:
    ...     y = x * x
    >>> print(forward.jvp(y).numpy())
    6.0
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._tangents: dict[int, Any] = {}
        self._calls: dict[int, _Call] = {}  # by the id of the node
        self._recording = False
        self._level: Any = None
        nest.assert_same_structure(primals, tangents)
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent)

    def _watch(self, primal: Any, tangent: Any) -> None:
        if primal.dtype not in TRAINABLE:
            warn_few(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                primal.dtype,
            )
        tangent = convert.to_tensor(tangent, primal.dtype)
        number = key(getattr(primal, "handle", primal))
        if number in self._tangents:
            raise ValueError(
                f"Tensor {primal!r} was specified as a primal multiple times. This may indicate an error. "
                "If it was intended, please sum the corresponding tangents."
            )
        self._tangents[number] = tangent

    def __enter__(self) -> ForwardAccumulator:
        """Begins to accumulate. Raises ValueError if it does already."""
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        self._level = door.watch(self)
        self._recording = True
        return self

    def __exit__(self, typ: Any, value: Any, traceback: Any) -> None:
        """Ends the accumulation."""
        if self._recording:
            door.unwatch(self, self._level)
            self._recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The Jacobian-vector product of each of `primals`, or None where there is none.

        With `unconnected_gradients` of ZERO, the result has zeros instead of None.
        """
        wanted = unconnected(unconnected_gradients)

        def product(primal: Any) -> Any:
            found = self._tangents.get(key(getattr(primal, "handle", primal)))
            if found is None and wanted is UnconnectedGradients.ZERO:
                return filled_like(spec_from(light(value_of(primal))), 0)
            return found

        return nest.map_structure(product, primals)

    # -- watching ------------------------------------------------------------------

    def depends(self, inputs: Iterable[Any]) -> bool:
        """True if one of the tensors has a tangent."""
        known = self._tangents
        return any(getattr(t, "_key", 0) in known for t in inputs)

    def watch_variable(self, variable: Any) -> None:
        """Does nothing: a variable has a tangent only if it is among the primals."""

    def extended(self, node: Any) -> None:
        """Does nothing: further outputs get tangents when an op uses them (`_cover`)."""

    def record(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        """Computes the tangents of an op's outputs."""
        self._cover(inputs)
        if not self.depends(inputs):
            return
        if op.has_graphs and outputs and type(outputs[0]) is SymbolicTensor:
            call = _Call(outputs[0].node, inputs)
            self._calls[id(call.node)] = call
            self._record_call(call)
        else:
            self._record(op, attrs, inputs, outputs)

    def _cover(self, inputs: Sequence[Tensor]) -> None:
        """Computes the tangents of outputs that were added to recorded calls and loops.

        Gradients add the values that they need to the outputs of a recorded node: `surgery.extend`.
        """
        for tensor in inputs if self._calls else ():
            if type(tensor) is SymbolicTensor:
                call = self._calls.get(id(tensor.node))
                if call is not None and tensor.index >= call.covered:
                    self._record_call(call)

    def _record_call(self, call: _Call) -> None:
        node = call.node
        call.covered = len(node.outputs)
        inputs = [*call.inputs, *node.inputs[len(call.inputs) :]]
        self._record(node.op, node.attrs, inputs, node.outputs)

    def _record(
        self, op: Op, attrs: dict[str, Any], inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> None:
        self._accumulate(inputs, outputs, lambda tape: tape.record(op, attrs, inputs, outputs))

    def record_function(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], backward: Backward
    ) -> None:
        """Computes the tangents of the results of a function with a custom gradient."""
        self._cover(inputs)
        if self.depends(inputs):
            self._accumulate(
                inputs, outputs, lambda tape: tape.record_function(inputs, outputs, backward)
            )

    @contextmanager
    def _hidden(self) -> Generator[None]:
        """Hides the ops of the block from this watcher and those inside it."""
        level = door.level()
        kept = level.watchers
        at = next((i for i, w in enumerate(kept) if w is self), len(kept))
        level.watchers = kept[:at]
        try:
            yield
        finally:
            level.watchers = kept

    def _accumulate(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], show: Callable[[Tape], None]
    ) -> None:
        tape = Tape(watch_variables=False)
        tangents = [self._tangents.get(getattr(t, "_key", 0)) for t in inputs]
        for tensor, tangent in zip(inputs, tangents, strict=True):
            if tangent is not None:
                tape.watch(tensor)
        show(tape)
        if not tape.entries:
            return
        with self._hidden():
            products = _transposed(tape.entries[0], tangents, outputs)
        for tensor, product in zip(outputs, products, strict=True):
            if product is not None:
                self._tangents.setdefault(key(tensor), product)


def _seed(output: Tensor) -> Tensor | None:
    """A new tensor with the spec of an output's gradient; its value does not matter.

    It is an empty list for a list, and has the spec of the contents for a variable's resource. The rule's
    result is differentiated by it.
    """
    spec = gradient_spec(output)
    seed = filled_like(spec, 0 if spec.dtype is variant else 1)
    return None if seed is None else raw.Identity(seed)


def _transposed(entry: Entry, tangents: Sequence[Any], outputs: Sequence[Tensor]) -> list[Any]:
    """The tangents of the outputs: the derivative of the gradient rule by its `d` inputs."""
    seeds = [_seed(t) if number else None for t, number in zip(outputs, entry.outputs, strict=True)]
    inner = Tape(watch_variables=False)
    for seed in seeds:
        if seed is not None:
            inner.watch(seed)
    level = door.watch(inner)
    try:
        found = [
            None if g is None or t is None else convert.to_tensor(g)
            for g, t in zip(through(entry, seeds), tangents, strict=True)
        ]
    finally:
        door.unwatch(inner, level)
    gradients: Gradients = {}
    for gradient, tangent in zip(found, tangents, strict=True):
        if gradient is not None:
            gradients.setdefault(key(gradient), []).append(tangent)
    numbers = [0 if s is None else key(s) for s in seeds]
    backpropagate(reversed(inner.entries), gradients, set(numbers))
    return [None if n not in gradients or not n else total(gradients[n]) for n in numbers]
