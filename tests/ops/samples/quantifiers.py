"""Samples of All and Any."""

from tests.ops.samples import b1, i32, sample

for name in ("All", "Any"):
    sample(name, input=b1(2, 3), axis=i32([1]))
    sample(name, input=b1(2, 3), axis=i32([0, 1]), keep_dims=True)
    sample(name, input=b1(0, 3), axis=i32([0]))
    sample(name, input=b1(2, 3), axis=i32(0))
