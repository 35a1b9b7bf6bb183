"""Tests of tf.data."""
