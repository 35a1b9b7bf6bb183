"""What is read from bytecode is what `dis` says."""

import dis
import inspect
import statistics
import textwrap
from types import CodeType

import pytest

from intaglio.cpython import bytecode


def by_dis(code: CodeType) -> tuple[set[str], set[str]]:
    stored, used = set(), set()
    for step in dis.get_instructions(code):
        if step.opname.endswith("_GLOBAL"):
            used.add(step.argval)
            if step.opname != "LOAD_GLOBAL":
                stored.add(step.argval)
    return stored, used


def below(code: CodeType) -> list[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [code, *[c for part in inner for c in below(part)]]


@pytest.mark.parametrize("module", [dis, inspect, statistics, textwrap])
def test_code_of_modules(module) -> None:
    for code in below(compile(inspect.getsource(module), "m", "exec")):
        assert bytecode.global_names(code) == by_dis(code), code.co_name


def test_more_names_than_fit_a_byte() -> None:
    lines = [f"    x{i}.a\n    y{i}()" for i in range(200)]
    text = "def f():\n    global z, w\n" + "\n".join(lines) + "\n    z = x1\n    del w\n"
    outer = compile(text, "m", "exec")
    stored, used = bytecode.global_names(below(outer)[1])
    assert stored == {"z", "w"}
    assert used == stored | {f"{c}{i}" for c in "xy" for i in range(200)}


def test_code_that_has_run() -> None:
    space: dict = {"calls": 0}
    exec("def f():\n    global calls\n    calls += len('a')\n", space)
    for _ in range(200):  # specialised instructions, where the interpreter has them
        space["f"]()
    assert bytecode.global_names(space["f"].__code__) == ({"calls"}, {"calls", "len"})
