"""`tf.quantization.experimental`: converting saved models, which is the business of a compiler.

Follows https://www.tensorflow.org/api_docs/python/tf/quantization/experimental.
"""

from __future__ import annotations

from typing import Any


def quantize_saved_model(
    saved_model_path: str,
    output_directory: str | None = None,
    quantization_options: Any = None,
    representative_dataset: Any = None,
    *,
    overwrite_output_directory: bool = False,
) -> Any:
    """Not done here: TensorFlow's converter is a compiler of its own.

    Raises NotImplementedError.
    """
    raise NotImplementedError(
        "tf.quantization.experimental.quantize_saved_model: models are not quantised here; "
        "load the saved model in TensorFlow and convert it there"
    )


__all__ = ["quantize_saved_model"]
