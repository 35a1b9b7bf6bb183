"""The hunt: what its generator draws, how its verdicts tell rounding from errors, what is shrunk."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from trust import generator, hunt, shrink, verdicts
from trust.programs import Block, Function, Line, Program


def program(
    source: list[Any], inputs: list[Any], variables: dict[str, Any] | None = None
) -> Program:
    """A program of statements whose last line computes the result `y`."""
    arrays = [np.asarray(a) for a in inputs]
    names = [f"a{i}" for i in range(len(arrays))]
    main = Function("f", names, source, ["y"])
    return Program(0, main, [], [arrays, arrays, arrays], variables or {}, {})


def test_a_seed_gives_one_program() -> None:
    one, two = generator.draw(11), generator.draw(11)
    assert one.source() == two.source() and one.script() == two.script()
    assert one.source() != generator.draw(12).source()


def test_programs_have_every_kind_of_statement() -> None:
    text = "\n".join([generator.draw(seed).source() for seed in range(30)])
    for kind in ("if ", "else:", "for ", "while ", "tf.raw_ops.", "assign", "TensorArray",
                 "GradientTape", "@wrapped", "tf.map_fn", "tf.vectorized_map"):  # fmt: skip
        assert kind in text, kind


@pytest.mark.parametrize("seed", range(12))
def test_short_programs_are_the_same_however_they_run(seed: int) -> None:
    drawn = generator.Draw(seed, 8).program()
    findings = verdicts.Judge(drawn).findings()
    assert not [f for f in findings if f.kind != "refused"], drawn.script()


def wrong_tanh(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Graphs compute tanh(x) times a factor."""
    right = tf.tanh

    def tanh(x: Any, name: str | None = None) -> Any:
        y = right(x, name)
        return y if tf.executing_eagerly() else y * factor

    monkeypatch.setattr(tf, "tanh", tanh)


@pytest.mark.parametrize(("factor", "kinds"), [(1.0, []), (1 + 1e-7, []), (1.001, ["wrong"])])
def test_what_rounding_does_not_explain_is_wrong(
    monkeypatch: pytest.MonkeyPatch, factor: float, kinds: list[str]
) -> None:
    wrong_tanh(monkeypatch, factor)
    lines = [Line("x", "a0 * 1.5"), Line("y", "tf.tanh(x)")]
    findings = verdicts.Judge(program(lines, [np.float32([0.3, -2.0])]), ["graph"]).findings()
    assert [f.kind for f in findings] == kinds


def test_what_rounding_decides_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_tanh(monkeypatch, 1 + 4e-7)
    lines = [Line("x", "tf.tanh(a0)"), Line("y", "tf.cast(x * 1e8, tf.int32) // 8 % 2")]
    judge = verdicts.Judge(program(lines, [np.linspace(0.3, 0.7, 20, dtype="f4")]), ["graph"])
    assert not judge.findings() and judge.skipped


