"""tensorflow-wavelets: a wavelet transform and its inverse."""

import numpy as np
from tensorflow_wavelets.Layers import DWT

x = np.cos(np.arange(2 * 16 * 16)).reshape(2, 16, 16, 1).astype("float32")
parts = DWT.DWT(wavelet_name="haar", concat=0)(x)
back = DWT.IDWT(wavelet_name="haar", concat=0)(parts)
print("parts", np.shape(parts), f"{float(np.abs(np.array(parts)).sum()):.2f}")
print("back", np.shape(back), f"{float(np.abs(np.array(back)).sum()):.2f}")
