"""Tests of `intaglio/native/runtime/`."""
