"""Libraries' own types of dense values. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf
from intaglio.tensorflow_name.dense_specs import DenseSpec


class _ScaledSpec(DenseSpec):
    """The type of `_Scaled`, in the style of TensorFlow Probability's deferred tensors."""

    def __init__(self, base: Any, shape: Any, dtype: Any) -> None:
        super().__init__(shape, dtype)
        self._base = base

    @property
    def value_type(self) -> Any:
        return _Scaled

    def _serialize(self) -> Any:
        return (self._base, self._shape, self._dtype)

    @property
    def _component_specs(self) -> Any:
        return {"base": self._base}

    def _to_components(self, value: Any) -> Any:
        return {"base": value.base}

    def _from_components(self, components: Any) -> Any:
        return _Scaled(components["base"])

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        other: Any = spec_or_value
        if not isinstance(other, tf.TypeSpec):
            other = tf.type_spec_from_value(other)
        # The private name by which subclasses of libraries reach it.
        return self._TypeSpec__is_compatible((self._base,), (other._base,))  # type: ignore[attr-defined]


class _Scaled(tf.experimental.ExtensionType.__mro__[1]):  # type: ignore[misc]  # CompositeTensor
    """Twice a tensor."""

    def __init__(self, base: Any) -> None:
        self.base = base

    @property
    def _type_spec(self) -> Any:
        return _ScaledSpec(tf.TensorSpec.from_tensor(self.base), self.base.shape, self.base.dtype)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        return self.base * 2


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int32])
@pytest.mark.parametrize("shape", [[], [3], [2, 1]])
def test_a_value_of_such_a_type_crosses_a_function(dtype: Any, shape: list[int]) -> None:
    traces: list[Any] = []

    @tf.function
    def f(value: Any) -> Any:
        traces.append(type(value))
        return tf.convert_to_tensor(value) + 1

    for _ in range(2):
        found = f(_Scaled(tf.ones(shape, dtype)))
        assert found.dtype == dtype
        assert found.numpy().tolist() == (tf.ones(shape, dtype) * 3).numpy().tolist()
    assert traces == [_Scaled]


def test_a_dense_type_has_shape_dtype_and_name() -> None:
    spec = _ScaledSpec(tf.TensorSpec([3]), [3], tf.float64)
    assert (spec.shape, spec.dtype, spec.name) == (tf.TensorShape([3]), tf.float64, None)
    assert isinstance(tf.TensorSpec([3]), DenseSpec)
    assert not isinstance(tf.RaggedTensorSpec([3]), DenseSpec)


def test_parts_of_specs_are_compared_by_the_private_name() -> None:
    spec = _ScaledSpec(tf.TensorSpec([None]), [None], tf.float32)
    assert spec.is_compatible_with(_Scaled(tf.ones([2])))
    assert not spec.is_compatible_with(_Scaled(tf.ones([2], tf.float64)))
    assert not spec.is_compatible_with(_Scaled(tf.ones([2, 2])))
