"""`tf.debugging`: assertions, and finding numbers that are none.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging. Assertions return None
eagerly and where they could be decided while tracing, else an operation; in a `tf.function`
it runs by itself. All take `message`, which begins the error's text.
"""

from __future__ import annotations

from intaglio.base.options import OPTIONS
from intaglio.composite_ops.assertions import (
    Assert,
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_integer,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
    check_numerics,
    is_numeric_tensor,
)
from intaglio.tf.debugging import experimental
from intaglio.trace.numerics_check import disable_check_numerics, enable_check_numerics


def set_log_device_placement(enabled: bool) -> None:
    """Sets whether the devices of ops are printed. There is one device.

    >>> tf.debugging.set_log_device_placement(False)
    >>> tf.debugging.get_log_device_placement()
    False
    """
    OPTIONS.log_placement = enabled


def get_log_device_placement() -> bool:
    """What `set_log_device_placement` set.

    >>> tf.debugging.get_log_device_placement()
    False
    """
    return OPTIONS.log_placement


def enable_traceback_filtering() -> None:
    """Leaves this package's own frames out of tracebacks.

    >>> tf.debugging.enable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    OPTIONS.filter_tracebacks = True


def disable_traceback_filtering() -> None:
    """Keeps this package's own frames in tracebacks.

    >>> tf.debugging.disable_traceback_filtering()
    >>> tf.debugging.is_traceback_filtering_enabled()
    False
    >>> tf.debugging.enable_traceback_filtering()
    """
    OPTIONS.filter_tracebacks = False


def is_traceback_filtering_enabled() -> bool:
    """Whether this package's own frames are left out of tracebacks.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return OPTIONS.filter_tracebacks


__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "disable_check_numerics",
    "disable_traceback_filtering",
    "enable_check_numerics",
    "enable_traceback_filtering",
    "experimental",
    "get_log_device_placement",
    "is_numeric_tensor",
    "is_traceback_filtering_enabled",
    "set_log_device_placement",
]
