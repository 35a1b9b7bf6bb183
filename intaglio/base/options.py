"""Settings that are one for the whole process, as `tf.config` sets them."""

from __future__ import annotations

from typing import Any


class Options:
    """The options that the user has set; a layer that acts on an option reads it here.

    `run_functions_eagerly`: calls of a `tf.function` run its Python body.
    `data_debug_mode`: `tf.data` runs its functions eagerly.
    `deterministic`: ops must give the same answer on every run.
    `threads_intra`, `threads_inter`: threads in one op, ops at once; 0 leaves it open.
    `soft_placement`: an op for a device that does not exist runs on one that does.
    `log_placement`: devices of ops are printed.
    `filter_tracebacks`: tracebacks leave this package's own frames out.
    `optimizer`: the graph optimisations set by name.
    `tensor_float_32`: large convolutions may be a little less accurate; None leaves it open,
    and they are not.
    `device_policy`, `synchronous`: kept, and of no effect on the host.
    """

    __slots__ = (
        "data_debug_mode",
        "deterministic",
        "device_policy",
        "filter_tracebacks",
        "log_placement",
        "optimizer",
        "run_functions_eagerly",
        "soft_placement",
        "synchronous",
        "tensor_float_32",
        "threads_inter",
        "threads_intra",
    )

    def __init__(self) -> None:
        self.run_functions_eagerly = False
        self.data_debug_mode = False
        self.deterministic = False
        self.threads_intra = 0
        self.threads_inter = 0
        self.soft_placement = True
        self.log_placement = False
        self.filter_tracebacks = True
        self.optimizer: dict[str, Any] = {}
        self.device_policy = "silent"
        self.synchronous = True
        self.tensor_float_32: bool | None = None


OPTIONS = Options()
