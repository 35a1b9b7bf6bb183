"""The parameters of the functions of `tf.compat.v1`, as TensorFlow 2.21 recorded them."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from intaglio import tf
from tests.compat_v1.record_parameters import FILE

v1: Any = tf.compat.v1
RECORDED: dict[str, list[str]] = json.loads(FILE.read_text(encoding="utf-8"))
# TensorFlow's first parameter only refuses arguments by position, which are taken here.
LEFT_OUT = {"sparse.split": ["keyword_required"], "sparse_split": ["keyword_required"]}


def _found(path: str) -> Any:
    value: Any = v1
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


@pytest.mark.parametrize("name", RECORDED)
def test_functions_take_tensorflows_parameters(name: str) -> None:
    function = _found(name)
    if function is None:
        pytest.skip("what is not there is a matter of test_names")
    spec = inspect.getfullargspec(function)
    ours = [*spec.args, *spec.kwonlyargs]
    # With *args and **kwargs a function says itself what it takes, or rejects the call.
    missing = [p for p in RECORDED[name] if p not in ours and not spec.varkw]
    assert missing == LEFT_OUT.get(name, [])
    if not spec.varargs:  # by position they mean the same
        known = [p for p in ours if p in RECORDED[name]]
        assert known == [p for p in RECORDED[name] if p in ours]
