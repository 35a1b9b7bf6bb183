"""Samples of the ops that make shapes tensors."""

from tests.ops.samples import INDEX, ORDINARY, T, each, f32, i32, i64, s, sample

for name in ("Shape", "Size"):
    each(ORDINARY, name, input=(2, 0, 3))
    each(INDEX, name, input=f32(2, 3), out_type=T)
    sample(name, input=f32())
each(ORDINARY, "Rank", input=(2, 3))
sample("Rank", input=s())
sample("ShapeN", input=[f32(2, 3), f32(), f32(4)])
sample("ShapeN", input=[i32(2)], out_type="int64")
for name in ("BroadcastArgs", "BroadcastGradientArgs"):
    sample(name, s0=i32([2, 1, 3]), s1=i32([4, 3]))
    sample(name, s0=i64([1]), s1=i64([5, 1]))
    sample(name, s0=i32([]), s1=i32([2, 2]))
    sample(name, s0=i32([2, 3]), s1=i32([2, 3]))
    sample(name, s0=i32([1, 1]), s1=i32([1, 1]))
    sample(name, s0=i32([2, 3]), s1=i32([2, 4]), error=("InvalidArgumentError", "shapes"))
