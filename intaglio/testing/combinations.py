"""Tests that run once for each combination of parameters: `tf.__internal__.test.combinations`.

Libraries' own test suites use it (Keras 2, TF-GNN, TF-Agents). `combine` lists combinations, `generate` makes
a test of each; the parameter `mode` decides whether it runs eagerly or in a graph, `distribution` under which
strategy. absl's parameterized test cases expand the tests, so that they have its names.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intaglio.base import later
from intaglio.trace.graph import Graph
from intaglio.trace.scopes import init_scope

Combination = OrderedDict[str, Any]


class ParameterModifier:
    """What becomes of the parameters of a combination before the test gets them."""

    DO_NOT_PASS_TO_THE_TEST = object()

    def __init__(self, parameter_name: str | None = None) -> None:
        self._parameter_name = parameter_name

    def modified_arguments(self, kwargs: Any, requested_parameters: Sequence[str]) -> Any:
        """Parameters that get other values."""
        return {}


class OptionalParameter(ParameterModifier):
    """A parameter that tests need not take."""

    def modified_arguments(self, kwargs: Any, requested_parameters: Sequence[str]) -> Any:
        """The parameter is left out if the test does not take it."""
        if self._parameter_name in requested_parameters:
            return {}
        return {self._parameter_name: self.DO_NOT_PASS_TO_THE_TEST}


class TestCombination:
    """How parameters of some names act on a test; libraries derive their own."""

    __test__ = False

    def should_execute_combination(self, kwargs: Any) -> tuple[bool, str | None]:
        """Whether the test runs with these parameters, and why not."""
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """What becomes of parameters."""
        return []

    def context_managers(self, kwargs: Any) -> list[Any]:
        """The blocks that the test runs in."""
        return []


class EagerGraphCombination(TestCombination):
    """`mode` is "eager" or "graph"."""

    def context_managers(self, kwargs: Any) -> list[Any]:
        """A graph for "graph"."""
        mode = kwargs.pop("mode", None)
        if mode is None:
            return []
        if mode not in ("eager", "graph"):
            raise ValueError(
                f"Argument 'mode' must be either 'eager' or 'graph'. Received: {mode}."
            )
        return [init_scope() if mode == "eager" else Graph().as_default()]

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """`mode` need not be taken."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """`tf_api_version` is the version whose behaviour the test needs: 1 or 2."""

    def should_execute_combination(self, kwargs: Any) -> tuple[bool, str | None]:
        """False for version 1."""
        version = kwargs.pop("tf_api_version", None)
        if version == 1:
            return False, "Skipping a TF1.x test when TF2 is enabled."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """`tf_api_version` need not be taken."""
        return [OptionalParameter("tf_api_version")]


class NamedObject:
    """A value with a name, which becomes part of the test's name."""

    def __init__(self, name: str, obj: Any) -> None:
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __iter__(self) -> Any:
        return self._obj.__iter__()

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[Combination]:
    """All combinations of the values, of which a list has several, by the names in order.

    >>> from intaglio.testing.combinations import combine
    >>> [dict(c) for c in combine(b=[1, 2], a="x")]
    [{'a': 'x', 'b': 1}, {'a': 'x', 'b': 2}]
    """
    choices = [
        [(name, v) for v in (value if isinstance(value, list) else [value])]
        for name, value in sorted(kwargs.items())
    ]
    return [OrderedDict(chosen) for chosen in itertools.product(*choices)]


def times(*combined: list[Combination]) -> list[Combination]:
    """Every combination of the first list with every one of the second, and so on.

    Raises ValueError if two have a parameter of one name.
    """
    found: list[Combination] = []
    for chosen in itertools.product(*combined):
        names = [name for one in chosen for name in one]
        if len(names) != len(set(names)):
            raise ValueError(f"Keys need to not overlap: {' vs '.join(map(str, chosen))}")
        found.append(OrderedDict(sorted(pair for one in chosen for pair in one.items())))
    return found


def _generate(
    combinations: Iterable[Combination],
    test_combinations: Sequence[TestCombination] = (
        EagerGraphCombination(),
        TFVersionCombination(),
    ),
) -> Callable[[Any], Any]:
    """A decorator that makes a test of each combination, of a method or of a class's methods."""
    parameterized = later.named("absl.testing.parameterized")
    listed = list(combinations)

    def decorate(decorated: Any) -> Any:
        if isinstance(decorated, type):
            for name in dir(decorated):
                method = getattr(decorated, name)
                if name.startswith("test") and name != "test_session" and callable(method):
                    _expand(decorated, name, decorate(method))
            return decorated
        if not listed:
            return decorated
        run = _under_combinations(decorated, test_combinations)
        names = [OrderedDict([*one.items(), ("testcase_name", _name(one))]) for one in listed]
        return parameterized.named_parameters(*names)(run)

    return decorate


def _expand(cls: Any, name: str, tests: Any) -> None:
    """Puts the tests of a parameterized method into the class, in the place of the method."""
    if name in vars(cls):
        delattr(cls, name)
    for one in tests:
        setattr(cls, one.__name__, one)


generate = functools.partial(
    _generate, test_combinations=(EagerGraphCombination(), TFVersionCombination())
)


def _name(combination: Combination) -> str:
    parts = [f"_{key}_{value}" for key, value in combination.items()]
    return "_test" + "".join("".join(c for c in p if c.isalnum() or c == "_") for p in parts)


def _under_combinations(method: Any, combinations: Sequence[TestCombination]) -> Any:
    """The method, which gets a combination's parameters within the blocks that they ask for."""
    requested = inspect.getfullargspec(inspect.unwrap(method)).args

    @functools.wraps(method)
    def run(self: Any, **kwargs: Any) -> None:
        for one in combinations:
            ok, reason = one.should_execute_combination(kwargs.copy())
            if not ok:
                self.skipTest(reason)
        passed = dict(kwargs)
        for one in combinations:
            for modifier in one.parameter_modifiers():
                passed.update(modifier.modified_arguments(kwargs, requested))
        left_out = ParameterModifier.DO_NOT_PASS_TO_THE_TEST
        passed = {k: v for k, v in passed.items() if v is not left_out}
        with contextlib.ExitStack() as blocks:
            remaining = kwargs.copy()
            for one in combinations:
                for block in one.context_managers(remaining):
                    blocks.enter_context(block)
            method(self, **passed)

    return run
