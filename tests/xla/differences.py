"""How far XLA's results may be from the interpreter's where a sample's own tolerance is too narrow.

XLA fuses products with sums and adds in another order than NumPy, and has other algorithms.
"""

from __future__ import annotations

# By op: the tolerance relative to max(1, |number|), and why.
TOLERANCES: dict[str, tuple[float, str]] = {
    **{
        f"{inverse}{real}FFT{rank}": (2e-5, "another algorithm, which rounds in another order")
        for inverse in ("", "I")
        for real in ("", "R")
        for rank in ("", "2D", "3D", "ND")
    },
    **{
        f"{name}{version}": (2e-5, "sums in another order")
        for name in ("FusedBatchNorm", "FusedBatchNormGrad")
        for version in ("", "V2", "V3")
    },
    **dict.fromkeys(
        ("Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Conv3D"),
        (1e-06, "sums in another order"),
    ),
    "DepthwiseConv2dNative": (1e-6, "sums in another order"),
    "Eig": (1e-5, "another algorithm"),
    "MatrixExponential": (1e-6, "another approximation by a rational function"),
    "Svd": (1e-6, "another algorithm"),
}
# By op: the results that are unique up to a factor of size 1, such as eigenvectors.
UP_TO_A_FACTOR: dict[str, str] = {"Eig": "eigenvectors"}
# By op: why some of its samples may give something else altogether.
DIFFERENT: dict[str, str] = {
    **dict.fromkeys(
        [
            f"FakeQuantWithMinMaxVars{channels}{gradient}"
            for channels in ("", "PerChannel")
            for gradient in ("", "Gradient")
        ],
        "numbers half way between two steps: XLA divides once where x / (range / steps) divides twice",
    ),
    "CropAndResizeGradBoxes": "samples on the edge of two pixels, where the gradient jumps",
    "Cast": "a float that the integer type does not have gives its nearest number, as XLA says",
}
