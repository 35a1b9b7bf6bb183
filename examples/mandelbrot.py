"""The Mandelbrot set in characters: a `while` on tensors, as one native function."""

from intaglio import tf


@tf.function(jit_compile=True)
def escape_times(c_re, c_im, limit):
    re, im = tf.zeros_like(c_re), tf.zeros_like(c_re)
    times = tf.zeros_like(c_re, tf.int32)
    n = 0
    while n < limit and tf.reduce_any(re * re + im * im < 4.0):
        inside = re * re + im * im < 4.0
        re, im = (
            tf.where(inside, re * re - im * im + c_re, re),
            tf.where(inside, 2.0 * re * im + c_im, im),
        )
        times += tf.cast(inside, tf.int32)
        n += 1
    return times


x, y = tf.meshgrid(tf.linspace(-2.1, 0.6, 64), tf.linspace(-1.1, 1.1, 24))
for row in escape_times(x, y, tf.constant(60)).numpy():
    print("".join(" .:-=+*#%@"[min(t // 6, 9)] for t in row))
