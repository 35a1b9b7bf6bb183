"""What TensorFlow's test cases have from absl's: assertions on sequences, mappings and classes, temporary files.

Follows https://abseil.io/docs/python/guides/testing and the docstrings of `absl.testing.absltest.TestCase`.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import unittest
from collections.abc import Callable, Generator, Mapping
from typing import IO, Any, TypeVar
from urllib import parse

T = TypeVar("T")


class TemporaryFile(os.PathLike[str]):
    """A file that a test has created: `full_path`, and its contents."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def full_path(self) -> str:
        """Its absolute path."""
        return self._path

    def __fspath__(self) -> str:
        return self._path

    def read_text(self, encoding: str = "utf8", errors: str = "strict") -> str:
        """All of its text."""
        return pathlib.Path(self._path).read_text(encoding, errors)

    def read_bytes(self) -> bytes:
        """All of its bytes."""
        return pathlib.Path(self._path).read_bytes()

    def write_text(
        self, text: str, mode: str = "w", encoding: str = "utf8", errors: str = "strict"
    ) -> None:
        """Writes a text, over the one before or behind it (`mode="a"`)."""
        with open(self._path, mode, encoding=encoding, errors=errors) as file:
            file.write(text)

    def write_bytes(self, data: bytes, mode: str = "wb") -> None:
        """Writes bytes, over those before or behind them (`mode="ab"`)."""
        with open(self._path, mode) as file:
            file.write(data)

    @contextlib.contextmanager
    def open_text(
        self, mode: str = "rt", encoding: str = "utf8", errors: str = "strict"
    ) -> Generator[IO[str]]:
        """The file, opened for text."""
        with open(self._path, mode, encoding=encoding, errors=errors) as file:
            yield file  # type: ignore[misc]  # of text, by its mode

    @contextlib.contextmanager
    def open_bytes(self, mode: str = "rb") -> Generator[IO[bytes]]:
        """The file, opened for bytes."""
        with open(self._path, mode) as file:
            yield file  # type: ignore[misc]  # of bytes, by its mode


class TemporaryFolder(os.PathLike[str]):
    """A folder that a test has created: `full_path`, and what is created in it."""

    def __init__(self, path: str) -> None:
        self._path = path

    @property
    def full_path(self) -> str:
        """Its absolute path."""
        return self._path

    def __fspath__(self) -> str:
        return self._path

    def create_file(
        self,
        file_path: str | None = None,
        content: str | bytes | None = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
    ) -> TemporaryFile:
        """A file in it, with this content if any is given; without a name it gets one."""
        if file_path is None:
            handle, path = tempfile.mkstemp(dir=self._path)
            os.close(handle)
        else:
            path = os.path.join(self._path, file_path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "ab"):
                pass
        file = TemporaryFile(path)
        if isinstance(content, bytes):
            file.write_bytes(content)
        elif content is not None:
            file.write_text(content, mode, encoding, errors)
        return file

    def mkdir(self, dir_path: str | None = None) -> TemporaryFolder:
        """A folder in it; without a name it gets one."""
        if dir_path is None:
            return TemporaryFolder(tempfile.mkdtemp(dir=self._path))
        path = os.path.join(self._path, dir_path)
        os.makedirs(path, exist_ok=True)
        return TemporaryFolder(path)


