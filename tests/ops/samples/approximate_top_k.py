"""Samples of the approximate top k."""

from tests.ops.samples import each, f32, sample

NARROW = "there is no float64"
NO_KERNEL = "TensorFlow has no kernel"

for dtype in ("float16", "bfloat16", "float32"):
    known = True if dtype == "float32" else NO_KERNEL
    for least, k in ((True, 3), (False, 2)):
        each(
            (dtype,),
            "ApproxTopK",
            input=(3, 7),
            k=k,
            is_max_k=least,
            parity=known if least else NO_KERNEL,
            grad=NARROW,
        )
    each(
        (dtype,),
        "ApproxTopK",
        input=(4, 5, 2),
        k=2,
        reduction_dimension=1,
        parity=NO_KERNEL,
        grad=NARROW,
    )
sample("ApproxTopK", input=f32(3), k=5, error=("InvalidArgumentError", "k"), grad=NARROW)
