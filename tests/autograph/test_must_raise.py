"""What AutoGraph must refuse: TensorFlow's error classes and the key phrases that users match on."""

# ruff: noqa: RET503, B905, C416

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import strict, tf
from intaglio.base.errors import InaccessibleTensorError

from .checklist import item

NOT_A_BOOL = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed."
NO_ITERATION = "Iterating over a symbolic `tf.Tensor` is not allowed."
refused = tf.errors.OperatorNotAllowedInGraphError


def raises(kind: type[BaseException], text: str, function: Any, *values: Any) -> None:
    """Tracing the function for the values raises exactly this class, with the phrase."""
    arguments = [tf.constant(v) for v in values or (1,)]
    with pytest.raises(kind, match=re.escape(text)) as caught:
        tf.function(function)(*arguments)
    assert type(caught.value) is kind


@item("raises: set in one branch")
def set_in_one_branch(x: Any) -> Any:
    if x > 0:
        y = x
    return y


@item("raises: None in a branch")
def none_in_else(x: Any) -> Any:
    if x > 0:
        y = x
    else:
        y = None
    return y


@item("raises: None in a branch")
def none_in_main(x: Any) -> Any:
    y = x
    if x > 0:
        y = None
    return y


@item("raises: None in a branch")
def none_returned(x: Any) -> Any:
    if x > 0:
        return x
    return None


# TensorFlow refuses `1` beside `1.0` too; here a Python number takes the other branch's dtype.
@item("raises: dtypes of branches")
def dtypes_differ(x: Any) -> Any:
    if x > 0:
        y = tf.constant(1)
    else:
        y = tf.constant(1.0)
    return y


@item("raises: dtypes of branches")
def expression_dtypes_differ(x: Any) -> Any:
    return tf.constant(1) if x > 0 else tf.constant(1.0)


@item("raises: structures of branches")
def structures_differ(x: Any) -> Any:
    if x > 0:
        y = (x, x)
    else:
        y = x
    return y


@item("raises: return in one branch")
def return_in_one_branch(x: Any) -> Any:
    if x > 0:
        return x


@pytest.mark.parametrize(
    ("kind", "text", "function"),
    [
        (ValueError, "'y' must also be initialized in the else branch", set_in_one_branch),
        (ValueError, "'y' is None at the end of the else branch.", none_in_else),
        (ValueError, "'y' is None at the end of the main branch.", none_in_main),
        (ValueError, "'retval_' is None at the end of the else branch.", none_returned),
        (
            TypeError,
            "'y' has dtype int32 in the main branch, but dtype float32 in the else branch",
            dtypes_differ,
        ),
        (
            TypeError,
            "'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch",
            expression_dtypes_differ,
        ),
        (
            TypeError,
            "'y' must have the same nested structure in the main and else branches:",
            structures_differ,
        ),
        (ValueError, "the else branch must also have a return statement.", return_in_one_branch),
    ],
    ids=lambda p: getattr(p, "__name__", None) or None,
)
def test_branches(kind: Any, text: str, function: Callable[..., Any]) -> None:
    raises(kind, text, function)


@item("raises: conditions")
def test_conditions_are_bool_scalars() -> None:
    def f(x: Any) -> Any:
        if x:
            return x
        return -x

    text = "condition of if statement expected to be `tf.bool` scalar, got"
    raises(ValueError, text, f, 1)
    raises(ValueError, text, f, [True, False])
    raises(
        ValueError,
        "to use as boolean Tensor, use `tf.cast`; to check for None, use `is not None`",
        f,
        1.0,
    )


@item("raises: dtype of a loop variable")
def loop_dtype(n: Any) -> Any:
    x = 0
    for i in tf.range(n):
        x = tf.cast(i, tf.float32)
    return x


@item("raises: shape invariants")
def invariant_before(n: Any) -> Any:
    x = tf.constant([0])
    for i in tf.range(n):
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([2]))])
        x = x + i
    return x


@item("raises: shape invariants")
def invariant_after(n: Any) -> Any:
    x = tf.constant([[0]])
    for _ in tf.range(n):
        tf.autograph.experimental.set_loop_options(
            shape_invariants=[(x, tf.TensorShape([None, 1]))]
        )
        x = tf.concat([x, x], 1)
    return x


@item("raises: structure of a loop variable")
def loop_structure(n: Any) -> Any:
    x = (n, n)
    for i in tf.range(n):
        x = i
    return x


