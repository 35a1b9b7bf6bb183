"""tf-siren: a network of sines is trained."""

import numpy as np
import tensorflow as tf
from tf_siren import SIRENModel

model = SIRENModel(
    units=8, final_units=1, final_activation="sigmoid", num_layers=3, w0_initial=30.0
)
model(tf.zeros([1, 2]))
model.set_weights([0.3 * np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
model.compile("adam", "mse")
x = np.cos(np.arange(40.0)).reshape(20, 2).astype("float32")
history = model.fit(x, x[:, :1], epochs=3, shuffle=False, verbose=0).history
print("loss", [f"{v:.4f}" for v in history["loss"]])
print("output", np.round(model(x[:2]).numpy().ravel(), 4).tolist())
