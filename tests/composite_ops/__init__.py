"""Tests of functions composed of several ops."""
