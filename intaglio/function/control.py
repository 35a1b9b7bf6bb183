"""Control of calls of traced functions: which may trace, which run eagerly, which a tool intercepts.

Stances, budgets and interceptors hold for the thread that sets them, and for the functions called in it.
Calls look at one attribute of the process, so that they cost nothing where there is none.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Any, Literal, NamedTuple, Protocol

from intaglio import xla
from intaglio.autograph.read_values import Kept
from intaglio.base.devices import absent, available, full_name, is_of_accelerator
from intaglio.base.errors import invalid_argument
from intaglio.base.locks import lasting_lock
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS, checked_backend
from intaglio.opdef import door
from intaglio.runtime.placement import first_level

Mode = Literal["default", "eager", "no_new_traces", "eager_on_miss", "verify"]
MODES = ("default", "eager", "no_new_traces", "eager_on_miss", "verify")
OnExceed = Literal["raise", "warn", "eager"]
ON_EXCEED = ("raise", "warn", "eager")


class NewTraceError(RuntimeError):
    """A call has no trace yet, under `stance("no_new_traces")`."""


class RetraceBudgetError(RuntimeError):
    """A function was retraced more often than a `retrace_budget` allows. The text has each cause."""


class _Stance(NamedTuple):
    mode: str
    function: Any  # the function whose calls it applies to; None for all


def _of_environment() -> tuple[_Stance, ...]:
    mode = os.environ.get("INTAGLIO_STANCE", "default")
    return () if _checked(mode, MODES, "stance") == "default" else (_Stance(mode, None),)


def _checked(value: str, allowed: Sequence[str], what: str) -> str:
    if value not in allowed:
        raise ValueError(f"{what} takes {', '.join(map(repr, allowed))}, not {value!r}")
    return value


class _Budget:
    """The retraces counted in a `retrace_budget` block, by function or by call site."""

    def __init__(self, limit: int, on_exceed: str, per: str) -> None:
        self.limit, self.on_exceed, self.per = limit, on_exceed, per
        self.spent: dict[Any, int] = {}
        self.warned: set[Any] = set()
        # By the code of functions, those that were new in the block.
        self.traced: dict[Any, list[Kept]] = {}


def _budget_of_environment() -> tuple[_Budget, ...]:
    limit, _, on_exceed = os.environ.get("INTAGLIO_RETRACE_BUDGET", "").partition(":")
    if not limit:
        return ()
    what = "INTAGLIO_RETRACE_BUDGET's second part"
    return (_Budget(int(limit), _checked(on_exceed or "warn", ON_EXCEED, what), "function"),)


class Interceptor(Protocol):
    """A debugging tool that executes calls of traced functions instead of the function itself."""

    def call(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call. Calls that it makes itself go to the interceptors around it."""
        ...


_STANCES = _of_environment()
_BUDGETS = _budget_of_environment()
_stances: ContextVar[tuple[_Stance, ...]] = ContextVar("stances", default=_STANCES)
_budgets: ContextVar[tuple[_Budget, ...]] = ContextVar("budgets", default=_BUDGETS)

_interceptors: ContextVar[tuple[Interceptor, ...]] = ContextVar("interceptors", default=())

_lock = lasting_lock()
_active = len(_STANCES) + len(_BUDGETS)


def _count(by: int) -> None:
    global _active
    with _lock:
        _active += by
        OPTIONS.calls_are_controlled = _active > 0


_count(0)


class _Block:
    """A context manager that adds to a context variable."""

    def __init__(self, variable: ContextVar[Any], added: Any) -> None:
        self._variable, self._added = variable, added
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> Any:
        self._tokens.append(self._variable.set((*self._variable.get(), self._added)))
        _count(1)
        return self

    def __exit__(self, *error: object) -> None:
        self._variable.reset(self._tokens.pop())
        _count(-1)


