"""Results that are kept on a graph."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from intaglio.ir.graph import Graph
from intaglio.ir.memo import memoized


def _graph(name: str) -> Graph:
    return Graph(name, [], [], [])


def test_each_graph_and_each_argument_has_its_result() -> None:
    asked: list[tuple[str, int]] = []

    @memoized
    def size(graph: Graph, factor: int) -> int:
        asked.append((graph.name, factor))
        return len(graph.name) * factor

    one, two = _graph("one"), _graph("other")
    assert [size(one, 2), size(one, 2), size(one, 3), size(two, 2)] == [6, 6, 9, 10]
    assert asked == [("one", 2), ("one", 3), ("other", 2)]


def test_none_is_a_result() -> None:
    asked: list[str] = []

    @memoized
    def nothing(graph: Graph) -> None:
        asked.append(graph.name)

    graph = _graph("g")
    assert nothing(graph) is None and nothing(graph) is None
    assert asked == ["g"]


def test_functions_do_not_share_results() -> None:
    first, second = memoized(lambda graph: [1]), memoized(lambda graph: [2])
    graph = _graph("g")
    assert first(graph) == [1] and second(graph) == [2]


def test_threads_get_one_result() -> None:
    barrier = Barrier(4)

    @memoized
    def made(graph: Graph) -> object:
        barrier.wait()  # all four compute it
        return object()

    graph = _graph("g")
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: made(graph), range(4)))
    assert all(f is found[0] for f in found)


def test_the_result_goes_with_the_graph() -> None:
    class Result:
        pass

    made = memoized(lambda graph: Result())
    graph = _graph("g")
    result = weakref.ref(made(graph))
    assert result() is not None
    del graph
    gc.collect()
    assert result() is None
