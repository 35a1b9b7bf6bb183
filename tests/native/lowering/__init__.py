"""Tests of `intaglio/native/lowering/`."""
