"""`tf.debugging.experimental`: dumps for TensorBoard's debugger, which are not written here."""

from __future__ import annotations

from intaglio.trace.numerics_check import disable_dump_debug_info, enable_dump_debug_info

__all__ = ["disable_dump_debug_info", "enable_dump_debug_info"]
