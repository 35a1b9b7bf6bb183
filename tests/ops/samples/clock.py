"""Samples of the time of day."""

from tests.ops.samples import sample

sample("Timestamp", nondeterministic=True)
