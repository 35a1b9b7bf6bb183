"""`tf.saved_model.SaveOptions` and `LoadOptions`.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/SaveOptions and
https://www.tensorflow.org/api_docs/python/tf/saved_model/LoadOptions.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any


class VariablePolicy(enum.Enum):
    """What is saved of the devices of variables."""

    NONE = None
    SAVE_VARIABLE_DEVICES = "save_variable_devices"
    EXPAND_DISTRIBUTED_VARIABLES = "expand_distributed_variables"

    @staticmethod
    def from_obj(obj: Any) -> VariablePolicy:
        """A policy, or the one of that name. Raises ValueError if there is none."""
        if obj is None or isinstance(obj, VariablePolicy):
            return obj or VariablePolicy.NONE
        key = str(obj).lower()
        for policy in VariablePolicy:
            if policy.value == key:
                return policy
        raise ValueError(f"Received invalid VariablePolicy value: {obj}.")


class SaveOptions:
    """How `tf.saved_model.save` writes.

    `function_aliases` (name -> tf.function) and `extra_tags` are written with the model, and so are
    the devices of variables with an `experimental_variable_policy`. `experimental_skip_saver` leaves out
    the ops that save and restore. Functions of custom gradients are written unless
    `experimental_custom_gradients` is False. The other options are stored without effect.
    """

    def __init__(
        self,
        namespace_whitelist: Iterable[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: Mapping[str, Any] | None = None,
        experimental_debug_stripper: bool = False,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        experimental_image_format: bool = False,
        experimental_skip_saver: bool = False,
        experimental_sharding_callback: Any = None,
        extra_tags: Iterable[str] | None = None,
    ) -> None:
        self.namespace_whitelist = namespace_whitelist
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_debug_stripper = experimental_debug_stripper
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_custom_gradients = experimental_custom_gradients
        self.experimental_image_format = experimental_image_format
        self.experimental_skip_saver = experimental_skip_saver
        self.experimental_sharding_callback = experimental_sharding_callback
        self.extra_tags = extra_tags


class LoadOptions:
    """How `tf.saved_model.load` reads.

    With `allow_partial_checkpoint` variables without a saved value stay uninitialized, with
    `experimental_skip_checkpoint` all do.
    """

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = VariablePolicy.from_obj(experimental_variable_policy)
        self.experimental_load_function_aliases = experimental_load_function_aliases