class stance(_Block):
    """In the block, calls of traced functions in this thread do not simply trace what is new.

    `"eager"` runs the Python functions, as `tf.config.run_functions_eagerly`; those of Keras too.
    `"no_new_traces"` raises NewTraceError for a call that would trace. `"eager_on_miss"` runs
    such a call eagerly. `"verify"` runs each call eagerly, as a graph and as machine code, and raises VerificationError
    where they differ (`intaglio.verify`). `"default"` is what TensorFlow does. With `function` it is about the
    calls of that function only; the innermost block that names it, or all functions, decides.

    INTAGLIO_STANCE in the environment sets it everywhere. A dataset traces its functions when it is made: in the
    block of `"eager"` they are only traced for their types, and run as Python on each element, and in that of `"verify"`
    each element is verified. The other modes are not about them. Raises ValueError for another mode.

    >>> f = tf.function(lambda x: x + 1)
    >>> with intaglio.stance("eager_on_miss"):
    ...     int(f(tf.constant(1))), f.experimental_get_tracing_count()
    (2, 0)
    """

    def __init__(self, mode: Mode, function: Any = None) -> None:
        super().__init__(_stances, _Stance(_checked(mode, MODES, "stance"), function))


class retrace_budget(_Block):
    """In the block, a function may be traced again `limit` times in this thread.

    The first trace of a function is none, unless the same code with the same values around it was traced
    in the block before: the function is created again at each call. Then
    `on_exceed` decides: `"raise"` raises RetraceBudgetError with the cause of every trace, `"warn"` logs them
    once, `"eager"` runs the Python function instead. With `per="call_site"` each line that calls the
    function has a budget of its own.

    INTAGLIO_RETRACE_BUDGET, such as `2` or `2:raise`, sets it everywhere, to warn unless it says otherwise.
    Raises ValueError for other choices.

    >>> f = tf.function(lambda x: x)
    >>> with intaglio.retrace_budget(1):
    ...     for n in range(2):
    ...         _ = f(tf.zeros([n]))
    """

    def __init__(
        self,
        limit: int,
        on_exceed: OnExceed = "raise",
        *,
        per: Literal["function", "call_site"] = "function",
    ) -> None:
        _checked(on_exceed, ON_EXCEED, "on_exceed")
        _checked(per, ("function", "call_site"), "per")
        super().__init__(_budgets, _Budget(limit, on_exceed, per))


class intercepting(_Block):
    """In the block, an interceptor carries out the calls of traced functions in this thread."""

    def __init__(self, interceptor: Interceptor) -> None:
        super().__init__(_interceptors, interceptor)


def interceptors() -> tuple[Interceptor, ...]:
    """Those of this thread, the innermost last."""
    return _interceptors.get()


