"""Tests of tf.test."""
