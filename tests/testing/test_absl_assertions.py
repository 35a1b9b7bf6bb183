"""Assertions of absl's test cases; which calls fail was asked of TensorFlow 2.21's `tf.test.TestCase`."""

from __future__ import annotations

import os

import pytest

from intaglio import tf

CALLS = [
    ("assertSequenceStartsWith", ([1], [1, 2]), True),
    ("assertSequenceStartsWith", ("a", "abc"), True),
    ("assertSequenceStartsWith", ([2], [1, 2]), False),
    ("assertSequenceStartsWith", ([], [1, 2]), False),
    ("assertContainsSubsequence", ([1, 2, 3, 4], [1, 3]), True),
    ("assertContainsSubsequence", ([1, 2, 3, 4], [3, 1]), False),
    ("assertContainsSubsequence", ([1, 2], [1, 1]), False),
    ("assertContainsExactSubsequence", ([1, 2, 3, 4], [2, 3]), True),
    ("assertContainsExactSubsequence", ([1, 2, 3, 4], [1, 3]), False),
    ("assertContainsInOrder", (["ab", "d"], "abcd"), True),
    ("assertContainsInOrder", (["d", "ab"], "abcd"), False),
    ("assertContainsInOrder", ("bc", "abcd"), True),
    ("assertTotallyOrdered", ([1, 1], [2], [3, 3]), True),
    ("assertTotallyOrdered", ([1], [1]), False),
    ("assertTotallyOrdered", ([2], [1]), False),
    ("assertMappingEqual", ({"a": 1}, {"a": 1}), True),
    ("assertMappingEqual", ({"a": 1}, {"a": 2}), False),
    ("assertMappingEqual", ({"a": 1}, {"b": 1}), False),
    ("assertJsonEqual", ('{"a": [1, 2]}', '{ "a":[1,2] }'), True),
    ("assertJsonEqual", ("[1]", "[2]"), False),
    ("assertUrlEqual", ("http://a/b?x=1&y=2", "http://a/b?y=2&x=1"), True),
    ("assertUrlEqual", ("http://a/b?x=1", "http://a/b?x=2"), False),
    ("assertIsSubclass", (bool, int), True),
    ("assertIsSubclass", (int, bool), False),
    ("assertNotIsSubclass", (int, bool), True),
    ("assertNotIsSubclass", (bool, int), False),
    ("assertNotStartsWith", ("abc", "b"), True),
    ("assertNotStartsWith", ("abc", "a"), False),
    ("assertNotEndsWith", ("abc", "b"), True),
    ("assertNotEndsWith", ("abc", "c"), False),
]


@pytest.mark.parametrize(("name", "arguments", "holds"), CALLS)
def test_assertions_hold_or_fail(name, arguments, holds) -> None:
    call = getattr(tf.test.TestCase(), name)
    if holds:
        call(*arguments)
        return
    with pytest.raises(AssertionError):
        call(*arguments)


def test_temporary_files_go_with_the_test() -> None:
    paths = []

    class Case(tf.test.TestCase):
        def test(self):
            folder = self.create_tempdir("inner")
            file = folder.create_file("a/b.txt", "text")
            paths.extend([folder.full_path, file.full_path])
            self.assertEqual(file.read_text(), "text")
            self.assertEqual(file.read_bytes(), b"text")
            self.assertTrue(os.path.isdir(folder.mkdir("c")))
            other = self.create_tempfile(content="line\n")
            paths.append(other.full_path)
            other.write_text("next", mode="a")
            with other.open_text() as opened:
                self.assertEqual(opened.read(), "line\nnext")
            self.assertEqual(self.create_tempfile("named").full_path.split(os.sep)[-1], "named")

    assert Case("test").run().wasSuccessful()
    assert len(paths) == 3 and not any(map(os.path.exists, paths))


def test_a_subclass_may_replace_what_compares_structures() -> None:
    calls = []

    class Case(tf.test.TestCase):
        def assertAllClose(self, a, b, *args, **kwargs):
            calls.append(a)
            super().assertAllClose(a, b, *args, **kwargs)

    Case().assertAllClose({"a": [1.0]}, {"a": [1.0]})
    assert len(calls) == 1
