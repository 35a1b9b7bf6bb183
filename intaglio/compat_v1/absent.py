"""Names of `tf.compat.v1` that are not implemented: calling one is a NotImplementedError with the reason.

docs/coverage.md lists them.
"""

from __future__ import annotations

from typing import Any

_QUANTIZED = "kernels of quantized numbers for phones; dequantize first"
_LOSS_SCALES = "loss scales belong to optimizers: tf.keras.mixed_precision.LossScaleOptimizer"
_TPU = "there are no TPUs of TensorFlow 1; tf.distribute runs on several devices"
_SERVERS = "parameter servers; use tf.distribute.MultiWorkerMirroredStrategy"
_SESSION_TENSORS = "values that stay in a session; feed what Session.run has returned"
_ACCUMULATORS = "gradients of several workers; sum them in variables"
_LITE = "a format for phones; intaglio.export_library writes C libraries, intaglio.export_onnx ONNX"
_DISTRIBUTIONS = "deprecated in TensorFlow: use tfp.distributions of tensorflow-probability"
_PROFILER = "profiles of sessions; intaglio.profile() shows where time goes"
_SDCA = "a solver for linear models whose op types are missing; use another optimizer"

# reason -> namespace -> names
_REASONS: dict[str, dict[str, str]] = {
    _ACCUMULATORS: {
        "": "ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator",
        "sparse": "SparseConditionalAccumulator",
        "train": "SyncReplicasOptimizer",
    },
    _SESSION_TENSORS: {"": "delete_session_tensor get_session_handle get_session_tensor"},
    _QUANTIZED: {"nn": "quantized_avg_pool quantized_conv2d quantized_max_pool quantized_relu_x"},
    _LOSS_SCALES: dict.fromkeys(
        ("mixed_precision", "mixed_precision.experimental", "train.experimental"),
        "DynamicLossScale FixedLossScale LossScale",
    ),
    "graphs are not rewritten for half precision; use tf.keras.mixed_precision.set_global_policy": dict.fromkeys(
        ("mixed_precision", "train.experimental"),
        "MixedPrecisionLossScaleOptimizer enable_mixed_precision_graph_rewrite",
    ),
    _TPU: {
        "tpu": "CrossShardOptimizer PaddingSpec batch_parallel core initialize_system "
        "outside_compilation replicate rewrite shard shutdown_system",
        "tpu.experimental": "embedding_column shared_embedding_columns",
        "distribute.experimental": "TPUStrategy",
    },
    _SERVERS: {"distribute.experimental": "ParameterServerStrategy"},
    _LITE: {
        "lite": "Interpreter OpHint OpsSet Optimize RepresentativeDataset TFLiteConverter "
        "TargetSpec TocoConverter toco_convert"
    },
    _DISTRIBUTIONS: {
        "distributions": "Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution "
        "Exponential Gamma Laplace Multinomial Normal RegisterKL ReparameterizationType StudentT "
        "Uniform kl_divergence FULLY_REPARAMETERIZED NOT_REPARAMETERIZED"
    },
    _PROFILER: {"profiler": "AdviceProto OpLogProto advise write_op_log", "train": "ProfilerHook"},
    _SDCA: {"train": "sdca_fprint sdca_optimizer sdca_shrink_l1"},
    "LMDB files are read by the package lmdb and tf.data.Dataset.from_generator": {
        "": "LMDBReader"
    },
    "plugins are shared libraries; fsspec has the file systems": {"": "load_file_system_library"},
    "no op has statuses of TensorFlow's C interface": {
        "errors": "raise_exception_on_not_ok_status"
    },
    "use tf.debugging.enable_check_numerics": {"": "add_check_numerics_ops"},
    "update the rows one by one, with scatter_nd_update": {"": "batch_scatter_update"},
    "rewrites graphs for phones": {"train": "do_quantize_training_on_graphdef"},
    "an example of an op of one's own": {"user_ops": "my_fact"},
    "files of SavedModels that TensorFlow 1 wrote; save the model again": {
        "saved_model.signature_def_utils": "MethodNameUpdater"
    },
    "there is one device policy for all nodes": {"graph_util": "must_run_on_cpu"},
}


def _names() -> dict[str, str]:
    """name with its namespace -> reason."""
    return {
        f"{space}.{name}".lstrip("."): reason
        for reason, spaces in _REASONS.items()
        for space, names in spaces.items()
        for name in names.split()
    }


ABSENT = _names()


def spaces() -> dict[str, dict[str, str]]:
    """namespace -> name -> target."""
    found: dict[str, dict[str, str]] = {}
    for name in ABSENT:
        space, _, own = name.rpartition(".")
        found.setdefault(space, {})[own] = f"{__name__}:{name.replace('.', '__')}"
    return found


def _stub(name: str) -> Any:
    short = name.rpartition(".")[2]
    message = f"tf.compat.v1.{name}: {ABSENT[name]}."

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(message)

    doc = f"Raises NotImplementedError: {ABSENT[name]}."
    if short[0].isupper():
        return type(short, (), {"__init__": refuse, "__doc__": doc})
    refuse.__name__ = refuse.__qualname__ = short
    refuse.__doc__ = doc
    return refuse


def __getattr__(name: str) -> Any:
    """What stands for a name; the dots are `__`."""
    whole = name.replace("__", ".")
    if name.startswith("_") or whole not in ABSENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _stub(whole)
    return found