def intercepted(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call, as the innermost interceptor executes it."""
    *outer, innermost = _interceptors.get()
    token = _interceptors.set(tuple(outer))
    try:
        return innermost.call(function, args, kwargs)
    finally:
        _interceptors.reset(token)


@contextmanager
def uncontrolled() -> Generator[None]:
    """Suspends this thread's stances, budgets and interceptors in the block, for a tool's own calls."""
    stances, budgets, interceptors = _stances.set(()), _budgets.set(()), _interceptors.set(())
    try:
        yield
    finally:
        _stances.reset(stances)
        _budgets.reset(budgets)
        _interceptors.reset(interceptors)


def mode_of(function: Any) -> str:
    """The stance that applies to calls of a function."""
    return "eager" if OPTIONS.run_functions_eagerly else _mode(function)


def _mode(function: Any) -> str:
    for mode, about in reversed(_stances.get()):
        if about is None or about is function or _is_method_of(function, about):
            return mode
    return "default"


def _is_method_of(function: Any, other: Any) -> bool:
    """True if both are the same traced function, or methods bound from it."""
    attributes = getattr(function, "__dict__", None)
    return attributes is not None and attributes is getattr(other, "__dict__", None)


def of_dataset_function(function: Any) -> str:
    """The stance for a function that a dataset calls, which `tf.config.run_functions_eagerly` does not change."""
    return _mode(function) if OPTIONS.calls_are_controlled else "default"


def notes(function: Any) -> list[str]:
    """The stance and the budgets of this thread for a function, as `explain` shows them."""
    mode = mode_of(function)
    found = [] if mode == "default" else [f"stance: {mode}"]
    for budget in _budgets.get():
        of_lines = [n for (key, _), n in budget.spent.items() if key == id(function._detector)]
        spent = min(max(of_lines, default=0), budget.limit)
        per = " from one line" if budget.per == "call_site" else ""
        found.append(f"budget: {spent} of {budget.limit} further traces{per}")
    return found


def may_trace(function: Any, where: Any, explained: Any) -> bool:
    """True if a call that has no trace may make one; False if it is to run eagerly.

    `explained` is a function that describes the traces of `function`, this one included. Raises NewTraceError or
    RetraceBudgetError if the call must not be made.
    """
    mode = _mode(function)
    if mode == "no_new_traces":
        raise NewTraceError(
            f"{function.name} has no trace for this call, and no new ones are allowed here:\n{explained()}\n"
            "Call it before with such arguments, or f.warmup([...])."
        )
    if mode == "eager_on_miss":
        return False
    return all([_spend(b, function, where, explained) for b in _budgets.get()])


def _spend(budget: _Budget, function: Any, where: Any, explained: Any) -> bool:
    detector = function._detector
    if not len(function._cache):
        # A first trace, but perhaps of a function created again with the same closure.
        earlier = budget.traced.setdefault(detector, [])
        again = any([e.is_same(function.python_function) for e in earlier])
        if not again:
            earlier.append(Kept(function.python_function))
            return True
    key = (id(detector), where if budget.per == "call_site" else None)
    spent = budget.spent[key] = budget.spent.get(key, 0) + 1
    if spent <= budget.limit:
        return True
    times = (
        f"{function.name} was to be traced again {spent} times, and the budget is {budget.limit}"
    )
    if budget.on_exceed == "raise":
        raise RetraceBudgetError(f"{times}:\n{explained()}")
    if budget.on_exceed == "warn" and key not in budget.warned:
        budget.warned.add(key)
        logger().warning(f"{times}:\n{explained()}")
    return budget.on_exceed != "eager"


class backend:
    """What compiles functions with `jit_compile=True` from now on, or in the block.

    `"native"` is Intaglio's own compiler, for the processor at hand. `"xla"` makes XLA programs,
    through jax. INTAGLIO_BACKEND in the environment says the same from the start. A trace keeps the
    code that its first call compiled. It holds for all threads.

    Raises ValueError for another name, ImportError for `"xla"` if jax is not installed.

    >>> with intaglio.backend("native"):
    ...     tf.function(lambda x: x + 1, jit_compile=True)(tf.constant(1)).numpy()
    np.int32(2)
    """

    def __init__(self, name: Literal["native", "xla"]) -> None:
        self._before = OPTIONS.backend
        if checked_backend(name) == "xla":
            xla.check_installed()
        OPTIONS.backend = name

    def __enter__(self) -> backend:
        return self

    def __exit__(self, *error: object) -> None:
        OPTIONS.backend = self._before


class default_device:
    """The device of ops and variables for which the program names none, from now on, or in the block.

    Without it that is the host, also where there is a GPU. INTAGLIO_DEFAULT_DEVICE in the environment says
    the same from the start. It holds for this thread and for those that start later; `tf.device` names
    another one for a block. What has no program of the device runs on the host, as with soft placement.
    "" is the host.

    Raises InvalidArgumentError for a device that is not there, RuntimeError in a block of a tape.

    >>> with intaglio.default_device("/CPU:0"):
    ...     tf.constant(1).device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """

    def __init__(self, name: str) -> None:
        if name and absent(name) is not None:
            raise invalid_argument(
                f"There is no device {full_name(name)}: there are {available()}."
            )
        self._before = OPTIONS.default_device
        self._set(name)

    @staticmethod
    def _set(name: str) -> None:
        here = door.stack()
        if here.levels[0].watchers:
            raise RuntimeError("The default device cannot be changed while a tape is open.")
        door.STATE.shift(is_of_accelerator(name) - is_of_accelerator(OPTIONS.default_device))
        OPTIONS.default_device = name
        here.begin_with(first_level())

    def __enter__(self) -> default_device:
        return self

    def __exit__(self, *error: object) -> None:
        self._set(self._before)


__all__ = [
    "NewTraceError",
    "RetraceBudgetError",
    "backend",
    "default_device",
    "retrace_budget",
    "stance",
]
