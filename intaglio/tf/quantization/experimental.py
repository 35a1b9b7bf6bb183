"""`tf.quantization.experimental`: options for models that are to be quantised.

The messages and files are TensorFlow's, for its converter to read; the conversion itself is the
business of a compiler, and is not done here.

Follows https://www.tensorflow.org/api_docs/python/tf/quantization/experimental.

>>> options = tf.quantization.experimental.QuantizationOptions(signature_keys=["serving_default"])
>>> options.quantization_method.preset_method = (
...     tf.quantization.experimental.QuantizationMethod.METHOD_STATIC_RANGE_INT8
... )
>>> list(options.signature_keys)
['serving_default']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import later

if TYPE_CHECKING:
    from intaglio.data.representative_datasets import (
        TfRecordRepresentativeDatasetSaver as TfRecordRepresentativeDatasetSaver,
    )
    from intaglio.graphdef.quantization_messages import (
        QuantizationComponentSpec as QuantizationComponentSpec,
    )
    from intaglio.graphdef.quantization_messages import QuantizationMethod as QuantizationMethod
    from intaglio.graphdef.quantization_messages import QuantizationOptions as QuantizationOptions
    from intaglio.graphdef.quantization_messages import (
        UnitWiseQuantizationSpec as UnitWiseQuantizationSpec,
    )

_MESSAGES = "intaglio.graphdef.quantization_messages:"
# Names that are imported on first access.
LATER: dict[str, str] = {
    "QuantizationComponentSpec": f"{_MESSAGES}QuantizationComponentSpec",
    "QuantizationMethod": f"{_MESSAGES}QuantizationMethod",
    "QuantizationOptions": f"{_MESSAGES}QuantizationOptions",
    "UnitWiseQuantizationSpec": f"{_MESSAGES}UnitWiseQuantizationSpec",
    "TfRecordRepresentativeDatasetSaver": (
        "intaglio.data.representative_datasets:TfRecordRepresentativeDatasetSaver"
    ),
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)


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


__all__ = [
    "QuantizationComponentSpec",
    "QuantizationMethod",
    "QuantizationOptions",
    "TfRecordRepresentativeDatasetSaver",
    "UnitWiseQuantizationSpec",
    "quantize_saved_model",
]
