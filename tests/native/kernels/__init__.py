"""Tests of `intaglio/native/kernels/`."""
