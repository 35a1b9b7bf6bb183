"""Errors of tracing have a code, and a page for it in the wheel: the cause, the reason, what to write instead."""

import intaglio
from intaglio import tf


@tf.function
def f(x):
    if x > 0:
        y = x
    return y


try:
    f(tf.constant(1))
except ValueError as error:
    assert "intaglio.explain_error('IG001')" in error.__notes__[-1]
    page = intaglio.explain_error(error)
assert page == intaglio.explain_error("IG001") and "```python" in page