class AbslAssertions(unittest.TestCase):
    """Assertions on sequences, mappings and classes, and temporary files."""

    def assertSequenceStartsWith(self, prefix: Any, whole: Any, msg: Any = None) -> None:
        """Fails unless a sequence begins with the elements of `prefix`, which must not be empty."""
        prefix = list(prefix)
        if not prefix:
            self.fail(self._formatMessage(msg, "the prefix is empty"))
        self.assertSequenceEqual(prefix, list(whole[: len(prefix)]), msg)

    def assertContainsSubsequence(self, container: Any, subsequence: Any, msg: Any = None) -> None:
        """Fails unless the elements of `subsequence` are in `container`, in this order."""
        rest = iter(container)
        for element in subsequence:
            if not any(element == item for item in rest):
                text = (
                    f"{subsequence!r} is no subsequence of {container!r}: {element!r} is not found"
                )
                self.fail(self._formatMessage(msg, text))

    def assertContainsExactSubsequence(
        self, container: Any, subsequence: Any, msg: Any = None
    ) -> None:
        """Fails unless the elements of `subsequence` are in `container`, one directly behind the other."""
        whole, wanted = list(container), list(subsequence)
        starts = range(len(whole) - len(wanted) + 1)
        if not any(whole[i : i + len(wanted)] == wanted for i in starts):
            text = f"{subsequence!r} is no exact subsequence of {container!r}"
            self.fail(self._formatMessage(msg, text))

    def assertContainsInOrder(self, strings: Any, target: str, msg: Any = None) -> None:
        """Fails unless `target` contains the strings, one behind the other."""
        strings = (strings,) if isinstance(strings, str) else strings
        at = 0
        for string in strings:
            found = target.find(string, at)
            if found < 0:
                text = f"{string!r} is not found in {target!r} behind its first {at} characters"
                self.fail(self._formatMessage(msg, text))
            at = found + len(string)

    def assertTotallyOrdered(self, *groups: Any, msg: Any = None) -> None:
        """Fails unless elements of a group are equal, and less than those of all later ones."""
        flat = [(number, element) for number, group in enumerate(groups) for element in group]
        for i, (a, x) in enumerate(flat):
            for b, y in flat[i:]:
                expected = (a == b, a < b, a <= b, False, a == b)
                if (x == y, x < y, x <= y, x > y, x >= y) != expected:
                    text = f"{x!r} of group {a} and {y!r} of group {b} are not ordered"
                    self.fail(self._formatMessage(msg, text))

    def assertMappingEqual(
        self,
        a: Mapping[Any, Any],
        b: Mapping[Any, Any],
        msg: Any = None,
        mapping_type: type = Mapping,
        check_values_equality: Callable[[Any, Any], bool] = lambda x, y: x == y,
    ) -> None:
        """Fails unless two mappings have the same keys and equal values."""
        self.assertIsInstance(a, mapping_type, msg)
        self.assertIsInstance(b, mapping_type, msg)
        self.assertCountEqual(list(a), list(b), msg)
        for key in a:
            if not check_values_equality(a[key], b[key]):
                text = f"the values of {key!r} differ: {a[key]!r} and {b[key]!r}"
                self.fail(self._formatMessage(msg, text))

    def assertJsonEqual(self, first: str, second: str, msg: Any = None) -> None:
        """Fails unless two texts in JSON are equal values. Raises ValueError for other texts."""
        values = []
        for name, text in (("first", first), ("second", second)):
            try:
                values.append(json.loads(text))
            except ValueError as e:
                raise ValueError(
                    self._formatMessage(msg, f"the {name} text is no JSON: {e}")
                ) from None
        self.assertEqual(values[0], values[1], msg)

    def assertUrlEqual(self, a: str, b: str, msg: Any = None) -> None:
        """Fails unless two URLs are equal, whatever the order of the arguments of their queries."""
        x, y = parse.urlsplit(a), parse.urlsplit(b)
        for name in ("scheme", "netloc", "path", "fragment"):
            self.assertEqual(getattr(x, name), getattr(y, name), msg)
        self.assertEqual(sorted(parse.parse_qsl(x.query)), sorted(parse.parse_qsl(y.query)), msg)

    def assertIsSubclass(self, cls: type, superclass: Any, msg: Any = None) -> None:
        """Fails unless a class is a subclass of another, or of one of several."""
        if not issubclass(cls, superclass):
            self.fail(self._formatMessage(msg, f"{cls!r} is not a subclass of {superclass!r}"))

    def assertNotIsSubclass(self, cls: type, superclass: Any, msg: Any = None) -> None:
        """Fails if a class is a subclass of another, or of one of several."""
        if issubclass(cls, superclass):
            self.fail(self._formatMessage(msg, f"{cls!r} is a subclass of {superclass!r}"))

    def assertNotStartsWith(self, actual: Any, unexpected_start: Any, msg: Any = None) -> None:
        """Fails if a text begins with another one."""
        if actual.startswith(unexpected_start):
            text = f"{actual!r} starts with {unexpected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertNotEndsWith(self, actual: Any, unexpected_end: Any, msg: Any = None) -> None:
        """Fails if a text ends with another one."""
        if actual.endswith(unexpected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} ends with {unexpected_end!r}"))

    def create_tempdir(self, name: str | None = None, cleanup: Any = None) -> TemporaryFolder:
        """A new folder of this test, which goes when the test is over."""
        base = TemporaryFolder(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, base.full_path, ignore_errors=True)
        return base if name is None else base.mkdir(name)

    def create_tempfile(
        self,
        file_path: str | None = None,
        content: str | bytes | None = None,
        mode: str = "w",
        encoding: str = "utf8",
        errors: str = "strict",
        cleanup: Any = None,
    ) -> TemporaryFile:
        """A new file of this test, with this content if any is given, which goes when the test is over."""
        return self.create_tempdir().create_file(file_path, content, mode, encoding, errors)

    def enter_context(self, manager: contextlib.AbstractContextManager[T]) -> T:
        """Enters a context that is left when the test is over."""
        return self.enterContext(manager)
