"""Globals that a trace has read, in native entries: one look at the dictionary's version, and no change is missed."""

import types

import pytest

import intaglio
from intaglio import tf

SOURCE = """
from intaglio import tf

scale, offset, flag, other = 2.0, 1.0, None, 0

@tf.function(jit_compile=True)
def f(x):
    return x * scale + offset if flag is None else x

def specialised(value):
    global scale
    scale = value

def count():
    global other
    other += 1
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    found = types.ModuleType("program")
    exec(compile(SOURCE, str(path), "exec"), vars(found))
    with intaglio.captures("retrace"):
        for _ in range(10):
            assert float(found.f(tf.constant(3.0))) == 7.0
        assert intaglio.overhead(found.f, tf.constant(3.0)).path == "machine code"
        yield found


def call(module) -> float:
    return float(module.f(tf.constant(3.0)))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: setattr(m, "scale", 5.0), 16.0),
        (lambda m: m.specialised(5.0), 16.0),
        (lambda m: vars(m).update(offset=0.0), 6.0),
        (lambda m: vars(m).__setitem__("scale", 5.0), 16.0),
        (lambda m: exec("scale = 5.0", vars(m)), 16.0),
        (lambda m: (vars(m).pop("scale"), setattr(m, "scale", 5.0)), 16.0),
        (lambda m: setattr(m, "flag", 1), 3.0),
    ],
)
def test_every_change_is_noticed(module, change, expected: float) -> None:
    before = dict(vars(module))
    for _ in range(3):
        change(module)
        assert [call(module) for _ in range(12)] == [expected] * 12
        vars(module).update({k: before[k] for k in ("scale", "offset", "flag")})
        assert [call(module) for _ in range(12)] == [7.0] * 12
    assert module.f.experimental_get_tracing_count() == 2


def test_specialised_code_that_writes(module) -> None:
    for n in range(100):
        module.specialised(float(n))
        module.specialised(2.0)
        assert call(module) == 7.0
    module.specialised(3.0)
    assert call(module) == 10.0


def test_other_globals_may_change(module) -> None:
    for _ in range(20):
        module.count()
        assert call(module) == 7.0
    assert module.f.experimental_get_tracing_count() == 1


def test_equal_values_are_no_change(module) -> None:
    module.scale = float("2.0")
    assert [call(module) for _ in range(12)] == [7.0] * 12
    assert module.f.experimental_get_tracing_count() == 1
    module.scale = 4.0
    assert call(module) == 13.0
