"""What a library looks like from C: its functions, arguments, variables and errors."""

from __future__ import annotations

import dataclasses
import json
import keyword
import math
import re
from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from intaglio.base.dtypes import DType
from intaglio.export.sizes import Size, product
from intaglio.native.llvm.target import LEVELS

# What a number of a dtype is in C, and how many of them an element is.
_C_TYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "bool": "uint8_t",
    "complex64": "float",
    "complex128": "double",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
# Words of C and C++, macros of the headers that a library includes, and fields of arguments.
_C_KEYWORDS = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t
    class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
    decltype default delete do double dynamic_cast else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
    typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor xor_eq
    NULL EOF BUFSIZ SIZE_MAX errno stdin stdout stderr linux unix i386 arm data count""".split()  # noqa: SIM905
)
# What a library has beside its functions, by the names behind its own.
_OWN_NAMES = frozenset(
    """H OK context context_size create description destroy error error_text get_variable initialize
    parallel_for processor set_parallel_for set_variable task variable""".split()  # noqa: SIM905
)


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output: its name in C and in the signature, its dtype and shape.

    Where it has `rows`, as many as a call says, the shape is that for one of them; where it depends on sizes,
    that for the largest ones, and `forms` are the dimensions as C computes them. An output whose shape
    depends on data has the elements first in a vector that is long enough, and an output named `extent` is
    its shape.
    """

    name: str
    label: str
    dtype: DType
    shape: tuple[int, ...]
    rows: bool = False
    extent: str = ""
    forms: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of elements, for one row if there are rows, and the largest sizes."""
        return math.prod(self.shape)

    @property
    def count_in_c(self) -> str:
        """The number of elements as C writes it: `3 * rows`."""
        forms = self.forms or [str(d) for d in self.shape]
        return product([*forms, "rows"] if self.rows else forms)

    @property
    def c_type(self) -> str:
        """What an element, or a part of a complex one, is in C."""
        return _C_TYPES[self.dtype.name]

    @property
    def alignment(self) -> int:
        """The bytes that the address is a multiple of."""
        size = self.dtype.numpy.itemsize
        return size // 2 if self.dtype.is_complex else size

    @property
    def described(self) -> str:
        """`float32[1, 8, 8, 1]`."""
        if self.extent:
            most = self.count_in_c
            return f"{self.dtype.name} of the shape that {self.extent} is, at most {most}"
        dims = [*self.forms] or [str(d) for d in self.shape]
        if self.rows:
            dims[0] = product([dims[0], "rows"])
        return f"{self.dtype.name}[{', '.join(dims)}]"


class Error(NamedTuple):
    """A code that functions return: its name in C without prefix, and its text."""

    code: int
    name: str
    text: str


class Function(NamedTuple):
    """A function of the library: `NAME_run`."""

    name: str
    inputs: list[Port]
    outputs: list[Port]
    sizes: tuple[Size, ...] = ()

    @property
    def shaped(self) -> list[Port]:
        """The results whose shapes depend on sizes, or all if some do.

        Those that data determines are among them where no formula says how many elements there may be.
        """
        if not any(p.forms for p in self.outputs):
            return []
        named = [
            not p.extent or any(f.startswith("shapes.") for f in p.forms) for p in self.outputs
        ]
        return [p for p, there in zip(self.outputs, named, strict=True) if p.shape and there]

    @property
    def has_rows(self) -> bool:
        """Whether the first dimension of some inputs is an argument."""
        return any(p.rows for p in self.inputs)


class Variable(NamedTuple):
    """A variable that a function writes: part of the context."""

    name: str
    label: str
    dtype: DType
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return math.prod(self.shape) * self.dtype.numpy.itemsize


class Interface(NamedTuple):
    """What the header documents."""

    name: str
    target: str
    functions: list[Function]
    variables: list[Variable]
    errors: list[Error]
    context_bytes: int
    # The size of the file of weights beside the library; 0 if they are inside.
    weights_bytes: int
    # So many threads of the caller work at once, at most.
    threads: int = 1

    @property
    def has_levels(self) -> bool:
        """Whether the library has code for several levels of the processor."""
        return self.target in LEVELS


def described(interface: Interface) -> str:
    """The interface as JSON, for programs that find out what a library has."""

    def port(p: Port) -> dict[str, Any]:
        more: dict[str, Any] = {"rows": True} if p.rows else {}
        more |= {"shape_in": p.extent} if p.extent else {}
        shape = [int(f) if f.isdigit() else f for f in p.forms] or p.shape
        return {"name": p.label, "dtype": p.dtype.name, "shape": shape} | more

    functions = [
        {
            "name": f.name,
            "inputs": [port(p) for p in f.inputs],
            "outputs": [port(p) for p in f.outputs],
        }
        | ({"sizes": {s.name: s.values for s in f.sizes}} if f.sizes else {})
        for f in interface.functions
    ]
    variables = [
        {"name": v.label, "dtype": v.dtype.name, "shape": v.shape} for v in interface.variables
    ]
    whole = {
        "name": interface.name,
        "target": interface.target,
        "functions": functions,
        "variables": variables,
        "context_bytes": interface.context_bytes,
        "weights_bytes": interface.weights_bytes,
    }
    return json.dumps(whole)


def has_c_type(dtype: DType) -> bool:
    """Whether C programs can pass elements of a dtype."""
    return dtype.name in _C_TYPES


def function_name(label: str, others: Iterable[str]) -> str:
    """A function's name in C like a label: of what a header has for it, nothing else has the name."""
    taken = {*_OWN_NAMES, *[name for f in others for name in _names_of(f)]}
    name = c_name(label)
    if name.startswith(("ERROR_", "VARIABLE_")):
        name = f"f_{name}"
    found, number = name, 1
    while not taken.isdisjoint(_names_of(found)):
        found, number = f"{name}_{number}", number + 1
    return found


def _names_of(function: str) -> list[str]:
    """What a header has for a function, by the names behind the library's."""
    return [function, *[f"{function}_{s}" for s in ("inputs", "outputs", "shapes", "get_shapes")]]


class InAnyCase(frozenset[str]):
    """Names of which no further one differs in case alone: enumerators are written in capitals."""

    def __new__(cls, names: Iterable[str]) -> InAnyCase:
        return super().__new__(cls, [n.upper() for n in names])

    def __contains__(self, name: object) -> bool:
        return super().__contains__(str(name).upper())


def c_name(label: str, taken: Container[str] = ()) -> str:
    """A name in C like a label, and none of those taken."""
    name = re.sub(r"\W+", "_", label, flags=re.ASCII).strip("_") or "value"
    if name[0].isdigit() or name in _C_KEYWORDS or keyword.iskeyword(name):
        name = f"_{name}" if name[0].isdigit() else f"{name}_"
    found, number = name, 1
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
