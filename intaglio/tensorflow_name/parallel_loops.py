"""Private control flow that libraries call: a vectorised loop, a case of Python predicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.errors import invalid_argument
from intaglio.opdef import raw
from intaglio.vectorize.mapping import vectorized


def pfor(
    loop_fn: Callable[[Any], Any],
    iters: Any,
    fallback_to_while_loop: bool = True,
    parallel_iterations: int | None = None,
    warn: bool = False,
) -> Any:
    """`loop_fn(i)` for each i below `iters`, stacked, executed for all at once."""
    return vectorized(loop_fn, raw.Range(0, iters, 1), fallback_to_while_loop, warn)


def case_helper(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str | None,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """What the function of the first true predicate returns; `cond_fn` makes each choice.

    `exclusive` is not checked. Raises InvalidArgumentError if no predicate is true and there
    is no default, TypeError for what is no pair of a predicate and a function.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    for pair in pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1])):
            raise TypeError(f"Each case must be a pair (predicate, function); received {pair!r}")
    if not pairs and default is None:
        raise invalid_argument("There is no case and no default.")

    def choice(at: int) -> Callable[[], Any]:
        if at == len(pairs) or (at == len(pairs) - 1 and default is None):
            return default or pairs[-1][1]
        return lambda: cond_fn(pairs[at][0], pairs[at][1], choice(at + 1), **cond_kwargs)

    return choice(0)()


__all__ = ["case_helper", "pfor"]
