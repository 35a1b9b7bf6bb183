"""`tf.__internal__.test.combinations` and the marks of `test_util`. Names are those of TensorFlow 2.21."""

from __future__ import annotations

import unittest
from contextlib import contextmanager
from typing import Any

import pytest

from intaglio import tf
from intaglio.distribute import combinations as strategies
from intaglio.testing import combinations, marks

parameterized = pytest.importorskip("absl.testing.parameterized")


def outcomes(cls: Any) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result


def test_combinations() -> None:
    two = combinations.combine(b=[1, 2], a="x")
    assert [dict(c) for c in two] == [{"a": "x", "b": 1}, {"a": "x", "b": 2}]
    assert len(combinations.times(two, combinations.combine(c=[3, 4, 5]))) == 6
    with pytest.raises(ValueError, match="overlap"):
        combinations.times(two, two)
    assert combinations.combine() == [{}]


def test_a_test_of_each_combination() -> None:
    seen: list[Any] = []
    one = combinations.NamedObject("foo", 3)

    class Case(tf.test.TestCase, parameterized.TestCase):  # type: ignore[misc]  # absl's class
        @combinations.generate(combinations.combine(a=one, b=[1, 2], mode=["graph", "eager"]))
        def testX(self, a: Any, b: int) -> None:
            seen.append((repr(a), b, tf.executing_eagerly(), self.evaluate(tf.constant(b))))

    assert outcomes(Case).wasSuccessful()
    assert {(a, b, e, int(v)) for a, b, e, v in seen} == {
        ("foo", b, e, b) for b in (1, 2) for e in (True, False)
    }
    assert "testX_test_a_foo_b_1_mode_eager" in dir(Case)


def test_strategies_that_are_missing_are_skipped() -> None:
    ran: list[str] = []

    class Case(tf.test.TestCase, parameterized.TestCase):  # type: ignore[misc]  # absl's class
        @strategies.generate(
            combinations.combine(
                distribution=[
                    strategies.default_strategy,
                    strategies.one_device_strategy,
                    strategies.mirrored_strategy_with_two_gpus,
                    strategies.tpu_strategy,
                ],
                mode="eager",
            )
        )
        def testX(self, distribution: Any) -> None:
            ran.append(type(distribution).__name__)

    result = outcomes(Case)
    assert result.wasSuccessful()
    assert len(ran) == 2
    assert len(result.skipped) == 3  # and `test_session`, which unittest takes for a test


def test_in_graph_and_eagerly() -> None:
    ran: list[bool] = []

    @marks.run_all_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        def test_sum(self) -> None:
            ran.append(tf.executing_eagerly())
            v = tf.Variable([1.0, 2.0])
            self.evaluate(tf.compat.v1.global_variables_initializer())
            self.assertAllEqual(self.evaluate(v + 1.0), [2.0, 3.0])

        @marks.run_v1_only("old")
        def test_old(self) -> None:
            raise AssertionError

        @marks.run_deprecated_v1
        def test_session_of_the_test(self) -> None:
            with self.cached_session() as session:
                assert session is tf.compat.v1.get_default_session()

        @marks.run_deprecated_v1
        def test_a_session_of_a_librarys_own(self) -> None:
            assert self.evaluate(tf.constant(1)) == 1

        @contextmanager
        def cached_session(self) -> Any:  # type: ignore[override]  # as TensorFlow Probability has it
            with super().cached_session() as session:
                yield session

    assert outcomes(Case).wasSuccessful()
    assert ran == [False, True]
