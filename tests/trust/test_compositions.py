"""Compositions of matrix expressions: what is drawn runs, and is the same however it runs."""

from __future__ import annotations

import functools
import re

import pytest

from intaglio import tf
from trust import compositions, hunt, snippets, verdicts
from trust.programs import NAMESPACE

# Programs are drawn once for all tests that only read them.
drawn = functools.cache(compositions.draw)
TABLES = (
    "ELEMENTWISE",
    "MOVES",
    "REDUCTIONS",
    "PRODUCTS",
    "CONTROL",
    "STATE",
    "WRITES",
    "SPECIAL",
    "OTHERS",
)


def test_every_block_is_drawn_and_some_within_others() -> None:
    programs = [drawn(seed) for seed in range(110)]
    text = "\n".join([p.source() for p in programs])
    for kind in ("tf.case(", "tf.scan(lambda s, e: like(q", "by_variables(", "tf.recompute_grad(",
                 ".read(", "tf.stack(l", "tf.vectorized_map(lambda e: like(q"):  # fmt: skip
        assert kind in text, kind
    assert re.search(r"^ {12,}for ", text, re.M) and re.search(r"^ {8}def q", text, re.M)
    assert len(set(re.findall(r"tf\.raw_ops\.(\w+)", text))) > 60


def test_functions_come_before_those_that_call_them() -> None:
    for seed in range(60):
        program = drawn(seed)
        names = [f.name for f in program.functions]
        for i, function in enumerate(program.functions):
            used = set(re.findall(r"\bh\d+\b", function.render(False))) - {function.name}
            assert used <= set(names[:i]), program.source()


@pytest.mark.parametrize("table", TABLES)
def test_every_snippet_runs(table: str) -> None:
    lines: list[str] = getattr(snippets, table)
    assert len(lines) == len(set(lines))
    for line in lines:
        space = {**NAMESPACE, "V": tf.Variable(0.5), "W": tf.Variable(tf.ones([3, 4]))}
        space |= {"X": tf.random.stateless_normal([5, 6], [1, 2]), "I": tf.range(5) * 7 % 5}
        result = eval(line, space)
        assert table == "WRITES" or (result.dtype is tf.float32 and result.shape.rank == 2), line


def test_a_seed_gives_one_program() -> None:
    one, two = compositions.draw(5), compositions.draw(5)
    assert one.script() == two.script() and one.source() != compositions.draw(6).source()
    assert compositions.modes(one) == compositions.modes(two)


def test_programs_have_every_kind_of_statement() -> None:
    programs = [drawn(seed) for seed in range(40)]
    text = "\n".join([p.source() for p in programs])
    for kind in ("if ", "for ", "break", "slope(", "@wrapped", "@compiled", "TensorArray", "cut(",
                 "tf.map_fn", "V.assign", "W", "like(", "tf.broadcast_to", "while ", "elif ", "continue",
                 "tf.raw_ops.", "mat(", "tangent(", "jacobian(", "tf.switch_case", "halved(", ".append("):  # fmt: skip
        assert kind in text, kind
    assert any(0 in a.shape for p in programs for call in p.inputs for a in call)
    assert {m for p in programs for m in compositions.modes(p)} == set(verdicts.MODES)


@pytest.mark.parametrize("seed", range(8))
def test_programs_are_the_same_however_they_run(seed: int) -> None:
    program, modes = hunt.drawn(seed, compositions.VERSION)
    findings = verdicts.Judge(program, modes).findings()
    assert not [f for f in findings if f.kind != "refused"], program.script()


def test_the_hunt_knows_both_generators() -> None:
    assert hunt.drawn(3, 2)[1] is None
    assert hunt.drawn(3, compositions.VERSION)[0].source() == compositions.draw(3).source()
