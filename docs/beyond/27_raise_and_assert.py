"""`raise` and `assert` under a tensor's condition raise the program's own error when the graph runs, with the values of that moment, at the line."""

import traceback

from intaglio import tf


class TooMuch(Exception):
    def __init__(self, amount, of):
        super().__init__(f"{amount} of {of}")


@tf.function
def spend(balance, amount):
    assert amount >= 0, f"amount is {amount}"
    if amount > balance:
        raise TooMuch(amount, balance)
    return balance - amount


assert int(spend(tf.constant(10), tf.constant(4))) == 6
try:
    spend(tf.constant(10), tf.constant(40))
except TooMuch as e:
    assert str(e) == "40 of 10"
    shown = "".join(traceback.format_exception(e))
    assert "raise TooMuch(amount, balance)" in shown
else:
    raise AssertionError("no error")
try:
    spend(tf.constant(10), tf.constant(-1))
except (AssertionError, tf.errors.InvalidArgumentError) as e:
    assert "amount is -1" in str(e)
else:
    raise AssertionError("no error")