@item("raises: None or undefined in a loop")
def none_after_a_turn(n: Any) -> Any:
    x = n
    while n > 0:
        n -= 1
        x = None
    return x


@item("raises: unsupported loop values")
def unsupported_value(n: Any) -> Any:
    for _ in tf.range(n):
        x = object()
    return x


@item("raises: undefined names")
def used_before_assignment(n: Any) -> Any:
    if False:
        y = n
    return y + n


# TensorFlow refuses five more: a return that a tensor decides about in a loop over tensors, a
# break or a return that it decides about in a loop over Python values, loops whose condition
# turns into a tensor, and loop variables that change their shape. These work here, see
# test_beyond.py.
LOOPS = [
    (TypeError, "'x' has dtype int32 before the loop, but dtype float32 after one iteration", loop_dtype),
    (ValueError, "'x' has shape (1,) before the loop, which does not conform with the shape invariant", invariant_before),
    (ValueError, "after one iteration, which does not conform with the shape invariant", invariant_after),
    (TypeError, "'x' does not have the same nested structure after one iteration.", loop_structure),
    (ValueError, "'x' is None at the end of the iteration.", none_after_a_turn),
    (ValueError, "Found an unsupported type 'object' while creating placeholder for", unsupported_value),
    (UnboundLocalError, "'y' is used before assignment", used_before_assignment),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text", "function"), LOOPS, ids=[row[2].__name__ for row in LOOPS]
)
def test_loops_and_names(kind: Any, text: str, function: Callable[..., Any]) -> None:
    raises(kind, text, function)


@item("raises: out of scope")
def test_tensors_out_of_their_graph() -> None:
    def in_a_branch(x: Any) -> Any:
        kept = []
        if x > 0:
            kept.append(x + 1)
        return kept[0] + 1

    def in_a_loop(x: Any) -> Any:
        kept = []
        for i in tf.range(x):
            kept.append(i)
        return kept[0] + 1

    class Hidden:
        value: Any = None

        def keep(self, value: Any) -> None:
            self.value = value

    hidden = Hidden()

    def by_a_method(x: Any) -> Any:
        if x > 0:
            hidden.keep(x * 2)
        return hidden.value + 1

    for function in (in_a_branch, in_a_loop, by_a_method):
        with strict(), pytest.raises(InaccessibleTensorError) as caught:
            tf.function(function)(tf.constant(2))
        message = str(caught.value)
        assert "is out of scope and cannot be used here. Use return values" in message
        assert "explicit Python locals or TensorFlow collections" in message
        assert "cannot be accessed from" in message
        assert "because it was defined in" in message


OPERATORS = {
    "comprehension": lambda x: [v for v in x],
    "generator expression": lambda x: tuple(v for v in x),
    "enumerate": lambda x: list(enumerate(x)),
    "zip": lambda x: list(zip(x, x)),
    "sum": lambda x: sum(x),
    "map": lambda x: list(map(abs, x)),
    "unpacking": lambda x: [*x],
}


@pytest.mark.parametrize("name", OPERATORS)
@item("raises: iteration")
def test_iteration(name: str) -> None:
    raises(refused, NO_ITERATION, OPERATORS[name], [1, 2])


@item("raises: iteration")
def test_iteration_of_any() -> None:
    raises(refused, NO_ITERATION, lambda x: any(x), [True, False])


@item("raises: iteration")
def test_unpacking_statements() -> None:
    def f(x: Any) -> Any:
        a, b = x
        return a + b

    raises(refused, NO_ITERATION, f, [1, 2])


def asserted(x: Any) -> Any:
    assert x > 0
    return x


BOOLS = {
    "bool": lambda x: bool(x > 0),
    "condition of a comprehension": lambda x: [v for v in (1, 2) if x > v],
    "in": lambda x: x in [1, 2],
}


@pytest.mark.parametrize("name", BOOLS)
@item("raises: truth")
def test_truth(name: str) -> None:
    raises(refused, NOT_A_BOOL, BOOLS[name])


