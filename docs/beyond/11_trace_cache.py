"""All traces together are limited in number or bytes: those that were used longest ago are removed, and made again when
they are needed."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return x + 1


with intaglio.trace_cache(max_traces=3):
    for n in range(10):
        f(tf.zeros([n]))
    assert len(f._list_all_concrete_functions()) == 3
    assert f.experimental_get_tracing_count() == 10
    f(tf.zeros([9]))
    assert f.experimental_get_tracing_count() == 10
    f(tf.zeros([0]))
    assert f.experimental_get_tracing_count() == 11

with intaglio.trace_cache(max_bytes=f.trace_bytes - 1):
    assert len(f._list_all_concrete_functions()) < 3
