"""Tests of tf.nn and tf.linalg."""
