"""A graph is a picture in a notebook or a file that loads nothing: by function, by line, op by op; clicks lead to the source."""

import pathlib
import tempfile

from intaglio import tf


@tf.function(jit_compile=True)
def model(x):
    return tf.nn.relu(x @ x) * 2.0


model(tf.ones([3, 3]))
picture = model.graph("ops")
assert "Relu" in picture.svg and 'class="code"' in picture.svg  # machine code has a colour
assert picture._repr_html_().count("<svg") == 3
with tempfile.TemporaryDirectory() as folder:
    picture.save(pathlib.Path(folder, "model.html"))
