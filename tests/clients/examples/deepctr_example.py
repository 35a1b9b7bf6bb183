"""deepctr: a factorisation machine with a network, trained for a few steps and saved with its names."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from deepctr.feature_column import DenseFeat, SparseFeat, get_feature_names
from deepctr.layers import custom_objects
from deepctr.models import DeepFM

tf.random.set_seed(1)
columns = [SparseFeat("user", 5, embedding_dim=4), SparseFeat("item", 7, 4), DenseFeat("age", 1)]
rng = np.random.default_rng(0)
x = {
    "user": rng.integers(0, 5, 32),
    "item": rng.integers(0, 7, 32),
    "age": rng.random(32).astype("float32"),
}
print("features", get_feature_names(columns))
model = DeepFM(columns, columns, dnn_hidden_units=(8,), dnn_dropout=0.0)
for v in model.weights:
    v.assign(tf.fill(v.shape, 0.05))
model.compile("sgd", "binary_crossentropy")
history = model.fit(x, x["user"] % 2, batch_size=8, epochs=3, verbose=0, shuffle=False)
print("loss", np.round(history.history["loss"], 4).tolist())
print("names", sorted(v.name for v in model.weights))
with tempfile.TemporaryDirectory() as folder:
    path = str(pathlib.Path(folder, "model.h5"))
    model.save(path, save_format="h5")
    again = tf.keras.models.load_model(path, custom_objects)
print("loaded", bool(np.allclose(model.predict(x, verbose=0), again.predict(x, verbose=0))))
