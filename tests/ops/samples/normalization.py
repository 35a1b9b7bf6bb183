"""Samples of sums of squares and normalisation."""

from tests.ops.samples import FLOATING, f32, sample, sums

sums(FLOATING, "L2Loss", t=(2, 3))
sample("L2Loss", t=f32(0))
sample("L2Loss", t=f32())
