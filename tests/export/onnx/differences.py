"""Where runtimes of ONNX compute other numbers than the ops of models: by op, the tolerance or the reason."""

from __future__ import annotations

# Relative to max(1, |answer|). Attributes of ONNX' operators are float32, whatever the elements are, and
# onnxruntime has approximations of its own.
TOLERANCE = 2e-6
TOLERANCES = {
    # Products with the op's own weights.
    "ResizeBicubic": 1e-5,
    "ResizeArea": 1e-5,
    "ResizeBilinear": 1e-5,
    # 1 - erf(x).
    "Erfc": 2e-6,
    # Transforms of lengths that are no powers of two.
    **dict.fromkeys(["FFT2D", "FFT3D", "FFTND", "IFFT2D", "IFFT3D", "IFFTND"], 2e-5),
    **dict.fromkeys(["RFFT2D", "RFFT3D", "RFFTND", "IRFFT2D", "IRFFT3D", "IRFFTND"], 2e-5),
}
# Samples, by their labels.
DIFFERENT = {
    "LRN/2": "ONNX' reference takes windows wider than the channels otherwise",
    "Max/16": "onnxruntime leaves NaN out",
    "Min/16": "onnxruntime leaves NaN out",
    "ResizeBilinear/27": "onnxruntime divides by 0 where one row is resized to one",
}
