"""Functions without a source are traced as they are; an `if` on a tensor there has an error with the cause. Text that is run as a program is found again."""

from intaglio import tf

TEXT = """
def f(x):
    if x > 0:
        return x
    return -x

def plain(x):
    return x * 2 + 1
"""
space = {}
exec(TEXT, space)
assert int(tf.function(space["plain"])(tf.constant(3))) == 7
try:
    result = tf.function(space["f"])(tf.constant(-3))
except TypeError as e:
    assert "source" in str(e), e
else:
    assert int(result) == 3
