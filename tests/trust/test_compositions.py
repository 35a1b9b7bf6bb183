"""Compositions of matrix expressions: what is drawn runs, and is the same however it runs."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from intaglio import tf
from tests.ops import calls
from trust import catalogue, compositions, hunt, snippets, verdicts
from trust.programs import NAMESPACE, within

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
    programs = [drawn(seed) for seed in range(150)]
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


def test_programs_of_following_seeds_call_one_op_of_the_catalogue_after_the_other() -> None:
    ops = [name for name, _ in catalogue.numeric()]
    called = [re.findall(r"tf\.raw_ops\.(\w+)", drawn(seed).source()) for seed in range(110)]
    near = [
        sum(name in set(found) for name in ops[2 * seed : 2 * seed + 2])
        for seed, found in enumerate(called)
    ]
    assert sum(near) > 130, near
    assert len({name for found in called for name in found}) > 170


def test_each_op_of_the_catalogue_is_called_with_numbers_of_a_value() -> None:
    compose = compositions.Compose(3)
    compose.dtype, compose.special = tf.float32, False
    inputs = [compose.matrix(shape) for shape in compose.shapes]
    missing: list[str] = []
    for compose.next_op, (name, _) in enumerate(catalogue.numeric()):
        for _ in range(12):
            envs = [{"X": tf.constant(a)} for a in inputs]
            if compose.call([], envs, ["X"]):
                break
            compose.next_op -= 1
        else:
            missing.append(name)
    assert not missing


def test_programs_call_no_op_whose_result_no_seed_decides() -> None:
    noisy = {name for name, _ in catalogue.numeric() if catalogue.has_noise(name)}
    assert "ExtractGlimpse" in noisy and "Conv2D" not in noisy
    samples = [s for _, found in catalogue.numeric() for s in found]
    assert not [s for s in samples if s.nondeterministic or calls.CATALOGUE[s.op].is_random]


def test_what_is_in_order_in_all_samples_stays_so() -> None:
    assert catalogue.sorted_inputs("UpperBound") == {"sorted_inputs"}
    assert catalogue.sorted_inputs("SegmentSum") == {"segment_ids"}
    assert not catalogue.sorted_inputs("Conv2D") and not catalogue.sorted_inputs("Sub")
    compose = compositions.Compose(3)
    (samples,) = (s for n, s in catalogue.numeric() if n == "UpperBound")
    texts = {compose._call_text("UpperBound", s, "X") for s in samples for _ in range(20)}
    assert any("tf.sort(like(X, K" in t for t in texts)
    assert not any("sorted_inputs=like(" in t for t in texts)


@pytest.mark.parametrize("sample", [[0.25, 0.5], [3, 9], [-1.0, 1.0], [[2, 2]]])
def test_numbers_of_an_argument_stay_within_those_of_the_sample(sample: list[float]) -> None:
    given = tf.constant(sample)
    for x in ([[1e6, -1e6, 0.0]], [[5.0]]):
        found = within(tf.constant(x), given).numpy()
        assert found.shape == given.shape and found.dtype == given.dtype.as_numpy_dtype
        assert (found >= np.min(sample)).all() and (found <= np.max(sample)).all()


def test_functions_of_rows_run_for_two_rows() -> None:
    compose = compositions.Compose(0)
    compose.dtype = tf.int32
    assert not compose._takes_rows("tf.scan(lambda s, e: tf.tanh(s) - e, X)", ["X"])
    assert compose._takes_rows("tf.scan(lambda s, e: s - e, X)", ["X"])


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
    programs = [drawn(seed) for seed in range(150)]
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
