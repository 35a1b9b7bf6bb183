"""Loops with `else`, `match`, `:=`, private names and what `yield` stands beside become graph."""

from intaglio import tf


class Machine:
    def __init__(self):
        self.__step = tf.constant(2)

    def __next(self, x):
        return x + self.__step if x > 0 else x

    @tf.function
    def run(self, x):
        return self.__next(x)


@tf.function
def first_factor(n):
    found = 0
    for k in tf.range(2, n):
        if n % k == 0:
            found = k
            break
    else:
        found = n
    return found


@tf.function
def collatz(n):
    steps = 0
    while (n := n // 2 if n % 2 == 0 else 3 * n + 1) > 1:
        steps += 1
    else:
        steps += 1
    return steps


@tf.function
def kind(x):
    match x:
        case 0:
            return tf.constant(10)
        case v if v < 0:
            return tf.constant(20)
        case _:
            return tf.constant(30)


@tf.function
def generated(x):
    def halves(x):
        for _ in range(3):
            x = x / 2
            yield x

    return sum(halves(x))


assert int(Machine().run(tf.constant(3))) == 5
assert [int(first_factor(tf.constant(n))) for n in (15, 7)] == [3, 7]
assert int(collatz(tf.constant(6))) == 8
assert [int(kind(tf.constant(n))) for n in (0, -3, 4)] == [10, 20, 30]
assert float(generated(tf.constant(8.0))) == 7.0
