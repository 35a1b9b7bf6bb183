"""Who holds an object, as the collector knows it."""

from __future__ import annotations

import collections
from typing import Any

import pytest

from intaglio.base.origins import PACKAGE
from intaglio.cpython.referrers import holders

pytestmark = pytest.mark.usefixtures("no_permanent_objects")


class Held:
    """What is looked for."""


class Model:
    """Has attributes."""


class Slotted:
    """Has slots."""

    __slots__ = ("kept",)


history: list[Any] = []
recent: collections.deque[Any] = collections.deque([0], maxlen=2)
table: dict[str, Any] = {}
model, slotted = Model(), Slotted()
alone: Any = None


def ways(put: Any) -> str:
    return "; ".join(holders(_put(put), PACKAGE))


def _put(put: Any) -> Any:
    held = Held()
    put(held)
    return held


def test_list_of_a_module() -> None:
    assert "history[0], a global of test_referrers.py" in ways(history.append)


def test_deque_of_a_module() -> None:
    assert "recent[1], a global of test_referrers.py" in ways(recent.append)


def test_nested_dict_of_a_module() -> None:
    assert "table['a'][1], a global of" in ways(lambda h: table.update(a=[0, h]))


def test_attributes() -> None:
    assert "a Model.cache" in ways(lambda h: setattr(model, "cache", h))
    assert "a Model.parts['a'][0]" in ways(lambda h: setattr(model, "parts", {"a": [h]}))
    assert "a Slotted.kept" in ways(lambda h: setattr(slotted, "kept", h))
    assert "the class Model.shared" in ways(lambda h: setattr(Model, "shared", h))


def test_global() -> None:
    def put(held: Any) -> None:
        global alone
        alone = held

    assert "alone, a global of test_referrers.py" in ways(put)


def test_variable_of_a_closure() -> None:
    kept: Any = None

    def put(held: Any) -> None:
        nonlocal kept
        kept = held

    assert "kept, a variable around put of test_referrers.py" in ways(put)
    assert kept is not None


def test_nobody() -> None:
    assert holders(Held(), PACKAGE) == []
