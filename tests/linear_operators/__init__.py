"""Tests of linear operators."""
