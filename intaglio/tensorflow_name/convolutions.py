"""Parts of `tensorflow.python.ops.nn_ops`, by which layers of libraries convolve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.nn import convolutions
from intaglio.opdef.tensor import Tensor
from intaglio.trace import scopes


class Convolution:
    """A convolution of inputs of one shape with filters of one shape: a function of both.

    As `tf.nn.convolution`. Raises ValueError for inputs of a lower rank than the filters have, for channels
    that are no multiple of the filters', and where neither shape has a rank.
    """

    def __init__(
        self,
        input_shape: TensorShape,
        filter_shape: TensorShape,
        padding: str,
        strides: Any = None,
        dilation_rate: Any = None,
        name: str | None = None,
        data_format: str | None = None,
        num_spatial_dims: int | None = None,
    ) -> None:
        ranks = [s.rank for s in (filter_shape, input_shape) if s.rank is not None]
        if not ranks:
            raise ValueError(
                f"Rank of convolution must be known. Received: input_shape={input_shape} of rank None"
            )
        self.num_spatial_dims: int = ranks[0] - 2 if num_spatial_dims is None else num_spatial_dims
        if input_shape.rank is not None and input_shape.rank < self.num_spatial_dims + 2:
            raise ValueError(
                f"`input.shape.rank` must be >= than `num_spatial_dims + 2`. Received: input.shape={input_shape} "
                f"of rank {input_shape.rank} and num_spatial_dims={self.num_spatial_dims}"
            )
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self.padding, self.data_format, self.name = padding, data_format, name
        self.strides, self.dilation_rate = strides, dilation_rate
        self._check_channels()

    def _check_channels(self) -> None:
        if self.input_shape.rank is None or self.filter_shape.rank is None:
            return
        is_first = (self.data_format or "").startswith("NC")
        channels = self.input_shape[-self.num_spatial_dims - 1 if is_first else -1]
        of_filters = self.filter_shape[self.num_spatial_dims]
        if channels and of_filters and channels % of_filters:
            raise ValueError(
                "The number of input channels is not divisible by the corresponding number of output filters. Received: "
                f"input.shape={self.input_shape} with {channels} channels and filters.shape={self.filter_shape} with "
                f"{of_filters} output filters."
            )

    def __call__(self, inp: Any, filter: Any) -> Tensor:
        """The convolution of inputs with filters."""
        return convolutions.convolution(
            inp, filter, self.strides, self.padding, self.data_format, self.dilation_rate, self.name
        )


def squeeze_batch_dims(
    inp: Any, op: Callable[[Tensor], Any], inner_rank: int, name: str | None = None
) -> Tensor:
    """An op on inputs with one batch dimension, of an input that has any number of them.

    `inner_rank` is how many dimensions an element of the batch has, in the input and in the result.
    """
    with scopes.name_scope(name or "squeeze_batch_dims"):
        return convolutions.of_flat_batch(inp, inner_rank, op)
