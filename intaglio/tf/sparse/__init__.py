"""`tf.sparse`: sparse tensors and their algebra.

Follows https://www.tensorflow.org/api_docs/python/tf/sparse.
"""

from intaglio.ragged import sparse_counting
from intaglio.ragged.sparse_counting import *
from intaglio.sparse import arithmetic, arranging, crosses, segments
from intaglio.sparse.api import SparseTensor
from intaglio.sparse.arithmetic import *
from intaglio.sparse.arranging import *
from intaglio.sparse.crosses import *
from intaglio.sparse.segments import *

__all__ = ["SparseTensor"]
__all__ += arithmetic.__all__
__all__ += arranging.__all__
__all__ += crosses.__all__
__all__ += segments.__all__
__all__ += sparse_counting.__all__
