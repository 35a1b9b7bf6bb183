"""`tf.test.TestCase`: unittest's TestCase with assertions on tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/test/TestCase.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.base.device_spec import DeviceSpec
from intaglio.base.errors import InvalidArgumentError, OpError
from intaglio.compat_v1.default_graphs import (
    get_default_graph,
    in_another_graph,
    reset_default_graph,
)
from intaglio.compat_v1.sessions import Session, get_default_session
from intaglio.graphdef.declarations import parsed_text
from intaglio.runtime import random_state
from intaglio.testing.absl_assertions import AbslAssertions
from intaglio.testing.eager_sessions import EagerSessionWarner, FakeEagerSession
from intaglio.testing.numbers import NumberAssertions, evaluated
from intaglio.trace.scopes import executing_eagerly

# With which a test starts: TensorFlow's own number, so that its random numbers are those.
_SEED = 87654321


class CapturedWrites:
    """What has been written to a stream since `captureWritesToStream` was entered."""

    def __init__(self, stream: Any, file: Any) -> None:
        self._stream = stream
        self._file = file
        self._final: str | None = None

    def contents(self) -> str:
        """All of it so far; after the block, all that was written in it."""
        if self._final is not None:
            return self._final
        self._stream.flush()
        self._file.flush()
        self._file.seek(0)
        return self._file.read().decode("utf-8")

    def finish(self) -> None:
        """Keeps the contents beyond the end of the file."""
        self._final = self.contents()


class TestCase(NumberAssertions, AbslAssertions):
    """A test whose assertions take tensors, arrays and nested structures of them.

    The global seed is set before every test, so that random numbers are the same each time.

    >>> class SquareTest(tf.test.TestCase):
    ...     def test_square(self):
    ...         self.assertAllEqual(tf.square([2, 3]), [4, 9])
    >>> SquareTest("test_square").run().wasSuccessful()
    True
    """

    __test__ = True

    def setUp(self) -> None:
        """Sets the seeds, and replaces the default graph of TensorFlow 1 with an empty one."""
        super().setUp()
        if not in_another_graph():
            reset_default_graph()
        random_state.SEEDS.set(_SEED)
        random.seed(_SEED)
        np.random.seed(_SEED)
        self._folder: str | None = None

    def evaluate(self, tensors: Any) -> Any:
        """Tensors of a structure as NumPy values; in a graph those of the session of the test."""
        if executing_eagerly():
            return evaluated(tensors)
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as own:
            return own.run(tensors)

    @contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Generator[Any]:
        """A session that is the block's default one; eagerly nothing can be done with it."""
        if executing_eagerly():
            yield EagerSessionWarner()
            return
        with Session(graph=graph or get_default_graph(), config=config) as session:
            yield session

    @contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Generator[Any]:
        """The session of the test, the same one for all blocks; eagerly one that evaluates tensors."""
        with self._cached_session(graph, config) as session:
            yield session

    @contextmanager
    def _cached_session(self, graph: Any, config: Any) -> Generator[Any]:
        if executing_eagerly():
            yield FakeEagerSession(self)
            return
        session = getattr(self, "_session", None)
        if session is None:
            session = self._session = Session(graph=graph or get_default_graph(), config=config)
            self.addCleanup(session.close)
        with session.graph.as_default(), session.as_default():
            yield session

    def test_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """A session of the test: its own one, or another if a graph is given.

        unittest takes it for a test, because of its name: it is skipped then.
        """
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")
        if executing_eagerly():
            return nullcontext()
        if graph is not None:
            return self.session(graph, config, use_gpu, force_gpu)
        return self._cached_session(graph, config)  # libraries define `cached_session` otherwise

    def get_temp_dir(self) -> str:
        """A folder of this test, which goes when the test is over."""
        folder = getattr(self, "_folder", None)
        if folder is None:
            folder = self._folder = tempfile.mkdtemp()
            self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    @contextmanager
    def captureWritesToStream(self, stream: Any) -> Generator[CapturedWrites]:
        """What is written to the file of `stream` in the block, by other languages too, and not shown."""
        with tempfile.TemporaryFile() as file:
            number = stream.fileno()
            kept = os.dup(number)
            writes = CapturedWrites(stream, file)
            try:
                stream.flush()
                os.dup2(file.fileno(), number)
                yield writes
            finally:
                writes.finish()
                os.dup2(kept, number)
                os.close(kept)

    # -- errors ------------------------------------------------------------------------------

    @contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Generator[None]:
        """Fails unless the block raises such an error: a pattern in its text, or a function."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except exception_type as e:
            text = e.message if isinstance(e, OpError) else str(e)
            fits = wanted(e) if callable(wanted) else re.search(wanted, text)
            if not fits:
                self.fail(f"{type(e).__name__} was raised, but as: {text}")
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Fails unless the block raises an error of `tf.errors` that fits."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError
    ) -> Any:
        """Fails unless the block raises such an error of shapes that do not fit."""
        pattern = r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes"
        return self.assertRaisesWithPredicateMatch(exception_type, pattern)

    def assertRaisesWithLiteralMatch(
        self,
        expected_exception: Any,
        expected_exception_message: str,
        callable_obj: Callable[..., Any] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Fails unless an error with exactly this text is raised."""
        pattern = f"^{re.escape(expected_exception_message)}$"
        if callable_obj is None:
            return self.assertRaisesRegex(expected_exception, pattern)
        with self.assertRaisesRegex(expected_exception, pattern):
            return callable_obj(*args, **kwargs)

    # -- texts and containers ----------------------------------------------------------------

    def assertStartsWith(self, actual: Any, expected_start: Any, msg: Any = None) -> None:
        """Fails unless a text begins so."""
        if not actual.startswith(expected_start):
            text = f"{actual!r} does not start with {expected_start!r}"
            self.fail(self._formatMessage(msg, text))

    def assertEndsWith(self, actual: Any, expected_end: Any, msg: Any = None) -> None:
        """Fails unless a text ends so."""
        if not actual.endswith(expected_end):
            self.fail(self._formatMessage(msg, f"{actual!r} does not end with {expected_end!r}"))

    def assertRegexMatch(self, actual_str: str, regexes: Any, message: Any = None) -> None:
        """Fails unless one of the patterns is found in the text."""
        if not any(re.search(r, actual_str) for r in regexes):
            text = f'"{actual_str}" does not contain any of these regexes: {list(regexes)}.'
            self.fail(self._formatMessage(message, text))

    def assertLen(self, container: Any, expected_len: int, msg: Any = None) -> None:
        """Fails unless there are so many elements."""
        if len(container) != expected_len:
            text = f"{container!r} has length of {len(container)}, expected {expected_len}."
            self.fail(self._formatMessage(msg, text))

    def assertEmpty(self, container: Any, msg: Any = None) -> None:
        """Fails unless there are no elements."""
        if len(container):
            text = f"{container!r} has length of {len(container)}."
            self.fail(self._formatMessage(msg, text))

    def assertNotEmpty(self, container: Any, msg: Any = None) -> None:
        """Fails unless there are elements."""
        if not len(container):
            self.fail(self._formatMessage(msg, f"{container!r} has length of 0."))

    def assertBetween(self, value: Any, minv: Any, maxv: Any, msg: Any = None) -> None:
        """Fails unless minv <= value <= maxv."""
        if not minv <= value <= maxv:
            self.fail(f"{value!r} unexpectedly not between {minv!r} and {maxv!r} {msg or ''}")

    def assertContainsSubset(self, expected_subset: Any, actual_set: Any, msg: Any = None) -> None:
        """Fails unless all that is expected is there."""
        missing = set(expected_subset) - set(actual_set)
        if missing:
            text = f"Missing elements {missing}\nExpected: {expected_subset}\nActual: {actual_set}"
            self.fail(self._formatMessage(msg, text))

    def assertNoCommonElements(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:
        """Fails if something is in both."""
        common = set(expected_seq) & set(actual_seq)
        if common:
            text = f"Common elements {common}\nExpected: {expected_seq}\nActual: {actual_seq}"
            self.fail(self._formatMessage(msg, text))

    def assertItemsEqual(self, first: Any, second: Any, msg: Any = None) -> None:
        """Fails unless both have the same elements, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertSameElements(self, expected_seq: Any, actual_seq: Any, msg: Any = None) -> None:
        """Fails unless both have the same elements, in any order and however often."""
        lacking = [e for e in expected_seq if e not in actual_seq]
        others = [e for e in actual_seq if e not in expected_seq]
        text = f"Expected, but missing:\n  {lacking!r}\n" if lacking else ""
        text += f"Unexpected, but present:\n  {others!r}\n" if others else ""
        if text:
            self.fail(self._formatMessage(msg, text))

    def assertSameStructure(
        self, a: Any, b: Any, aname: str = "a", bname: str = "b", msg: Any = None
    ) -> None:
        """Fails unless both have one structure with equal leaves."""
        nest.assert_same_structure(a, b)
        self.assertEqual(nest.flatten(a), nest.flatten(b), msg or f"{aname}, {bname}")

    def assertDictAlmostEqual(
        self, a: Any, b: Any, places: Any = None, msg: Any = None, delta: Any = None
    ) -> None:
        """Fails unless both have the same keys and almost equal values."""
        self.assertEqual(sorted(a), sorted(b), msg)
        for key in a:
            self.assertAlmostEqual(a[key], b[key], places, msg, delta)

    def assertSequenceAlmostEqual(
        self,
        expected_seq: Any,
        actual_seq: Any,
        places: Any = None,
        msg: Any = None,
        delta: Any = None,
    ) -> None:
        """Fails unless both are of one length with almost equal elements."""
        self.assertEqual(len(expected_seq), len(actual_seq), msg)
        for x, y in zip(expected_seq, actual_seq, strict=True):
            self.assertAlmostEqual(x, y, places, msg, delta)

    # -- messages and threads ----------------------------------------------------------------

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Any,
        validate_message: Any,
        msg: Any = None,
        relative_tolerance: Any = None,
    ) -> None:
        """Fails unless the messages are equal; the expected one may be text."""
        wanted = expected_message_maybe_ascii
        if isinstance(wanted, str):
            wanted = parsed_text(type(validate_message), wanted, "the expected text")
        self.assertEqual(str(wanted), str(validate_message), msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Fails unless two names of devices mean the same, however they are written."""
        first, second = (DeviceSpec.from_string(d or "").to_string() for d in (device1, device2))
        text = f"Devices {first} and {second} are not equal. {msg}"
        self.assertEqual(first, second, text)

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> _CheckedThread:
        """A thread whose `join` fails the test if it failed."""
        return _CheckedThread(self, target, args or (), kwargs or {})


class _CheckedThread:
    """A thread that keeps its error."""

    def __init__(self, case: TestCase, target: Any, args: Any, kwargs: Any) -> None:
        self._case = case
        self._error: BaseException | None = None

        def run() -> None:
            try:
                target(*args, **kwargs)
            except BaseException as e:
                self._error = e

        self._thread = threading.Thread(target=run)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def is_alive(self) -> bool:
        """True while the thread runs."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Waits for the thread; fails the test if it failed."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")


__all__ = ["TestCase"]
