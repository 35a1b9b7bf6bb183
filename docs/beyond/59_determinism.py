"""A seed gives the same numbers eagerly, in graphs and in machine code, and calls the same bits; equal graphs have equal fingerprints in every process."""

import os
import subprocess
import sys

from intaglio import tf


def noise():
    return tf.random.uniform([3], seed=3), tf.random.normal([2], seed=4)


found = []
for function in (noise, tf.function(noise), tf.function(noise, jit_compile=True)):
    tf.random.set_seed(7)
    found.append([t.numpy().tolist() for _ in range(2) for t in function()])
assert found[0] == found[1] == found[2]

PROGRAM = """
import sys
import intaglio
from intaglio import tf

@tf.function
def f(x):
    for _ in tf.range(3):
        x = tf.tanh(x) * 2.0
    return x

for n in range(int(sys.argv[1])):
    tf.function(lambda x: x + 1.0)(tf.ones([n]))
f(tf.ones([4]))
print(intaglio.fingerprint(f))
"""
names = [
    subprocess.run(
        [sys.executable, "-m", "intaglio", "run", "-", str(n)],
        input=PROGRAM,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=dict(os.environ),
    ).stdout
    for n in (0, 3)
]
assert names[0] == names[1] and len(names[0].strip()) == 64
