"""Ragged and sparse tensors and extension types as elements.

What they are in every transformation was asked of TensorFlow 2.21: see
`tests/parity/snippets/data_ragged.txt`.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from intaglio import tf
from intaglio.data import snapshots
from intaglio.ops.control_flow.variants import Variants, VariantTensor
from intaglio.ops.ragged.variant import EncodedRagged

Dataset = tf.data.Dataset

# A record of a ragged tensor and one of a sparse one, as TensorFlow writes them.
RAGGED = (
    b'\x08\x15\x12\x00"32\n\x13RaggedTensorVariant\x1a\r\x08\t\x12\x04\x12\x02\x08\x03R\x03\x00'
    b"\x02\x02\x1a\x0c\x08\x03\x12\x04\x12\x02\x08\x02:\x02\x01\x02"
)
SPARSE = (
    b'\x08\x15\x12\x04\x12\x02\x08\x03"l&"!\n\x12tensorflow::Tensor\x1a\x10\x08\t\x12\x08\x12\x02'
    b"\x08\x02\x12\x02\x08\x01R\x02\x00\x02\n\x12tensorflow::Tensor\x1a\x0c\x08\x03\x12\x04\x12\x02\x08"
    b"\x02:\x02\x01\x02\n\x12tensorflow::Tensor\x1a\x0b\x08\t\x12\x04\x12\x02\x08\x01R\x01\x03"
)


def lists(dataset):
    """The elements of a dataset of ragged tensors."""
    return [e.to_list() if hasattr(e, "to_list") else e.numpy().tolist() for e in dataset]


def test_records_of_tensorflow_are_read():
    found = snapshots.array_of(RAGGED)
    assert [s.tolist() for s in found.splits] == [[0, 2, 2]]
    assert found.values.tolist() == [1, 2]
    found = snapshots.array_of(SPARSE)
    assert found.shape == (3,)
    parts = [item.array.tolist() for item in found.items]
    assert parts == [[[0], [2]], [1, 2], [3]]


def test_records_are_read_again():
    ragged = EncodedRagged([np.array([0, 2, 3])], np.array([b"a", b"", b"c"], object))
    found = snapshots.array_of(snapshots.record_of(Variants([ragged] * 2, (2, 1))))
    assert found.shape == (2, 1)
    assert found.items[1].values.tolist() == [b"a", b"", b"c"]
    (half,) = Variants([VariantTensor(np.float32(2))] * 3, (3,))[2:]
    assert snapshots.array_of(snapshots.record_of(half)).array == 2
    with pytest.raises(TypeError, match="cannot be written"):
        snapshots.record_of(Dataset.range(2).handle_tensor._array)


def test_tensors_of_variants_are_cut_like_arrays():
    table = Variants([VariantTensor(i) for i in range(6)], (3, 2))
    assert [i.array for i in table[1].items] == [2, 3]
    assert [i.array for i in table[-1].items] == [4, 5]
    assert table[1:].shape == (2, 2)
    assert Variants.joined([table[:1], table[2:]]).shape == (2, 2)
    assert [row.shape for row in table] == [(2,)] * 3
    assert Variants.stacked([table, table]).shape == (2, 3, 2)
    with pytest.raises(IndexError):
        table[3]


def test_datasets_of_ragged_tensors_are_pickled():
    d = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])).batch(2)
    assert lists(pickle.loads(pickle.dumps(d))) == [[[1, 2], []], [[3]]]
    assert d.fingerprint().dtype is tf.uint64


def test_rows_of_unknown_size_in_sparse_batches():
    d = Dataset.range(1, 4).map(tf.range)
    (one, two) = d.sparse_batch(2, tf.TensorShape([None]))
    assert one.dense_shape.numpy().tolist() == [2, 2]  # as long as the longest
    assert tf.sparse.to_dense(two).numpy().tolist() == [[0, 1, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible with the row shape"):
        list(d.sparse_batch(2, [3, 3]))


def test_own_encoders_of_extension_types_are_used():
    seen = []

    class Negated(tf.experimental.ExtensionTypeBatchEncoder):
        def batch(self, spec, batch_size):
            return Value.Spec(tf.TensorSpec([batch_size], tf.int32))

        def unbatch(self, spec):
            return Value.Spec(tf.TensorSpec([], tf.int32))

        def encode(self, spec, value, minimum_rank=0):
            seen.append(minimum_rank)
            return -value.x

        def decode(self, spec, encoded_value):
            return Value(-encoded_value)

        def encoding_specs(self, spec):
            return spec.x

    class Value(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        __batch_encoder__ = Negated()

    d = Dataset.from_tensor_slices(Value([1, 2, 3]))
    assert seen == [1]
    assert [v.x.numpy() for v in d] == [1, 2, 3]
    assert [v.x.numpy().tolist() for v in d.batch(2)] == [[1, 2], [3]]
    assert [v.x.numpy() for v in d.batch(2).unbatch()] == [1, 2, 3]


def test_extension_types_that_cannot_be_put_together():
    class Value(tf.experimental.ExtensionType):
        x: tf.Tensor

    d = Dataset.from_tensors(Value([1, 2, 3]))
    assert [v.x.numpy().tolist() for v in d] == [[1, 2, 3]]
    with pytest.raises(TypeError, match="BatchableExtensionType"):
        d.batch(2)
    with pytest.raises(TypeError, match="BatchableExtensionType"):
        Dataset.from_tensor_slices(Value([1, 2, 3]))


def test_unique_distinguishes_shapes():
    d = Dataset.range(3).map(lambda n: tf.zeros([n, 0], tf.int32)).unique()
    assert [e.shape[0] for e in d] == [0, 1, 2]


def test_batches_of_datasets():
    d = Dataset.range(6).window(2).batch(2)
    assert d.element_spec == tf.data.DatasetSpec(tf.TensorSpec((), tf.int64), [None])
    assert lists(d.unbatch().flat_map(lambda w: w)) == [*range(6)]


def test_options_of_own_classes_come_from_their_inputs():
    class Own(Dataset):
        def __init__(self, base):
            self.base = base
            super().__init__(base._variant_tensor)

        def _inputs(self):
            return [self.base]

        @property
        def element_spec(self):
            return self.base.element_spec

    options = tf.data.Options()
    options.deterministic = False
    own = Own(Dataset.range(3).with_options(options))
    assert own.map(lambda x: x + 1).options().deterministic is False
    assert lists(own.batch(2)) == [[0, 1], [2]]
    with pytest.raises(ValueError, match="has no effect"):
        own.options().deterministic = True


class _Framed(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    frame: tf.TensorShape


def test_shapes_in_extension_types_are_those_of_batches():
    """Recorded from TensorFlow 2.21."""
    value = _Framed(tf.constant([[1, 2], [3, 4]]), tf.TensorShape([None, 3]))
    batches = tf.data.Dataset.from_tensors(value).batch(1)
    spec = batches.element_spec
    assert (spec.values.shape.as_list(), spec.frame.as_list()) == ([None, 2, 2], [None, None, 3])
    assert [b.frame.as_list() for b in batches] == [[None, None, 3]]
    assert batches.unbatch().element_spec.frame.as_list() == [None, 3]
    rows = tf.data.Dataset.from_tensor_slices(_Framed(tf.zeros([2, 2]), tf.TensorShape([2, 3])))
    assert rows.element_spec.frame.as_list() == [3]
    unknown = _Framed(tf.zeros([2]), tf.TensorShape(None))
    assert tf.data.Dataset.from_tensor_slices(unknown).element_spec.frame.rank is None


@pytest.mark.parametrize(
    ("dtype", "padding"),
    [(tf.int64, 1), (tf.int64, True), (tf.float32, 1), (tf.float64, 1.0), (tf.uint8, np.int64(1)),
     (tf.bool, np.uint8(1)), (tf.string, 0)],
)  # fmt: skip
def test_padding_is_of_the_components_dtype(dtype, padding):
    # As in TensorFlow 2.21, a Python number is int32 or float32.
    one = tf.data.Dataset.from_tensors(tf.zeros([1], dtype))
    with pytest.raises(TypeError, match="does not match type"):
        one.padded_batch(2, padded_shapes=[None], padding_values=padding)
    one.padded_batch(2, padded_shapes=[None], padding_values=tf.zeros([], dtype))
