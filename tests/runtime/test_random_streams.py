"""Streams of stateful random ops: positions, and copies of them for a thread that repeats a call."""

from __future__ import annotations

import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf
from intaglio.runtime.random_state import Counters, replaying

draws = st.lists(st.integers(0, 5), max_size=6)


@given(draws, draws, st.booleans())
def test_copies_draw_what_the_stream_has_drawn_and_the_stream_goes_on(
    first: list[int], then: list[int], seeds: bool
) -> None:
    stream, alone = Counters(3, 7), Counters(3, 7)
    for blocks in first:
        assert stream.take(blocks) == alone.take(blocks)
    mark = stream.mark()
    drawn = [stream.take(blocks) for blocks in then]
    assert drawn == [alone.take(blocks) for blocks in then]
    if seeds:
        tf.random.set_seed(1)
    for _ in range(2):
        with replaying([(stream, mark)]):
            assert [stream.take(blocks) for blocks in then] == drawn
            here = stream.mark()
            again = stream.take(2)
            stream.reset(here)
            assert stream.take(2) == again
    assert stream.take(1) == alone.take(1)


def test_other_threads_draw_from_the_stream_itself() -> None:
    stream, alone = Counters(3, 7), Counters(3, 7)
    mark, found = stream.mark(), []

    def other() -> None:
        found.append(stream.take(4))

    with replaying([(stream, mark)]):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        copied: Any = stream.take(1)
    assert found[0] == alone.take(4) and copied == Counters(3, 7).take(1)
    assert stream.take(1) == alone.take(1)


def test_the_state_besides_the_counters_is_copied_too() -> None:
    stream = Counters(1, 2)
    assert stream.exchange(lambda kept: 5) is None
    mark = stream.mark()
    stream.exchange(lambda kept: 6)
    with replaying([(stream, mark)]):
        assert stream.exchange(lambda kept: kept + 1) == 5
        assert stream.exchange(lambda kept: kept) == 6
    assert stream.exchange(lambda kept: kept) == 6
