"""Tests of the long checks: their generators, their verdicts, short runs of them."""
