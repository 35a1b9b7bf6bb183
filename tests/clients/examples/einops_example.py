"""einops: rearranging, reducing, repeating, and a layer."""

import einops
import tensorflow as tf

x = tf.reshape(tf.range(24.0), [2, 3, 4])
print("rearrange", einops.rearrange(x, "a b c -> c (a b)").numpy().tolist())
print("reduce", einops.reduce(x, "a b (c d) -> a d", "mean", d=2).numpy().tolist())
print("repeat", tuple(einops.repeat(x, "a b c -> a b c r", r=2).shape))
print("einsum", einops.einsum(x, x, "a b c, a d c -> a b d").numpy().tolist())
