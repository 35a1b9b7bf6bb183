"""`tf.autograph`."""

from types import SimpleNamespace

from intaglio.autograph.api import (
    Feature,
    do_not_convert,
    set_loop_options,
    set_verbosity,
    to_code,
    to_graph,
    trace,
)

experimental = SimpleNamespace(
    Feature=Feature, do_not_convert=do_not_convert, set_loop_options=set_loop_options
)

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]
