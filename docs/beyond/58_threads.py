"""Threads that call a function at once make one trace for each signature, those of other signatures side by side; after a fork functions go on."""

import os
import threading
import time

from intaglio import tf

active, most = 0, 0
lock = threading.Lock()


@tf.function
def f(x):
    global active, most
    with lock:
        active += 1
        most = max(most, active)
    time.sleep(0.05)
    with lock:
        active -= 1
    return x + 1


f(tf.zeros([1]))
barrier = threading.Barrier(8)
results = []


def call(size):
    barrier.wait()
    results.append(f(tf.zeros([size])).shape[0])


threads = [threading.Thread(target=call, args=(2 + i % 4,)) for i in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(results) == [2, 2, 3, 3, 4, 4, 5, 5]
assert f.experimental_get_tracing_count() == 5 and most > 1

if hasattr(os, "fork"):
    child = os.fork()
    if not child:
        os._exit(0 if float(f(tf.zeros([9]))[0]) == 1.0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
