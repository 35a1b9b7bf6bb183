"""Conditionals: the checks of `tf.cond`, `tf.case` and `tf.switch_case`, and their eager forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import errors, nest, shapes
from intaglio.base.dtypes import bool_, int32
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import control_flow
from intaglio.trace.control_flow import is_composite, recording
from intaglio.trace.scopes import name_scope

Branch = Callable[[], Any]


def cond(pred: Any, true_fn: Any, false_fn: Any, name: str | None = None) -> Any:
    """See `tf.cond`."""
    if not callable(true_fn):
        raise TypeError("'true_fn' must be callable.")
    if not callable(false_fn):
        raise TypeError("'false_fn' must be callable.")
    if recording() is None:
        if not isinstance(pred, bool):
            value = convert.to_tensor(pred).numpy()
            pred = bool(value if isinstance(value, bytes) else value.item())
        return true_fn() if pred else false_fn()
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    pred = convert.to_tensor(pred)
    if pred.dtype is not bool_:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"The condition of tf.cond is a bool, not {pred.dtype.name}: compare it with something.",
        )
    return control_flow.cond(pred, true_fn, false_fn, name)


# -- case ----------------------------------------------------------------------------------


def case(
    pairs: Any, default: Branch | None, exclusive: bool, strict: bool, name: str | None
) -> Any:
    """See `tf.case`."""
    checked = _pairs(pairs, exclusive)
    if default is not None and not callable(default):
        raise TypeError("'false_fn' must be callable.")
    preds = [p for p, _ in checked]
    with name_scope(name or "case"):
        if recording() is None:
            result = _case_now(checked, default, exclusive)
            alone = type(result) in (list, tuple) and len(result) == 1
            return result[0] if alone and not strict else result
        if exclusive:
            _assert_at_most_one(preds)
        following = default
        if following is None:
            *checked, (last, action) = checked
            following = _asserted(last, preds, action)
        for pred, action in reversed(checked):
            following = _either(pred, action, following)
        return following()


def _either(pred: Tensor, action: Branch, other: Branch) -> Branch:
    return lambda: control_flow.cond(pred, action, other)


def _asserted(pred: Tensor, preds: Sequence[Tensor], action: Branch) -> Branch:
    def run() -> Any:
        _assert(pred, "Input error: None of conditions evaluated as True:", raw.Pack(preds))
        return action()

    return run


def _assert(condition: Any, message: str, values: Any) -> None:
    raw.Assert(condition, [convert.to_tensor(message), values])


def _assert_at_most_one(preds: Sequence[Tensor]) -> None:
    stacked = raw.Pack(preds)
    count = raw.Sum(raw.Cast(stacked, DstT=int32), convert.to_tensor([0]))
    _assert(raw.Less(count, 2), "Input error: exclusive=True: more than 1 conditions", stacked)


def _case_now(
    pairs: Sequence[tuple[Tensor, Branch]], default: Branch | None, exclusive: bool
) -> Any:
    values = [bool(p) for p, _ in pairs]
    if exclusive and sum(values) > 1:
        shown = ", ".join(str(v) for v in values)
        raise errors.invalid_argument(
            f"Input error: exclusive=True: more than 1 conditions ({shown}) evaluated as True."
        )
    for value, (_, action) in zip(values, pairs, strict=True):
        if value:
            return action()
    if default is None:
        raise errors.invalid_argument(
            "Input error: None of conditions evaluated as True: "
            f"expected one of {values} to be true, or give a default."
        )
    return default()


def _pairs(pairs: Any, exclusive: bool) -> list[tuple[Tensor, Branch]]:
    """The (predicate, function) pairs as a list. Raises TypeError or ValueError for anything else."""
    if not isinstance(pairs, (list, tuple, dict)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pairs)}")
    if isinstance(pairs, dict):
        if not exclusive and recording() is None:
            raise ValueError(
                "Unordered dictionaries are not supported for the 'pred_fn_pairs' argument when `exclusive=False` and "
                "eager mode is enabled."
            )
        pairs = [(getattr(k, "deref", lambda k=k: k)(), v) for k, v in pairs.items()]
    if not pairs:
        raise ValueError("'pred_fn_pairs' must have at least one pair.")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, action = pair
        if not _is_tensor(pred):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if convert.to_tensor(pred).dtype is not bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred}")
        if not callable(action):
            raise TypeError(f"fn for pred {pred} must be callable.")
    return [(convert.to_tensor(p), f) for p, f in pairs]


def _is_tensor(value: Any) -> bool:
    """True for tensors and variables, False for values that convert to a tensor."""
    return isinstance(value, Tensor) or hasattr(value, "__tf_tensor__")


# -- switch_case ---------------------------------------------------------------------------


def switch_case(
    index: Any, branches: Any, default: Branch | None = None, name: str = "switch_case"
) -> Any:
    """See `tf.switch_case`."""
    actions = _actions(branches, default)
    if not _is_tensor(index):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(index)}")
    if default is not None and not callable(default):
        raise TypeError("'default' must be callable.")
    if default is not None:
        actions.append(default)
    tensor = convert.to_tensor(index)
    if not tensor.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {tensor.dtype}")
    if tensor.dims not in ((), None):
        raise errors.invalid_argument(
            f"'branch_index' must be a scalar, but it has shape {list(tensor.dims)}"
        )
    with name_scope(name):
        if recording() is None:
            chosen = int(tensor)
            if not 0 <= chosen < len(actions):
                chosen = len(actions) - 1
            return actions[chosen]()
        if tensor.dtype is not int32:
            tensor = raw.Cast(tensor, DstT=int32)
        return control_flow.switch(tensor, actions)


def _actions(branches: Any, default: Any) -> list[Branch]:
    if not isinstance(branches, (list, tuple, dict)):
        raise TypeError("'branch_fns' must be a list, tuple, or dict")
    if not branches:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if isinstance(branches, dict):
        branches = list(branches.items())
    if all(callable(b) for b in branches):
        return list(branches)
    found: dict[int, Branch] = {}
    keys: list[Any] = []
    for pair in branches:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {pair}.")
        key, action = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(action):
            raise TypeError(f"fn for key {key} must be callable.")
        keys.append(key)
        found[key] = action
    if sorted(keys) != list(range(len(keys))):
        shown = ",".join(str(k) for k in sorted(keys))
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found {{{shown}}}"
        )
    return [found[i] for i in range(len(keys))]


# -- while_loop ----------------------------------------------------------------------------


def while_loop(
    cond: Any,
    body: Any,
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """See `tf.while_loop`."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if loop_vars is None:
        raise ValueError("'loop_vars' must be provided.")
    if recording() is not None:
        results = control_flow.while_loop(
            cond, body, loop_vars, shape_invariants, maximum_iterations, parallel_iterations, name
        )
    elif isinstance(loop_vars, (list, tuple)) and not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    else:
        results = _loop_now(cond, body, loop_vars, maximum_iterations)
    if back_prop:
        return results
    return nest.map_structure(raw.StopGradient, results, expand_composites=True)


def _loop_now(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any) -> Any:
    limit = None
    if maximum_iterations is not None:
        most = convert.to_tensor(maximum_iterations)
        if most.dims != ():
            raise ValueError(
                f"'maximum_iterations' must be a scalar. Received shape: {shapes.text(most.dims)}"
            )
        limit = int(most)
    count = 0
    like = list(loop_vars)
    while (limit is None or count < limit) and _goes_on(cond(*loop_vars), limit is not None):
        result = body(*loop_vars)
        if result is None:
            raise TypeError(
                "The body of tf.while_loop returned None: return the next values of the loop variables."
            )
        if not isinstance(result, (list, tuple)):
            result = [result]
        nest.assert_same_structure(like, list(result), False)
        loop_vars = result
        count += 1
    return nest.map_structure(_as_tensor, loop_vars)


def _goes_on(condition: Any, limited: bool) -> bool:
    """Whether an eager loop continues: the truth of its condition, as Python defines it.

    With a limit to the iterations it is an operand of `and`. Raises InvalidArgumentError or
    TypeError for what is no bool then.
    """
    return bool(raw.LogicalAnd(True, condition) if limited else condition)


def _as_tensor(value: Any) -> Any:
    return value if is_composite(value) else convert.to_tensor(value)
