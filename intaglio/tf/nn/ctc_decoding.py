"""Decoding of a network's logits of each step: `tf.nn.ctc_greedy_decoder` and its sibling."""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import SparseTensor


@dispatchable
def ctc_greedy_decoder(
    inputs: Any, sequence_length: Any, merge_repeated: bool = True, blank_index: int | None = None
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
    labels = SparseTensor(found.decoded_indices, found.decoded_values, found.decoded_shape)
    return [labels], found.log_probability


@dispatchable
def ctc_beam_search_decoder(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """([labels, ...], log-probabilities): the likeliest labels, over all their alignments.

    `inputs` are logits [time, batch, classes], of which the last class is the blank;
    `sequence_length` [batch]. There are `top_paths` SparseTensors [batch, longest] of int64, the
    best first, and log-probabilities [batch, top_paths]; the search keeps `beam_width` prefixes
    at each step. Raises FailedPreconditionError for lengths beyond the steps, and
    InvalidArgumentError for more paths than the beam is wide or than there are.

    https://www.tensorflow.org/api_docs/python/tf/nn/ctc_beam_search_decoder

    >>> steps = tf.math.log([[[0.4, 0.0, 0.6]], [[0.4, 0.0, 0.6]]])
    >>> labels, scores = tf.nn.ctc_beam_search_decoder(steps, [2], top_paths=2)
    >>> [found.values.numpy().tolist() for found in labels]
    [[0], []]
    >>> tf.exp(scores).numpy().round(2)
    array([[0.64, 0.36]], dtype=float32)
    """
    found = raw.CTCBeamSearchDecoder(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths, merge_repeated=False
    )
    parts = zip(found.decoded_indices, found.decoded_values, found.decoded_shape, strict=True)
    return [SparseTensor(*part) for part in parts], found.log_probability


__all__ = ["ctc_beam_search_decoder", "ctc_greedy_decoder"]
