"""The name `tensorflow`: what it and its submodules resolve to.

`install_as_tensorflow()` makes `import tensorflow` give `intaglio.tf` in this process. The
documented submodules are those of `intaglio.tf`; the few undocumented ones that libraries
import are in `PRIVATE`.
"""

from __future__ import annotations

import types

from intaglio.base import alias
from intaglio.tensorflow_name import absent, keras_files

_TRACKED = "intaglio.tensorflow_name.tracked_structures"
_CONTEXT = "intaglio.tensorflow_name.eager_context"

# Modules that TensorFlow does not document and libraries import all the same: their names,
# where we have them, and which library imports them.
PRIVATE: dict[str, dict[str, str]] = {
    # Keras: ops.slice_update
    "compiler.tf2xla.python.xla": {
        "dynamic_update_slice": "intaglio.tensorflow_name.slice_updates:dynamic_update_slice"
    },
    # Keras: clear_session, the end of every epoch. Sonnet: the kind of LSTM
    "python.eager.context": {
        "async_wait": f"{_CONTEXT}:async_wait",
        "context": f"{_CONTEXT}:context",
        "executing_eagerly": "intaglio.trace.scopes:executing_eagerly",
    },
    # Keras: trainers where a device other than the host's is listed
    "python.framework.config": {
        "disable_op_determinism": f"{_CONTEXT}:disable_op_determinism",
        "enable_op_determinism": "intaglio.tf.config.experimental:enable_op_determinism",
        "is_op_determinism_enabled": f"{_CONTEXT}:is_op_determinism_enabled",
    },
    # Programs that read event files
    "core.util.event_pb2": {"Event": "intaglio.graphdef.event_messages:Event"},
    # Keras: export
    "python.framework.tensor_util": {"is_tf_type": "intaglio.tf:is_tensor"},
    # Programs that read event files
    "python.lib.io.tf_record": {
        "tf_record_iterator": "intaglio.tensorflow_name.record_iterator:tf_record_iterator"
    },
    # Keras: matmul of two sparse matrices
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        name: f"intaglio.tensorflow_name.sparse_products:{name}"
        for name in (
            "csr_sparse_matrix_to_sparse_tensor",
            "sparse_matrix_sparse_mat_mul",
            "sparse_tensor_to_csr_sparse_matrix",
        )
    },
    # Keras: nanmax and its like
    "python.ops.math_ops": {"is_nan": "intaglio.tf.math:is_nan"},
    # Programs that follow the guides on tf.experimental.numpy
    "python.ops.numpy_ops.np_config": {
        "enable_numpy_behavior": "intaglio.numpy_api.np_config:experimental_enable_numpy_behavior"
    },
    # Keras: nodes of its trees
    "python.trackable.data_structures": {
        "ListWrapper": f"{_TRACKED}:ListWrapper",
        "_DictWrapper": f"{_TRACKED}:_DictWrapper",
    },
}

ALIAS = alias.Alias("tensorflow", "intaglio.tf", PRIVATE, absent.module_message)


def install_as_tensorflow() -> None:
    """Makes `import tensorflow`, and submodules that programs use, give Intaglio.

    In this process only, and for programs and libraries alike: unmodified scripts, Keras.
    Calling it again changes nothing. Raises ImportError if TensorFlow is imported already.

    >>> import intaglio
    >>> intaglio.install_as_tensorflow()
    >>> import tensorflow
    >>> tensorflow.constant([1, 2]).shape
    TensorShape([2])
    """
    alias.install(ALIAS)
    keras_files.install()


def take_over(module: types.ModuleType) -> None:
    """As `install_as_tensorflow`, called by a module `tensorflow` while it is imported.

    Importing it gives `intaglio.tf` then.
    """
    alias.install(ALIAS, replaced=module)
    ALIAS.take_over(module)
    keras_files.install()