@pytest.mark.parametrize("mode", ["jit", "ahead"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_numbers_below_the_normal_ones_decide_is_not_compared(kind: Any, mode: str) -> None:
    """The exponential of native code is 0 there, eager ones keep it: their order differs."""
    least = np.log(np.finfo(kind).smallest_normal)
    x = (least - np.linspace(1.0, 9.0, 8)).astype(kind)
    lines = [
        Line("x", "tf.exp(a0)"),
        Line("y", "tf.argsort(x, stable=True) + 0 * tf.cast(x > 0, tf.int32)"),
    ]
    lines.append(Line("y", "tf.where(x > 0, y, -y)"))
    judge = verdicts.Judge(program(lines, [x]), [mode])
    assert not judge.findings() and judge.skipped
    lines[0] = Line("x", "tf.exp(a0 + 20)")
    assert not verdicts.Judge(program(lines, [x]), [mode]).findings()


@pytest.mark.parametrize(("entry", "factor", "kinds"), [(1e6, 1.0, []), (1.0, 1.001, ["wrong"])])
def test_systems_near_singular_are_compared_as_far_as_their_operands_decide_them(
    monkeypatch: pytest.MonkeyPatch, entry: float, factor: float, kinds: list[str]
) -> None:
    """All entries 10^6, plus the identity: the condition number is about 10^6."""
    right = tf.linalg.solve

    def solve(a: Any, b: Any) -> Any:
        if tf.executing_eagerly():
            return right(a, b)
        return right(a * (1 + 1e-7 * tf.eye(3)), b) * factor

    monkeypatch.setattr(tf.linalg, "solve", solve)
    line = "tf.linalg.solve(like(a0, tf.zeros([3, 3])) + tf.eye(3), like(a1, tf.zeros([3, 2])))"
    inputs = [np.full(9, entry), np.float64([1.0, -2.0, 3.0, 0.5, 0.25, -1.0])]
    findings = verdicts.Judge(program([Line("y", line)], inputs), ["graph"]).findings()
    assert [f.kind for f in findings] == kinds


def test_the_stack_of_what_is_never_written_has_the_shape_of_elements_in_graphs_only() -> None:
    def never_written(n: Any) -> Any:
        ta = tf.TensorArray(tf.float32, size=0)
        loop = tf.while_loop(
            lambda i, ta: i < n, lambda i, ta: (i + 1, ta.write(i, tf.zeros([17]))), [0, ta]
        )
        return loop[1].stack()

    # As TensorFlow 2.21.
    assert never_written(tf.constant(0)).shape == (0,)
    for jit in (None, True):
        assert tf.function(never_written, jit_compile=jit)(tf.constant(0)).shape == (0, 17)
    lines = [
        Line("t", "tf.TensorArray(tf.float32, 0)"),
        Line("t", "tf.while_loop(lambda i, t: i < a0, lambda i, t: (i + 1, t.write(i, tf.zeros([17]))), [0, t])[1]"),
        Line("y", "t.stack()"),
    ]  # fmt: skip
    assert not verdicts.Judge(program(lines, [np.int32(0)])).findings()


def test_what_an_op_rounds_within_a_function_is_perturbed() -> None:
    # 7.75 - 7.75 * sigmoid(7.75): the product rounds, and no line of the program shows it.
    lines = [Line("y", "tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid(a0), a0)")]
    judge = verdicts.Judge(program(lines, [np.float64([7.75])]), [])
    judge.findings()
    sample = verdicts.Run(judge.program, judge.calls, verdicts.perturbed(0))
    want, got = judge.want.outcomes[0][0], sample.outcomes[0][0]
    assert want[0] != got[0] and abs(got[0] / want[0] - 1) > 1e-13


def test_an_exception_that_tensorflow_has_not_is_internal(monkeypatch: pytest.MonkeyPatch) -> None:
    def tanh(x: Any) -> Any:
        if not tf.executing_eagerly():
            raise AttributeError("no such thing")
        return x

    monkeypatch.setattr(tf, "tanh", tanh)
    (finding,) = verdicts.Judge(program([Line("y", "tf.tanh(a0)")], [1.0]), ["graph"]).findings()
    assert finding.kind == "internal" and "no such thing" in finding.text


def test_shrinking_leaves_the_line_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_tanh(monkeypatch, 1.01)
    inner: list[Any] = [Line("z", "tf.exp(a0)"), Line("u", "tf.tanh(a0)")]
    lines = [
        Line("w", "tf.square(a1)"),
        Block([("if tf.reduce_sum(a0) > -100.0:", inner), ("else:", [Line("u", "a0 * 1.0")])]),
        Line("v", "u + w"),
        Line("y", "tf.reduce_sum(v)"),
    ]
    large = program(lines, [np.float32([0.3, 0.7]), np.float32([0.25, 0.5])])

    def fails(candidate: Program) -> bool:
        try:
            return bool(verdicts.Judge(candidate, ["graph"]).findings())
        except Exception:
            return False

    small = shrink.shrunk(large, fails)
    body = [s.strip() for s in small.main.render(False).splitlines()]
    assert len(body) <= 4 and any("tf.tanh" in s for s in body), body
    assert fails(small)


def test_the_table_counts(capsys: pytest.CaptureFixture[str]) -> None:
    tally = hunt.Tally(None)
    tally.add({"seed": 1, "lines": 3, "compared": 99, "skipped": 1, "findings": []})
    tally.add({"seed": 2, "dropped": True})
    tally.add({"seed": 3, "findings": [["wrong", "jit", "1 for 2"]], "script": "f(1)"})
    tally.add({"seed": 4, "findings": [["hang", "", "exit status -9"]]})
    assert tally.seeds == [3, 4]
    cells = [c.strip() for c in tally.table().splitlines()[-1].strip("|").split("|")]
    assert cells == ["3", "3", "99", "1.00%", "0", "1", "0", "0", "1"]
    assert re.search(r"seed 3\n# wrong, jit: 1 for 2\nf\(1\)", capsys.readouterr().out)
