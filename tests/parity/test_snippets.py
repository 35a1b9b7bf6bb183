"""Snippets of user code give here what TensorFlow 2.21 gave."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict

import pytest

from intaglio import tf
from intaglio.cpython.numpy_libraries import vector_bytes
from tests.parity import snippets
from tests.printing import TYPES_PRINTED, as_printed, by_any_python

CASES = [
    pytest.param(file.stem, program, id=f"{file.stem}-{i}")
    for file in sorted(snippets.FOLDER.glob("*.txt"))
    for i, program in enumerate(snippets.programs(file.stem))
]


def _plain(text: str) -> str:
    """Without what differs for good: addresses, modules, node names of eager ops."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r"external/com_googlesource_code_re2/.*\n", "", text)  # RE2's own log
    text = re.sub(r"\{\{function_node [^}]*\}\} ", "", text)
    text = re.sub(r"(\[Op:\w+\])( name: ?[\w/]*)? *", r"\1", text)
    # Pythons print these differently.
    text = re.sub(
        r"OrderedDict\((\[.*?\])\)", lambda m: repr(OrderedDict(ast.literal_eval(m[1]))), text
    )
    text = re.sub(r"<class '[\w.]*\.(\w+)'>", r"<class '\1'>", text)
    return by_any_python(as_printed(text))


_FLOAT = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
# The difference of neighbouring float32 numbers, relative to the smaller: NumPy's functions round the last
# bit otherwise on processors for which they have no vector code.
_NEIGHBOURS = 0.0 if vector_bytes() == 64 else 2.0**-23


def _agree(mine: str, theirs: str) -> bool:
    """Whether texts are equal but for the last bits of numbers, and the spaces that these shift."""
    if mine == theirs or not _NEIGHBOURS:
        return mine == theirs
    rest, expected = (" ".join(_FLOAT.sub("#", text).split()) for text in (mine, theirs))
    numbers, wanted = (list(map(float, _FLOAT.findall(text))) for text in (mine, theirs))
    return rest == expected and numbers == pytest.approx(wanted, rel=_NEIGHBOURS, abs=0.0)


# What is NumPy's own business, and was otherwise before version 2.
NUMPYS_OWN = re.compile(
    r"^(?:int|float|complex)\(tf\.constant\(\["  # of arrays with one element
    r"|__index__|\[tf\.constant\(True\)\]"  # of truth values
    r"|range\((?:1001|2000|4000)\)|saturate_cast\(\[3e38\]"  # how arrays are printed
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("file", "program"), CASES)
def test_snippet(file: str, program: str) -> None:
    if not TYPES_PRINTED and NUMPYS_OWN.search(program):
        pytest.skip("NumPy 2 does this otherwise")
    expected = snippets.answers(file)[program]
    got = snippets.run(program, tf)
    for part in ("error", "value", "printed"):
        mine, theirs = _plain(got.get(part, "")), _plain(expected.get(part, ""))
        assert _agree(mine, theirs), f"{part} of\n{program}\n{mine}\nfor\n{theirs}"
