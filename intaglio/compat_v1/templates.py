"""`tf.compat.v1.make_template`: functions that use the variables of their first call again.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/make_template.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from intaglio.compat_v1.variable_scopes import (
    GraphKeys,
    Store,
    VariableScope,
    eager_variables,
    get_collection,
    note_created,
    variable_scope,
)
from intaglio.state.tracking import Trackable
from intaglio.trace import scopes


class Template(Trackable):
    """A function whose variables are created by its first call and used again by later ones.

    Raises ValueError if a later call creates others.
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool = False,
        unique_name: str | None = None,
        custom_getter: Any = None,
    ) -> None:
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._called = False
        if create_scope_now:
            with self._first_scope(False) as scope:
                self._scope = scope

    def _first_scope(self, in_names: bool = True) -> Any:
        return variable_scope(
            self._unique_name,
            self._name,
            custom_getter=self._custom_getter,
            auxiliary_name_scope=in_names,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is not None:
            with variable_scope(self._scope, reuse=self._called):
                return self._call(args, kwargs)
        with self._first_scope() as scope:
            self._scope = scope
            return self._call(args, kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trainable, all_of_them = self._existing()
        result = self._func(*args, **kwargs)
        if self._called:
            now = self._existing()
            _check_same(trainable, now[0], "Trainable variable")
            _check_same(all_of_them, now[1], "Variable")
        self._called = True
        return result

    def _existing(self) -> tuple[list[Any], list[Any]]:
        """The trainable variables and all variables of the graph."""
        kinds = GraphKeys.TRAINABLE_VARIABLES, GraphKeys.GLOBAL_VARIABLES
        return get_collection(kinds[0]), get_collection(kinds[1])

    @property
    def name(self) -> str:
        """The name given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        """The scope of the variables; None before the first call."""
        return self._scope

    var_scope = variable_scope

    def _collected(self, key: str) -> list[Any]:
        return get_collection(key, f"{self._scope.name}/") if self._scope else []

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables of the scope."""
        return self._collected(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def global_variables(self) -> list[Any]:
        """The variables of the scope."""
        return self._collected(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """The local variables of the scope."""
        return self._collected(GraphKeys.LOCAL_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        """All variables of the scope."""
        return [*self.global_variables, *self.local_variables]

    weights = variables
    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The variables of the scope that are not trainable."""
        trainable = {id(v) for v in self.trainable_variables}
        return [v for v in self.variables if id(v) not in trainable]

    non_trainable_weights = non_trainable_variables

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The variables, by their names in the scope."""
        prefix = f"{self._scope.name}/" if self._scope else ""
        return {v.name.removeprefix(prefix).partition(":")[0]: v for v in self.variables}


class EagerTemplate(Template):
    """A template of the eager program, which has variables of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._store = Store()
        super().__init__(*args, **kwargs)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with eager_variables(self._store):
            result = super()._call(args, kwargs)
        note_created(self._store.variables)
        return result

    def _existing(self) -> tuple[list[Any], list[Any]]:
        return self.trainable_variables, self.global_variables

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable variables that calls have created, in the order of their names."""
        return [v for v in self.variables if v.trainable]

    @property
    def global_variables(self) -> list[Any]:
        """The variables that calls have created, in the order of their names."""
        return [v for _, v in sorted(self._store.variables.items())]


def _check_same(before: list[Any], after: list[Any], kind: str) -> None:
    known = {id(v) for v in before}
    created = [v for v in after if id(v) not in known]
    if created:
        raise ValueError(
            f"{kind} created when calling a template after the first time, perhaps you used "
            f"tf.Variable when you meant tf.get_variable: {created}"
        )


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A function whose variables are created by its first call and used again by later ones.

    `kwargs` are arguments of each call. Eagerly the variables are the template's; in a graph they are
    those of a scope, which `unique_name_` names. Raises ValueError for a unique name eagerly, and when a
    later call creates variables.
    """
    function = functools.partial(func_, **kwargs) if kwargs else func_
    eager = scopes.executing_eagerly()
    if eager and unique_name_ is not None:
        raise ValueError(
            "unique_name_ cannot be used when eager execution is enabled. Templates have variables of "
            "their own there"
        )
    kind = EagerTemplate if eager else Template
    return kind(name_, function, create_scope_now_, unique_name_, custom_getter_)
