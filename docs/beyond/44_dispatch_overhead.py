"""What a call costs besides the graph's work is measured; calls of one form are recognised by machine code or by a function that is generated for them."""

import intaglio
from intaglio import tf


@tf.function(jit_compile=True)
def f(x, scale):
    return x * scale


@tf.function
def many(*tensors):
    return tf.add_n(list(tensors))


found = intaglio.overhead(f, tf.ones([4]), 2.0)
assert found.path == "machine code" and found.graph > 0
assert str(found).endswith("recognised by machine code")
found = intaglio.overhead(many, *[tf.constant(float(n)) for n in range(20)])
assert found.path in ("machine code", "generated Python")
