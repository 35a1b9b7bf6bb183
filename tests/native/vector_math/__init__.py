"""Tests of `intaglio/native/vector_math/`."""