ATTRIBUTES = [
    (
        NotImplementedError,
        "Cannot convert a symbolic tf.Tensor (x:0) to a numpy array.",
        lambda x: np.sin(x),
    ),
    (AttributeError, "'SymbolicTensor' object has no attribute 'numpy'", lambda x: x.numpy()),
    (TypeError, "len is not well defined for a symbolic Tensor", lambda x: list(reversed(x))),
    (TypeError, "argument of type 'SymbolicTensor' is not iterable", lambda x: 3 in x),
    (
        TypeError,
        "list indices must be integers or slices, not SymbolicTensor",
        lambda x: [1, 2][x[0]],
    ),
    (TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.", lambda x: {1: 2}[x]),
]


@pytest.mark.parametrize("row", ATTRIBUTES, ids=range(len(ATTRIBUTES)))
@item("raises: NumPy functions", "raises: attributes of tensors", "raises: what tensors cannot do")
def test_what_symbolic_tensors_do_not_have(row: Any) -> None:
    raises(row[0], row[1], row[2], [1, 0])


@item("raises: what tensors cannot do")
def test_assigning_items() -> None:
    def f(x: Any) -> Any:
        x[0] = 1
        return x

    text = "'SymbolicTensor' object does not support item assignment"
    raises(TypeError, text, f, [1, 2])


@item("raises: len of a scalar")
def test_the_length_of_a_scalar() -> None:
    raises(ValueError, "len requires a non-scalar tensor, got one of shape", len_of)


def len_of(x: Any) -> Any:
    return len(x)


@item("raises: variables on later calls")
def test_variables_made_on_later_calls() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.Variable(1.0) * x

    text = (
        "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
        "tf.Variable is only created once or created outside tf.function."
    )
    with pytest.raises(ValueError, match=re.escape(text)):
        f(tf.constant(1.0))


@item("raises: bad return values")
def test_results_that_are_no_tensors() -> None:
    raises(TypeError, "which is not a Tensor or ExtensionType.", lambda x: object())


@item("raises: binding")
def test_binding() -> None:
    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def f(x: Any) -> Any:
        return x

    with pytest.raises(TypeError) as caught:
        f(tf.constant([1, 2, 3]))
    for phrase in (
        "Binding inputs to tf.function failed due to `Can not cast TensorSpec(shape=(3,), dtype=tf.int32",
        "to TensorSpec(shape=(2,), dtype=tf.float32",
        "Received args: (",
        "and kwargs: {} for signature: (",
    ):
        assert phrase in str(caught.value)
    with pytest.raises(TypeError, match="input_signature missing type constraint for y"):
        tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])


@item("raises: unhashable arguments")
def test_arguments_without_a_type() -> None:
    text = (
        "Could not generate a generic TraceType for {1, 2}.Please verify that it is "
        "immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
    )
    with pytest.raises(TypeError, match=re.escape(text)):
        tf.function(lambda x: 1)({1, 2})


def failing_step(x: Any) -> Any:
    return tf.reshape(x, [7])


@item("raises: errors of tracing")
def test_errors_show_the_users_lines() -> None:
    def f(x: Any) -> Any:
        if tf.size(x) > 0:
            x = failing_step(x)
        return x

    with pytest.raises(ValueError) as caught:
        tf.function(f)(tf.constant([1, 2]))
    lines = str(caught.value).splitlines()
    assert lines[0] == "in user code:"
    frames = [line.split(", in ")[1].split() for line in lines if ", in " in line]
    assert frames == [["f", "*"], ["failing_step", "*"]]
    assert "        return tf.reshape(x, [7])" in lines
    assert re.match(r"    ValueError: ", lines[-1]) or "ValueError: " in str(caught.value)


@item("raises: errors of a run")
def test_errors_of_a_run_name_the_node() -> None:
    @tf.function
    def f(x: Any, i: Any) -> Any:
        return tf.gather(x, i)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant([1, 2]), tf.constant(9))
    message = str(caught.value)
    assert message.startswith("Graph execution error:\n\nDetected at node GatherV2 defined at")
    assert re.search(r"\[\[\{\{node GatherV2\}\}\]\] \[Op:__inference_f_\d+\]", message)


@pytest.mark.parametrize("rows", [0, 3])
def test_the_first_number_of_a_loop_does_not_decide_how_its_body_ends(rows):
    """With no rows `x[0]` always raises; the loop that would do so does not run."""

    @tf.function
    def first_large(x):
        for i in tf.range(tf.shape(x)[0]):
            for j in tf.range(tf.shape(x)[1]):
                if x[i][j] > 1.0:
                    return x[i][j], i, j
        return tf.constant(-1.0), tf.constant(-1), tf.constant(-1)

    found = first_large(tf.zeros([rows, 4]))
    assert [float(v) for v in found] == [-1.0, -1.0, -1.0]
    if rows:
        assert [float(v) for v in first_large(tf.eye(3) * 2.0)] == [2.0, 0.0, 0.0]
