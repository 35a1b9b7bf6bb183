"""Decoding what a network says of each step: `tf.nn.ctc_greedy_decoder`."""

from __future__ import annotations

from typing import Any

from intaglio.op import raw
from intaglio.op.tensor import Tensor
from intaglio.sparse.api import SparseTensor


def ctc_greedy_decoder(
    inputs: Any,
    sequence_length: Any,
    merge_repeated: bool = True,
    blank_index: int | None = None,
) -> tuple[list[SparseTensor], Tensor]:
    """([labels], scores): the likeliest class of each step, without repetitions and blanks.

    `inputs` are logits [time, batch, classes], `sequence_length` [batch]. The labels are one
    SparseTensor [batch, longest] of int64; `scores` [batch, 1] are minus the sums of the logits
    taken. `blank_index` defaults to the last class; a negative one counts from the end. Without
    `merge_repeated` a class that comes again counts again. Raises InvalidArgumentError for
    lengths beyond the steps.

    https://www.tensorflow.org/api_docs/python/tf/nn/ctc_greedy_decoder

    >>> logits = tf.constant([[[9.0, 1.0, 0.0]], [[9.0, 1.0, 0.0]], [[0.0, 5.0, 1.0]]])
    >>> labels, scores = tf.nn.ctc_greedy_decoder(logits, [3])
    >>> labels[0].values.numpy(), scores.numpy()
    (array([0, 1]), array([[-23.]], dtype=float32))
    """
    found = raw.CTCGreedyDecoder(
        inputs,
        sequence_length,
        merge_repeated=merge_repeated,
        blank_index=-1 if blank_index is None else blank_index,
    )
    labels = SparseTensor(
        found.decoded_indices, found.decoded_values, found.decoded_shape
    )
    return [labels], found.log_probability


__all__ = ["ctc_greedy_decoder"]
