"""Tests of `intaglio.compat_v1`."""
