"""`Traits`: facts about an op that are no rules, each declared on the op or on its family.

A trait is a fact about the op; its readers decide what follows from it. `check` refuses at
import what is no trait, or none of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, ClassVar

# The values of the traits that are one of several words.
CONTROL_FLOW = ("", "call", "branch", "loop", "replicas")
BATCHING = ("", "leading", "broadcast", "alike", "examples")
COMBINES = ("", "update", "add", "sub", "mul", "div", "max", "min")
REDUCES = ("", "sum", "mean", "product", "maximum", "minimum", "all", "any")
OUTSIDE = ("", "prints", "python", "files", "clock", "tables", "data")


class Traits:
    """The traits of an op. CONTRIBUTING.md has them as a table."""

    # -- effects ------------------------------------------------------------------
    # The op stays in program order, and in the graph unless it is `droppable`.
    stateful: ClassVar[bool] = False
    droppable: ClassVar[bool] = False
    # What the op may do with the resources that its inputs name. Ops that run graphs do what
    # these do.
    reads: ClassVar[bool] = True
    writes: ClassVar[bool] = True
    # What the op reaches that is not in the graph: one of OUTSIDE.
    reaches_outside: ClassVar[str] = ""
    # The inputs that name files.
    path_inputs: ClassVar[tuple[str, ...]] = ()
    # Strings are only passed on by the op, or part of a message: it is arithmetic nevertheless.
    carries_strings: ClassVar[bool] = False
    # How the op runs the graphs that are its attributes: one of CONTROL_FLOW.
    control_flow: ClassVar[str] = ""

    # -- gradients ----------------------------------------------------------------
    differentiable: ClassVar[bool] = True
    # For each input the inputs whose data its gradient needs; where it is given, a gradient
    # rule gets Specs instead of those that no wanted gradient needs.
    gradient_needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    # `tf.debugging.enable_check_numerics` looks at the result. What an op only moves has been
    # looked at when it was computed.
    numerics_checked: ClassVar[bool] = True

    # -- kernels ------------------------------------------------------------------
    # Whether the kernel computes each element alone, with temporary arrays that stay small if
    # large inputs are computed in blocks.
    blockwise: ClassVar[bool] = False
    # Whether two inputs that `infer` merges must have one shape when the kernel runs too.
    same_shapes: ClassVar[bool] = False
    # The kernel's result is new memory, which nothing else refers to.
    fresh_result: ClassVar[bool] = False

    # 16-bit floats are computed with in float32, and the result is rounded once: steps on the
    # way would overflow or lose digits.
    computes_wide: ClassVar[bool] = False

    # -- shapes -------------------------------------------------------------------
    # The result follows from the shapes of the inputs alone.
    shape_only: ClassVar[bool] = False
    # The outputs are the inputs: a value that is known of one is known of the other.
    is_identity: ClassVar[bool] = False
    # The input that is the shape of the result.
    shape_input: ClassVar[str] = ""
    # The result of a graph of one row for all rows at once: one of BATCHING, and the number of
    # inputs that may have rows.
    batching: ClassVar[str] = ""
    batched_inputs: ClassVar[int] = 1

    # The inputs whose elements are those of the result; the others are indices and shapes.
    data_inputs: ClassVar[tuple[str, ...]] = ()
    # What the op makes of an element and what arrives there: one of COMBINES.
    combines: ClassVar[str] = ""
    # What the op makes of the elements along axes: one of REDUCES.
    reduces: ClassVar[str] = ""

    # -- native code --------------------------------------------------------------
    # Native code gives the bits of the kernel.
    native_exact: ClassVar[bool] = False
    # Large arrays of float32 are computed by native code of the rule `scalar` in every mode.
    compiled_when_large: ClassVar[bool] = False
    # Large arrays of complex numbers are, in every mode.
    compiled_when_complex: ClassVar[bool] = False
    # What the NumPy kernel of such an op takes for an element, in multiplications.
    work_per_element: ClassVar[int] = 0
    # NumPy spends no more on the op than the call of a native kernel costs.
    cheap: ClassVar[bool] = False
    # The result is linear in each of two operands: the op multiplies about as often as the root of
    # the product of their sizes and the result's says.
    bilinear: ClassVar[bool] = False
    # How far native code is from the exact result is bounded by the result's largest element, not by each
    # element: Winograd's convolutions, fast Fourier transforms.
    normwise_error: ClassVar[bool] = False
    # The interpreter spends nothing on the op.
    free: ClassVar[bool] = False
    # Reports on compiled functions have a line for the op.
    reported: ClassVar[bool] = True
    # Integers among the inputs are data, on which the choice of a kernel does not depend.
    integer_data: ClassVar[bool] = False

    # The op states how its result is divided among devices: a program has it even of known numbers.
    sets_layout: ClassVar[bool] = False

    # Only passes make nodes of the op: what reads graphs from messages refuses it.
    internal: ClassVar[bool] = False

    # -- dtypes -------------------------------------------------------------------
    # Type variables without a default dtype, which others of their names have.
    without_default: ClassVar[tuple[str, ...]] = ()

    # -- names --------------------------------------------------------------------
    # Inputs and attributes with another name in GraphDef than in `tf.raw_ops`.
    graphdef_names: ClassVar[Mapping[str, str]] = {}
    # The op's own names for what the rules of its family call by another.
    called: ClassVar[Mapping[str, str]] = {}


# What a value may be, by trait: of the type of the default, and one of the words.
WORDS = {
    "batching": BATCHING,
    "combines": COMBINES,
    "control_flow": CONTROL_FLOW,
    "reaches_outside": OUTSIDE,
    "reduces": REDUCES,
}
TRAITS: dict[str, type] = {
    name: type(value) for name, value in vars(Traits).items() if not name.startswith("_")
}
_checked: set[type] = set()


def check(cls: type, names: frozenset[str]) -> None:
    """Raises ValueError unless the attributes of an op's class are traits, with their values.

    Besides, a class has attributes for names of the signature (`names`), and what it or a family
    annotates.
    """
    for base in cls.__mro__:
        if base is Traits:
            return
        if base not in _checked:
            for name, value in [*vars(base).items()]:
                if name in TRAITS:
                    _check_value(name, value)
                elif type(value) is not FunctionType and name[0] != "_" and name not in names:
                    _check_known(cls, name, value)
            _checked.add(base)


def _check_value(name: str, value: Any) -> None:
    """Raises ValueError for a trait with a value that it cannot have."""
    kind = TRAITS[name]
    if type(value) is not kind:  # a bool is no number
        raise ValueError(f"trait {name} is {value!r}, not of type {kind.__name__}")
    words = WORDS.get(name)
    if words is not None and value not in words:
        raise ValueError(f"trait {name} is {value!r}, not one of {words}")


def _check_known(cls: type, name: str, value: Any) -> None:
    """Raises ValueError for an undeclared attribute; properties are allowed.

    Names of type variables begin with a large letter.
    """
    if not name[0].islower() or isinstance(value, (property, staticmethod, classmethod)):
        return
    bases = cls.__mro__[-2::-1]
    first = next(base for base in bases if name in vars(base))  # it annotates most of them
    if name not in first.__annotations__ and not any(name in b.__annotations__ for b in bases):
        raise ValueError(f"there is no trait {name}, and {cls.__name__} does not annotate it")
