"""`tf.sparse`: sparse tensors and their algebra.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse.
"""

from intaglio.sparse.api import SparseTensor
from intaglio.tf.sparse import arithmetic, arranging, features, segments
from intaglio.tf.sparse.arithmetic import *
from intaglio.tf.sparse.arranging import *
from intaglio.tf.sparse.features import *
from intaglio.tf.sparse.segments import *

__all__ = ["SparseTensor"]
__all__ += arithmetic.__all__
__all__ += arranging.__all__
__all__ += features.__all__
__all__ += segments.__all__
