"""Samples of the ops that hand their input on."""

from tests.ops.samples import ORDINARY, each, f32, f64, i32, s, sample

NO_STRINGS = [t for t in ORDINARY if t != "string"]

for name in ("Identity", "Snapshot", "StopGradient", "GuaranteeConst"):
    ends = "gradients end here, though the value depends on the input"
    grad = ends if name == "StopGradient" else True
    each(NO_STRINGS if name == "Snapshot" else ORDINARY, name, input=(2, 3), grad=grad)
    sample(name, input=f64(), grad=grad)
    sample(name, input=f32(0, 2))
sample("DeepCopy", x=f64(2, 3))
sample("DeepCopy", x=i32(4))
sample("PreventGradient", input=f32(2, 3), message="no way back")
sample("PreventGradient", input=f64(2), message="", grad="its rule raises")
sample("IdentityN", input=[f32(2, 3), i32(4), s(2)])
sample("IdentityN", input=[f64(2, 3), f64()])
sample("PlaceholderWithDefault", input=f64(2, 3), shape=[None, 3])
sample("PlaceholderWithDefault", input=f32(2), shape=None)
sample("EnsureShape", input=f64(2, 3), shape=[None, 3])
sample("EnsureShape", input=s(2), shape=None)
sample("EnsureShape", input=i32(2, 3), shape=[2, 3])
sample(
    "EnsureShape",
    input=f32(3),
    shape=[4],
    error=("InvalidArgumentError", "is not compatible with expected shape [4]"),
)
