"""Why a function was traced again, what it has read, and a report of the run in one file."""

import pathlib
import sys
import tempfile

import intaglio
from intaglio import tf


class Model:
    rate = 0.5

    @tf.function
    def scaled(self, x, times):
        for _ in range(times):
            x = x * self.rate
        return x


model = Model()
for n in (1, 2):
    model.scaled(tf.ones([3]), n)
print(intaglio.last_retrace().changes[0])
model.rate = 0.25
try:
    with intaglio.captures("error"):
        model.scaled(tf.ones([3]), 2)
except intaglio.StaleCaptureError as e:
    print(str(e).partition("since: ")[2].partition(" (")[0])
folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()
intaglio.report().save(pathlib.Path(folder, "report.html"))
print("wrote report.html")
