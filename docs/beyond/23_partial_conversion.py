"""Only the statement that cannot become graph stays Python, and its error names it and what to write instead; the rest is converted."""

from intaglio import tf


@tf.function
def f(x, names):
    if x > 0:  # becomes graph
        x = x * 2
    with open(names, encoding="utf-8") as file:  # stays Python
        count = sum(1 for _ in file)
    while x < 100:  # becomes graph
        x = x + count
    return x


assert int(f(tf.constant(3), __file__)) >= 100


def refused(x):
    if x > 0:
        del x
    return x


try:
    tf.function(refused)(tf.constant(1))
except Exception as e:
    text = "\n".join([str(e), *getattr(e, "__notes__", ())])
    assert "if x > 0" in text, text
else:
    raise AssertionError("no error")
