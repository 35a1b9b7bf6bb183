"""Tests of `intaglio/native/llvm/`."""
