"""`tf.nn`: functions of neural networks.

Follows https://www.tensorflow.org/api_docs/python/tf/nn.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.composite_ops.array.rearranging import depth_to_space, space_to_batch, space_to_depth
from intaglio.composite_ops.array.sorting import in_top_k, top_k
from intaglio.composite_ops.linalg.norms import l2_normalize
from intaglio.composite_ops.math.reductions import zero_fraction
from intaglio.composite_ops.nn.activations import (
    bias_add,
    crelu,
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    silu,
    softplus,
    softsign,
    swish,
)
from intaglio.composite_ops.nn.convolutions import (
    atrous_conv2d,
    atrous_conv2d_transpose,
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
    conv_transpose,
    convolution,
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    separable_conv2d,
)
from intaglio.composite_ops.nn.dropouts import dropout
from intaglio.composite_ops.nn.embeddings import embedding_lookup
from intaglio.composite_ops.nn.losses import (
    l2_loss,
    log_poisson_loss,
    log_softmax,
    sigmoid_cross_entropy_with_logits,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits,
)
from intaglio.composite_ops.nn.pools import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_pool_with_argmax,
    pool,
)
from intaglio.composite_ops.nn.statistics import (
    batch_norm_with_global_normalization,
    batch_normalization,
    compute_average_loss,
    local_response_normalization,
    lrn,
    moments,
    normalize_moments,
    scale_regularization_loss,
    sufficient_statistics,
    weighted_moments,
)
from intaglio.tf.math.functions import sigmoid, tanh
from intaglio.tf.nn import experimental

__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "avg_pool",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm_with_global_normalization",
    "batch_normalization",
    "bias_add",
    "compute_average_loss",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "crelu",
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dropout",
    "elu",
    "embedding_lookup",
    "experimental",
    "gelu",
    "in_top_k",
    "l2_loss",
    "l2_normalize",
    "leaky_relu",
    "local_response_normalization",
    "log_poisson_loss",
    "log_softmax",
    "lrn",
    "max_pool",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_pool_with_argmax",
    "moments",
    "normalize_moments",
    "pool",
    "relu",
    "relu6",
    "scale_regularization_loss",
    "selu",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "silu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "softsign",
    "space_to_batch",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "sufficient_statistics",
    "swish",
    "tanh",
    "top_k",
    "weighted_cross_entropy_with_logits",
    "weighted_moments",
    "zero_fraction",
]

# Names that are imported on first access: see `intaglio.base.later`.
LATER: dict[str, str] = {
    "dilation2d": "intaglio.composite_ops.nn.morphology:dilation2d",
    "erosion2d": "intaglio.composite_ops.nn.morphology:erosion2d",
    "all_candidate_sampler": "intaglio.composite_ops.nn.sampling:all_candidate_sampler",
    "approx_max_k": "intaglio.tf.math.incomplete:approx_max_k",
    "approx_min_k": "intaglio.tf.math.incomplete:approx_min_k",
    "collapse_repeated": "intaglio.composite_ops.nn.ctc:collapse_repeated",
    "compute_accidental_hits": "intaglio.composite_ops.nn.sampling:compute_accidental_hits",
    "ctc_greedy_decoder": "intaglio.tf.nn.ctc_decoding:ctc_greedy_decoder",
    "with_space_to_batch": "intaglio.composite_ops.nn.dilated_windows:with_space_to_batch",
    "ctc_loss": "intaglio.composite_ops.nn.ctc:ctc_loss",
    "ctc_unique_labels": "intaglio.composite_ops.nn.ctc:ctc_unique_labels",
    "embedding_lookup_sparse": "intaglio.ragged.sparse_embeddings:embedding_lookup_sparse",
    "safe_embedding_lookup_sparse": "intaglio.ragged.sparse_embeddings:safe_embedding_lookup_sparse",
    "fixed_unigram_candidate_sampler": "intaglio.composite_ops.nn.sampling:fixed_unigram_candidate_sampler",
    "isotonic_regression": "intaglio.composite_ops.nn.isotonic:isotonic_regression",
    "nce_loss": "intaglio.composite_ops.nn.sampling:nce_loss",
    "sampled_softmax_loss": "intaglio.composite_ops.nn.sampling:sampled_softmax_loss",
    "ctc_beam_search_decoder": "intaglio.tf.nn.ctc_decoding:ctc_beam_search_decoder",
    "fractional_avg_pool": "intaglio.composite_ops.nn.fractional_pools:fractional_avg_pool",
    "fractional_max_pool": "intaglio.composite_ops.nn.fractional_pools:fractional_max_pool",
    "learned_unigram_candidate_sampler": "intaglio.composite_ops.nn.sampling:learned_unigram_candidate_sampler",
}
__all__ += [*LATER]

if TYPE_CHECKING:
    from intaglio.composite_ops.nn.ctc import collapse_repeated as collapse_repeated
    from intaglio.composite_ops.nn.ctc import ctc_loss as ctc_loss
    from intaglio.composite_ops.nn.ctc import ctc_unique_labels as ctc_unique_labels
    from intaglio.composite_ops.nn.dilated_windows import with_space_to_batch as with_space_to_batch
    from intaglio.composite_ops.nn.fractional_pools import (
        fractional_avg_pool as fractional_avg_pool,
    )
    from intaglio.composite_ops.nn.fractional_pools import (
        fractional_max_pool as fractional_max_pool,
    )
    from intaglio.composite_ops.nn.isotonic import isotonic_regression as isotonic_regression
    from intaglio.composite_ops.nn.morphology import dilation2d as dilation2d
    from intaglio.composite_ops.nn.morphology import erosion2d as erosion2d
    from intaglio.composite_ops.nn.sampling import all_candidate_sampler as all_candidate_sampler
    from intaglio.composite_ops.nn.sampling import (
        compute_accidental_hits as compute_accidental_hits,
    )
    from intaglio.composite_ops.nn.sampling import (
        fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    )
    from intaglio.composite_ops.nn.sampling import (
        learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    )
    from intaglio.composite_ops.nn.sampling import nce_loss as nce_loss
    from intaglio.composite_ops.nn.sampling import sampled_softmax_loss as sampled_softmax_loss
    from intaglio.ragged.sparse_embeddings import embedding_lookup_sparse as embedding_lookup_sparse
    from intaglio.ragged.sparse_embeddings import (
        safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
    )
    from intaglio.tf.math.incomplete import approx_max_k as approx_max_k
    from intaglio.tf.math.incomplete import approx_min_k as approx_min_k
    from intaglio.tf.nn.ctc_decoding import ctc_beam_search_decoder as ctc_beam_search_decoder
    from intaglio.tf.nn.ctc_decoding import ctc_greedy_decoder as ctc_greedy_decoder
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
