"""DeepReg: losses, a warp and a network of image registration."""

import numpy as np
from deepreg.loss.deform import BendingEnergy
from deepreg.loss.image import GlobalMutualInformation, LocalNormalizedCrossCorrelation
from deepreg.model import layer
from deepreg.model.backbone import UNet

numbers = np.arange(2 * 8**3, dtype="float32").reshape(2, 8, 8, 8)
fixed, moving = np.cos(numbers) / 2 + 0.5, np.sin(numbers) / 2 + 0.5
print(f"correlation {float(LocalNormalizedCrossCorrelation(kernel_size=3)(fixed, moving)):.4f}")
print(f"information {float(GlobalMutualInformation()(fixed, moving)):.4f}")
field = 0.2 * np.cos(np.arange(2 * 8**3 * 3, dtype="float32")).reshape(2, 8, 8, 8, 3)
print("bending", np.round(np.array(BendingEnergy()(field)), 4).tolist())
warped = layer.Warping(fixed_image_size=(8, 8, 8))([field, fixed])
print(f"warped {float(np.sum(warped)):.2f}")
network = UNet(
    image_size=(16, 16, 16),
    num_channel_initial=2,
    depth=2,
    out_kernel_initializer="he_normal",
    out_activation="sigmoid",
    out_channels=1,
)
print("network", network(np.zeros((1, 16, 16, 16, 2), "float32")).shape)
