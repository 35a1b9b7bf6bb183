"""Libraries with code for several levels of a processor: functions that call those of one level.

Which level the processor has is found by `cpuid` when a context is made, or a function is called, for
the first time in a process; the answer is kept in one word, which all threads write the same to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from intaglio.export.calls import PROCESSOR, constant, text_functions
from intaglio.export.interface import Error, Interface, described
from intaglio.export.transport import Answer
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.objects import object_of_levels

# What a processor of each level has, by the register of `cpuid` and the bits there:
# https://gitlab.com/x86-psABIs/x86-64-ABI and Intel's Software Developer's Manual, volume 2, CPUID.
# A register is (leaf, number among eax, ebx, ecx, edx).
_REGISTERS = {"1c": (1, 2), "7b": (7, 1), "80000001c": (0x80000001, 2)}
# What `xgetbv` gives: the kinds of registers that the system saves.
_SAVED = "saved"
_BITS = {
    "x86-64-v2": {"1c": (0, 9, 13, 19, 20, 23), "80000001c": (0,)},
    "x86-64-v3": {"1c": (12, 22, 27, 28, 29), "7b": (3, 5, 8), "80000001c": (5,), _SAVED: (1, 2)},
    "x86-64-v4": {"7b": (16, 17, 28, 30, 31), _SAVED: (5, 6, 7)},
}


class _Level(NamedTuple):
    """A level: its target, the library for it, and what its errors are in the whole library."""

    target: str
    answer: Answer
    codes: list[int]

    @property
    def prefix(self) -> str:
        """What names of its functions begin with."""
        return f"{self.target}."


def joined(name: str, answers: Mapping[str, Answer]) -> Answer:
    """The library of libraries for the levels, which are in the order of what processors need."""
    errors: list[Error] = []
    levels = [_Level(t, a, _codes(a, errors)) for t, a in answers.items()]
    interfaces = [a.library_interface for a in answers.values()]
    whole = interfaces[0]._replace(
        target=name, errors=errors, context_bytes=max(i.context_bytes for i in interfaces)
    )
    writer = _Dispatch(whole, levels)
    text = writer.text()
    parts = {v.prefix: (v.answer.object, [*v.answer.exported]) for v in levels}
    weights = {a.weights for a in answers.values()}
    if len(weights) != 1:
        raise ValueError(f"the levels of {name} have unlike weights")
    code = object_of_levels(text, parts, writer.exported)
    return Answer(code, weights.pop(), whole, exported=writer.exported)


def _codes(answer: Answer, errors: list[Error]) -> list[int]:
    """The codes, in the whole library, of the errors of one for a level, which are added."""
    known = {e.text: e.code for e in errors}
    codes: list[int] = []
    for error in answer.library_interface.errors:
        code = known.get(error.text)
        if code is None:
            taken = {e.code for e in errors}
            code = error.code if error.code not in taken else max(taken) + 1
            errors.append(
                error._replace(code=code, name=error.name.replace(str(error.code), str(code)))
            )
        codes.append(code)
    return codes


class _Dispatch:
    """Writes the functions that C calls."""

    def __init__(self, interface: Interface, levels: Sequence[_Level]) -> None:
        self._interface, self._levels = interface, levels
        self._prefix = f"{interface.name}_"
        self._globals = ["@level = internal global i32 0, align 4"]
        self._codes: list[Code] = []
        # The functions that are visible, by their names.
        self.exported: dict[str, tuple[str, list[str]]] = {}

    def text(self) -> str:
        """The module; it declares functions of the levels by their prefixes."""
        interface = self._interface
        self._write_level()
        own, data = text_functions(self._prefix, interface.errors, described(interface))
        size = Code(f"{self._prefix}context_size", [], "i64")
        size.do(f"ret i64 {interface.context_bytes}")
        self._add(*own, size, self._processor())
        self._globals += data
        for name, (returns, parameters) in self._levels[0].answer.exported.items():
            if name not in self.exported:
                self._add(self._call(name, returns, parameters))
        return "\n".join([*self._globals, module(self._codes)])

    def _add(self, *codes: Code) -> None:
        self._codes += codes
        self.exported |= {c.name: c.signature for c in codes}

    # -- the processor -----------------------------------------------------------------------

    def _write_level(self) -> None:
        """The number of the level, from 1; 0 if the processor has none of them."""
        code = Code("level_of_processor", [], "i32")
        known = code.let("load atomic i32, ptr @level monotonic, align 4")
        yes, no = code.new_label("known"), code.new_label("unknown")
        code.branch(code.let(f"icmp ne i32 {known}, 0"), yes, no)
        code.label(yes)
        code.do(f"ret i32 {code.let(f'sub i32 {known}, 1')}")
        code.label(no)
        registers = {name: _cpuid(code, *place) for name, place in _REGISTERS.items()}
        registers[_SAVED] = _saved_registers(code, registers["1c"])
        there, found = "true", "0"
        for number, level in enumerate(self._levels):
            for name, bits in _BITS[level.target].items():
                has = _has(code, registers[name], sum([1 << b for b in bits]))
                there = code.let(f"and i1 {there}, {has}")
            found = code.let(f"select i1 {there}, i32 {number + 1}, i32 {found}")
        kept = code.let(f"add i32 {found}, 1")
        code.do(f"store atomic i32 {kept}, ptr @level monotonic, align 4")
        code.do(f"ret i32 {found}")
        self._codes.append(code)

    def _cases(self, code: Code) -> Iterator[_Level | None]:
        """Goes through the levels and then None, each in the block for processors that have it."""
        number = code.let("call i32 @level_of_processor()")
        labels = [code.new_label("level") for _ in self._levels]
        none = code.new_label("none")
        cases = " ".join([f"i32 {i + 1}, label %{label}" for i, label in enumerate(labels)])
        code.do(f"switch i32 {number}, label %{none} [ {cases} ]")
        for label, level in zip([*labels, none], [*self._levels, None], strict=True):
            code.label(label)
            yield level

    def _processor(self) -> Code:
        code = Code(f"{self._prefix}processor", [], "ptr")
        for level in self._cases(code):
            name = level.target if level is not None else ""
            self._globals.append(constant(f"processor.{name}", name.encode() + b"\0"))
            code.do(f"ret ptr @processor.{name}")
        return code

    # -- calls -------------------------------------------------------------------------------

    def _call(self, name: str, returns: str, parameters: Sequence[str]) -> Code:
        """A function that is one of each level, and returns a code."""
        code = Code(name, parameters, returns)
        kinds = ", ".join([p.rsplit(" ", 1)[0] for p in parameters])
        for level in self._cases(code):
            if level is None:
                code.do(f"ret i32 {PROCESSOR}")
                continue
            target = f"@{level.prefix}{name}"
            code.declarations.add(f"declare {returns} {target}({kinds})")
            found = code.let(f"call {returns} {target}({', '.join(parameters)})")
            code.do(f"ret {returns} {self._mapped(code, level, found)}")
        return code

    def _mapped(self, code: Code, level: _Level, found: str) -> str:
        """A code of a level as one of the whole library."""
        interface = level.answer.library_interface
        codes = {e.code: c for e, c in zip(interface.errors, level.codes, strict=True)}
        if all(a == b for a, b in codes.items()):
            return found
        words = ", ".join([f"i32 {codes.get(i, i)}" for i in range(max(codes) + 1)])
        kind = f"[{max(codes) + 1} x i32]"
        table = f"@codes.{level.target}"
        text = f"{table} = internal constant {kind} [{words}], align 4"
        if text not in self._globals:
            self._globals.append(text)
        index = code.let(f"zext i32 {found} to i64")
        return code.load("i32", code.at("i32", table, index), 4)


def _cpuid(code: Code, leaf: int, register: int) -> str:
    """A register of `cpuid`; zero for a leaf that the processor does not have."""
    kind = "{ i32, i32, i32, i32 }"
    text = 'asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}"'
    most = code.let(f"call {kind} {text}(i32 {leaf & 0x80000000}, i32 0)")
    there = code.let(f"icmp uge i32 {code.let(f'extractvalue {kind} {most}, 0')}, {leaf}")
    found = code.let(f"call {kind} {text}(i32 {leaf}, i32 0)")
    part = code.let(f"extractvalue {kind} {found}, {register}")
    return code.let(f"select i1 {there}, i32 {part}, i32 0")


def _saved_registers(code: Code, features: str) -> str:
    """Which registers the system saves, if the processor can say it (OSXSAVE)."""
    result = code.first("alloca i32")
    code.do(f"store i32 0, ptr {result}")
    with code.when(_has(code, features, 1 << 27)):
        kind = "{ i32, i32 }"
        found = code.let(f'call {kind} asm sideeffect "xgetbv", "={{ax}},={{dx}},{{cx}}"(i32 0)')
        code.do(f"store i32 {code.let(f'extractvalue {kind} {found}, 0')}, ptr {result}")
    return code.load("i32", result, 4)


def _has(code: Code, register: str, mask: int) -> str:
    """Whether all bits of a mask are set."""
    return code.let(f"icmp eq i32 {code.let(f'and i32 {register}, {mask}')}, {mask}")
