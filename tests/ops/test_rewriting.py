"""Matches rewritten with their groups by machine code are those of the engines."""

from __future__ import annotations

import random

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code
from intaglio.ops.text import automata, rewriting

PATTERNS = [
    r"a(b+)c", r"(a|ab)(c|bcd)(d*)", r"(\w+)@(\w+)\.c", r"(a*)b", r"^(x|y)+z?", r"([^/]+)/(.*)",
    r"(a+?)(a*)b", r"(?:ab)*(c)", r"((a)|(b))+c", r"(.)$", r"([a-c]{2,3})x", r"(a)(b)?",
    r".*=([0-9]+).*", r"(?i)(AB)c", r"(?P<own>b)(a)", r"(a|b)*?c",
]  # fmt: skip
REWRITES = [r"<\1>", r"\0-\1", r"\1\1", r"\0"]


def _texts(letters: str, seed: int) -> list[str]:
    draw = random.Random(seed)
    texts = ["".join(draw.choices(letters, k=draw.randint(0, 25))) for _ in range(120)]
    return [*texts, "", "ab@ab.c", "a" * 300 + "b"]


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("letters", ["abc", "abcdxyz/=@. 019AB\n", "abé"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_same_texts(pattern, letters, every, monkeypatch):
    texts = _texts(letters, len(pattern))

    def call():
        return [
            tf.strings.regex_replace(texts, pattern, rewrite, replace_global=every).numpy()
            for rewrite in REWRITES
        ]

    with monkeypatch.context() as patch:
        patch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        patch.setattr(machine_code, "IN_BACKGROUND", False)
        got = call()
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    for a, b in zip(got, call(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_machine_code_rewrites_all_that_is_ascii(monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    program = automata.program_of(r"(\w)=(\d+)")
    texts = [b"x=%d y=2" % n for n in range(99)] + ["é=1".encode()]
    found = program and rewriting.rewritten(texts, program, [2, b":", 1], True)
    assert found is not None
    results, left = found
    assert left.tolist() == [0] * 99 + [1]
    assert results[:99].tolist() == [b"%d:x 2:y" % n for n in range(99)]


@pytest.mark.parametrize("pattern", [r"(a*)", r"a|", r"\bword", "(", r"^$"])
def test_without_a_program(pattern):
    assert automata.program_of(pattern) is None
