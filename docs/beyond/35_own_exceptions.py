"""An error that a program raises while it is traced is the same object, whatever its constructor takes; a note has the line."""

from intaglio import tf


class Refused(Exception):
    def __init__(self, code, *, reason):
        super().__init__(code, reason)
        self.code, self.reason = code, reason


raised = []


@tf.function
def f(x):
    raised.append(Refused(7, reason="no"))
    raise raised[0]


try:
    f(tf.constant(1))
except Refused as e:
    assert e is raised[0] and (e.code, e.reason) == (7, "no")
    assert any("raise raised[0]" in note for note in getattr(e, "__notes__", ()))
else:
    raise AssertionError("no error")
