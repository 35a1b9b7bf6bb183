"""Attributes that a trace has read, in native entries: one look at two versions, and no change is missed."""

import gc
import weakref

import pytest

import intaglio
from intaglio import tf


class Base:
    inherited = 1.0


class Config(Base):
    default = 0.0

    def __init__(self, scale: float = 2.0) -> None:
        self.scale = scale


class Slots:
    __slots__ = ("__weakref__", "bias")

    def __init__(self) -> None:
        self.bias = 1.0


class Model:
    def __init__(self) -> None:
        self.k, self.flag, self.config, self.slots = 3.0, None, Config(), Slots()
        self.other = 0

    @tf.function(jit_compile=True)
    def f(self, x):
        config = self.config
        y = x * self.k * config.scale + config.inherited + config.default
        return y + self.slots.bias if self.flag is None else x

    def store(self, value: float) -> None:
        self.k = value


class Shadowed(Config):
    @property
    def scale(self) -> float:
        return 10.0

    @scale.setter
    def scale(self, value: float) -> None:
        pass


@pytest.fixture
def model():
    model = Model()
    with intaglio.captures("retrace"):
        for _ in range(10):
            assert call(model) == 8.0
        assert intaglio.overhead(model.f, tf.constant(1.0)).path == "machine code"
        yield model


def call(model: Model) -> float:
    return float(model.f(tf.constant(1.0)))


def add_property(model: Model) -> None:
    model.config.__class__ = Shadowed


CHANGES = [
    (lambda m: setattr(m, "k", 5.0), 12.0),
    (lambda m: vars(m).update(k=5.0), 12.0),
    (lambda m: vars(m).__setitem__("k", 5.0), 12.0),
    (lambda m: setattr(m, "__dict__", dict(vars(m), k=5.0)), 12.0),
    (lambda m: (delattr(m, "k"), setattr(m, "k", 5.0)), 12.0),
    (lambda m: setattr(m, "flag", 1), 1.0),
    (lambda m: setattr(m.config, "scale", 5.0), 17.0),
    (lambda m: setattr(m, "config", Config(5.0)), 17.0),
    (lambda m: setattr(m.config, "default", 1.0), 9.0),
    (lambda m: setattr(m.config, "inherited", 2.0), 9.0),
    (add_property, 32.0),
    (lambda m: setattr(m.slots, "bias", 2.0), 9.0),
    (lambda m: setattr(m, "slots", Config()) or setattr(m.slots, "bias", 4.0), 11.0),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_every_change_of_an_object_is_noticed(model, change, expected: float) -> None:
    before, config, slots = dict(vars(model)), model.config, model.slots
    for _ in range(3):
        change(model)
        assert [call(model) for _ in range(12)] == [expected] * 12
        vars(model).update(before)
        config.__class__ = Config
        config.__dict__ = {"scale": 2.0}
        slots.bias = 1.0
        assert [call(model) for _ in range(12)] == [8.0] * 12
    assert model.f.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(
    ("owner", "name", "value", "expected"),
    [
        (Base, "inherited", 2.0, 9.0),
        (Config, "default", 1.0, 9.0),
        (Model, "k", property(lambda self: 5.0), 12.0),
    ],
)
def test_every_change_of_a_class_is_noticed(
    model, monkeypatch: pytest.MonkeyPatch, owner, name, value, expected: float
) -> None:
    for _ in range(3):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, value, raising=False)
            assert [call(model) for _ in range(12)] == [expected] * 12
        assert [call(model) for _ in range(12)] == [8.0] * 12


def test_specialised_code_that_writes(model) -> None:
    for n in range(100):
        model.store(float(n))
        model.store(3.0)
        assert call(model) == 8.0
    model.store(5.0)
    assert call(model) == 12.0


def test_other_attributes_may_change(model) -> None:
    for _ in range(20):
        model.other += 1
        model.config.note = model.other
        assert call(model) == 8.0
    assert model.f.experimental_get_tracing_count() == 1


def test_equal_values_are_no_change(model) -> None:
    model.k, model.config = float("3.0"), Config()
    assert [call(model) for _ in range(12)] == [8.0] * 12
    assert model.f.experimental_get_tracing_count() == 1
    model.config.scale = 4.0
    assert call(model) == 14.0


def test_guards_keep_nothing_alive() -> None:
    model = Model()
    for _ in range(10):
        call(model)
    config = weakref.ref(model.config)
    model.config = Config()
    gc.collect()
    assert config() is None
    assert call(model) == 8.0
    whole = weakref.ref(model)
    del model
    gc.collect()
    assert whole() is None
