"""Modules: what they find and in which order. Answers are TensorFlow 2.21's."""

import abc

import pytest

from intaglio import tf


class Leaf(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        with self.name_scope:
            self.v = tf.Variable(1.0)


class Tree(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.b = [
            tf.Variable(1.0, name="b0"),
            {"z": tf.Variable(1.0, name="z"), "a": tf.Variable(1.0, name="a")},
        ]
        self.a = Leaf()
        self.c = (tf.Variable(2.0, trainable=False, name="c"),)
        self.d = self.a
        self.e = {"k": Leaf(name="mk")}
        self._p = tf.Variable(3.0, name="p")

    @tf.Module.with_name_scope
    def __call__(self):
        return tf.Variable(1.0).name


def names(values):
    return [v.name for v in values]


def test_order_of_variables():
    tree = Tree()
    found = ["p:0", "b0:0", "a:0", "z:0", "c:0", "leaf/Variable:0", "mk/Variable:0"]
    assert names(tree.variables) == found
    assert names(tree.trainable_variables) == [n for n in found if n != "c:0"]
    assert names(tree.non_trainable_variables) == ["c:0"]
    assert names(tree.submodules) == ["leaf", "mk"]


def test_paths():
    flat = Tree()._flatten(predicate=lambda v: isinstance(v, tf.Variable), with_path=True)
    assert [path for path, _ in flat] == [
        ("_p",),
        ("b", 0),
        ("b", 1, "a"),
        ("b", 1, "z"),
        ("c", 0),
        ("a", "v"),
        ("d", "v"),
        ("e", "k", "v"),
    ]


def test_name_scopes():
    assert Tree()() == "tree/Variable:0"
    with tf.name_scope("outer"):
        assert Leaf().v.name == "outer/leaf/Variable:0"


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        ("ABc", "a_bc"),
        ("aBC", "a_bc"),
        ("A1b", "a1b"),
        ("Layer2D", "layer2_d"),
        ("_X", "_x"),
        ("MyMLP", "my_mlp"),
        ("Conv2DTranspose", "conv2_d_transpose"),
        ("HTTPServer2Fast", "http_server2_fast"),
    ],
)
def test_names_in_snake_case(cls, name):
    assert type(cls, (tf.Module,), {})().name == name


def test_bad_names():
    with pytest.raises(ValueError, match="'x/y' is not a valid module name"):
        Leaf(name="x/y")


@pytest.mark.parametrize("name", ["é", "a b", "1a", "", "a-b"])
def test_names_that_are_no_words(name):
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name=name)


@pytest.mark.parametrize("name", ["lambda", "class", "None", "_x"])
def test_keywords_are_names(name):
    # TensorFlow 2.21 was asked.
    assert tf.Module(name=name).name == name


def test_without_init():
    class Plain(tf.Module):
        def __init__(self):
            self.x = tf.Variable(1.0)

    plain = Plain()
    assert len(plain.variables) == 1 and plain.submodules == ()
    with pytest.raises(AttributeError, match="_name"):
        _ = plain.name


def test_modules_in_a_circle():
    one, two = tf.Module(), tf.Module()
    one.other, two.other = two, one
    one.v = two.v = tf.Variable(1.0)
    assert len(one.variables) == 1
    assert one.submodules == (two,)


def test_a_metaclass_of_a_library_s_own():
    """Sonnet's modules have one that is an `abc.ABCMeta`."""

    class Meta(abc.ABCMeta):
        pass

    class Module(tf.Module, metaclass=Meta):
        pass

    assert Module().name == "module" and type(Module) is Meta


def test_a_later_base_class_sees_the_attributes_that_are_set() -> None:
    # Keras' optimizers stand so before their own base class, which collects variables.
    class Collecting:
        def __setattr__(self, name: str, value: object) -> None:
            seen.append(name)
            super().__setattr__(name, value)

    class Optimizer(tf.Module, Collecting):
        def __init__(self) -> None:
            self.product = tf.Variable(1.0)

    seen: list[str] = []
    Optimizer()
    assert "product" in seen
