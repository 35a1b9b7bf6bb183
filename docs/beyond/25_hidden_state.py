"""What functions that a loop calls write, in attributes, items, closures and globals, is a variable of the loop."""

from intaglio import tf


class Range:
    def __init__(self):
        self.least = None
        self.seen = {"count": 0}

    def see(self, value):
        self.seen["count"] += 1
        if self.least is None or value < self.least:
            self.least = value


@tf.function
def least(values):
    found, total = Range(), 0

    def add(value):
        nonlocal total
        total += value

    for value in values:
        found.see(value)
        add(value)
    return found.least, found.seen["count"], total


assert [int(v) for v in least(tf.constant([5, 1, 3]))] == [1, 3, 9]
