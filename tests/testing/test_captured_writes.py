"""`captureWritesToStream`: what is written to a stream's file. TensorFlow's answer was recorded."""

from __future__ import annotations

import io
import os
import sys

import pytest

from intaglio import tf


def test_writes_of_python_and_of_others(tmp_path, capfd) -> None:
    case = tf.test.TestCase()
    with capfd.disabled(), open(tmp_path / "f", "w") as stream:
        with case.captureWritesToStream(stream) as found:
            print("hi", file=stream)
            stream.flush()
            os.write(stream.fileno(), b"low\n")
            assert found.contents() == "hi\nlow\n"
            print("more", file=stream)
            assert found.contents() == "hi\nlow\nmore\n"
        assert found.contents() == "hi\nlow\nmore\n"  # beyond the block too, as in TensorFlow
        print("after", file=stream)
    assert (tmp_path / "f").read_text() == "after\n"


def test_the_stream_is_given_back_after_an_error(tmp_path) -> None:
    case = tf.test.TestCase()
    with open(tmp_path / "f", "w") as stream:
        with pytest.raises(KeyError), case.captureWritesToStream(stream):
            raise KeyError
        print("after", file=stream)
    assert (tmp_path / "f").read_text() == "after\n"


def test_a_stream_without_a_file() -> None:
    case = tf.test.TestCase()
    with pytest.raises(io.UnsupportedOperation), case.captureWritesToStream(io.StringIO()):
        pass
    assert sys.stdout is not None
