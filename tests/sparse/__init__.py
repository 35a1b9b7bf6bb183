"""Tests of sparse tensors."""
