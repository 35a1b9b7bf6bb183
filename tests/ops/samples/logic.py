"""Samples of logic and of operations on bits."""

from tests.ops.samples import INTEGRAL, b1, each, i8, i32, of, sample, u8

for name in ("LogicalAnd", "LogicalOr"):
    sample(name, x=b1([True, True, False, False]), y=b1([True, False, True, False]))
    sample(name, x=b1(2, 3), y=b1(3))
sample("LogicalNot", x=b1(2, 3))
for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    each(INTEGRAL, name, x=(2, 3), y=(3,))
each(INTEGRAL, "Invert", x=(2, 3))
each(INTEGRAL, "PopulationCount", x=(2, 3))
each(INTEGRAL, "LeftShift", x=of([1, 3]), y=of([2, 1]))
each(INTEGRAL, "RightShift", x=of([9, 3]), y=of([2, 1]))
sample("LeftShift", x=i32([1, 1, 1, -1]), y=i32([3, 31, 33, -2]))
sample("RightShift", x=i32([-8, 8, 8, -1]), y=i32([1, 31, 33, -2]))
sample("RightShift", x=u8([200, 200]), y=u8([1, 9]))
sample("LeftShift", x=i8([100, 1]), y=i8([1, 9]))
