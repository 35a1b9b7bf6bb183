"""A small graph is one function of straight-line code, without a loop over nodes; the call of a small function costs no binding and no look-up."""

import dis

import intaglio
from intaglio import tf


@tf.function
def f(x):
    return tf.tanh(x) * 2.0 + 1.0


x = tf.constant([0.5, 1.0])
for _ in range(50):
    f(x)
run = f.get_concrete_function(x).optimized_run()
code = getattr(run, "__code__", None)
assert code is None or not any(i.opname.startswith("FOR_ITER") for i in dis.get_instructions(code))
general = f.traces[0].general_calls
for _ in range(50):
    f(x)
assert f.traces[0].general_calls == general  # 50 calls went past binding and cache
assert intaglio.overhead(f, x).path in ("machine code", "generated Python")
