"""`Traits`: facts about an op besides its rules, declared on the op or on its family.

A trait states a fact; the passes and back ends that read it decide what follows from it. `check` rejects
unknown traits and invalid values when the op is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import Any, ClassVar

# The values of the traits that are enumerations.
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
    # Whether the op may read and write the resources that its inputs name. An op that runs graphs has the
    # effects of these instead.
    reads: ClassVar[bool] = True
    writes: ClassVar[bool] = True
    # The state outside of the graph that the op reads or changes: one of OUTSIDE.
    reaches_outside: ClassVar[str] = ""
    # The op takes or gives an object that only the host has: a dataset, an iterator, a queue, a table; or it
    # finds a variable by its name. Code with such an op must not run twice, as its check does.
    on_host: ClassVar[bool] = False
    # The inputs that name files.
    path_inputs: ClassVar[tuple[str, ...]] = ()
    # The op only passes strings on, or uses them in a message: it counts as arithmetic.
    carries_strings: ClassVar[bool] = False
    # How the op runs the graphs that are its attributes: one of CONTROL_FLOW.
    control_flow: ClassVar[str] = ""

    # -- gradients ----------------------------------------------------------------
    differentiable: ClassVar[bool] = True
    # For each input, the inputs whose data its gradient needs. If it is declared, a gradient rule gets
    # Specs instead of inputs that no wanted gradient needs.
    gradient_needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    # `tf.debugging.enable_check_numerics` checks the result. False for ops that only move elements,
    # which were checked when they were computed.
    numerics_checked: ClassVar[bool] = True

    # -- kernels ------------------------------------------------------------------
    # The kernel is elementwise with temporary arrays: large inputs are computed in blocks, so that
    # these stay small.
    blockwise: ClassVar[bool] = False
    # Whether two inputs that `infer` merges must have one shape when the kernel runs too.
    same_shapes: ClassVar[bool] = False
    # The kernel's result is new memory, which nothing else refers to.
    fresh_result: ClassVar[bool] = False

    # 16-bit floats are computed in float32, and the result is rounded once, as intermediate results would
    # overflow or lose digits.
    computes_wide: ClassVar[bool] = False

    # -- shapes -------------------------------------------------------------------
    # The result follows from the shapes of the inputs alone.
    shape_only: ClassVar[bool] = False
    # The outputs are the inputs: a value known of one is known of the other.
    is_identity: ClassVar[bool] = False
    # The input that is the shape of the result.
    shape_input: ClassVar[str] = ""
    # How the op is vectorised over rows: one of BATCHING, and the number of first inputs that may have
    # rows.
    batching: ClassVar[str] = ""
    batched_inputs: ClassVar[int] = 1

    # The inputs whose elements are those of the result; the others are indices and shapes.
    data_inputs: ClassVar[tuple[str, ...]] = ()
    # How a scatter combines an element with an update: one of COMBINES.
    combines: ClassVar[str] = ""
    # The reduction that the op computes along axes: one of REDUCES.
    reduces: ClassVar[str] = ""

    # -- native code --------------------------------------------------------------
    # Native code is bit for bit equal to the kernel.
    native_exact: ClassVar[bool] = False
    # Large arrays of float32 are computed by native code of the rule `scalar` in every mode.
    compiled_when_large: ClassVar[bool] = False
    # Large arrays of complex numbers are computed by native code of the rule `scalar` in every mode.
    compiled_when_complex: ClassVar[bool] = False
    # The cost of the NumPy kernel for an element, in multiplications.
    work_per_element: ClassVar[int] = 0
    # The NumPy kernel costs no more than the call of a native kernel.
    cheap: ClassVar[bool] = False
    # The result is linear in each of two operands: the number of multiplications is estimated as the square
    # root of the product of the sizes of operands and result.
    bilinear: ClassVar[bool] = False
    # The error of native code is bounded relative to the result's largest element, not to each element:
    # Winograd's convolutions, fast Fourier transforms.
    normwise_error: ClassVar[bool] = False
    # The op costs the interpreter nothing.
    free: ClassVar[bool] = False
    # Reports on compiled functions have a line for the op.
    reported: ClassVar[bool] = True
    # Integer inputs are data, on which kernel selection does not depend.
    integer_data: ClassVar[bool] = False

    # The op sets the sharding of its result: it is not folded even for known numbers.
    sets_layout: ClassVar[bool] = False

    # Only passes create nodes of the op: a graph from a file that has one is rejected.
    internal: ClassVar[bool] = False

    # -- dtypes -------------------------------------------------------------------
    # Type variables without the default dtype that variables of the same name have in other ops.
    without_default: ClassVar[tuple[str, ...]] = ()

    # -- names --------------------------------------------------------------------
    # Inputs and attributes with another name in GraphDef than in `tf.raw_ops`.
    graphdef_names: ClassVar[Mapping[str, str]] = {}
    # The op's own names for parameters that the rules of its family call otherwise.
    called: ClassVar[Mapping[str, str]] = {}


# The allowed values of the traits that are enumerations; others are checked by the type of the default.
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

    A class may also have attributes for names of the signature (`names`), and attributes that it or its
    family annotates.
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
    if type(value) is not kind:  # exact, as bool is a subclass of int
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
