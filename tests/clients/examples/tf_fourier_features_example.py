"""tf-fourier-features: a network of Fourier features is trained."""

import numpy as np
from tf_fourier_features import FourierFeatureMLP

model = FourierFeatureMLP(
    units=8, final_units=1, final_activation="sigmoid", num_layers=2, gaussian_projection=6
)
x = np.cos(np.arange(40.0)).reshape(20, 2).astype("float32")
model(x)
model.set_weights([0.3 * np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
model.compile("adam", "mse")
history = model.fit(x, x[:, :1], epochs=2, shuffle=False, verbose=0).history
print("loss", [f"{v:.4f}" for v in history["loss"]])
