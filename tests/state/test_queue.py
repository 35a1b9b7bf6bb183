"""tf.queue and tf.CriticalSection. What they do was asked of TensorFlow."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from intaglio import tf

q = tf.queue


def soon(function: Any) -> threading.Thread:
    """Runs the function in another thread, a little later."""

    def run() -> None:
        time.sleep(0.05)
        function()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_first_in_first_out():
    queue = q.FIFOQueue(3, tf.float32, shapes=[[]])
    queue.enqueue(1.0)
    queue.enqueue_many([[2.0, 3.0]])
    assert int(queue.size()) == 3
    assert float(queue.dequeue()) == 1.0
    assert queue.dequeue_many(2).numpy().tolist() == [2.0, 3.0]
    assert (queue.dtypes, queue.shapes) == ([tf.float32], [tf.TensorShape([])])


def test_elements_of_several_components():
    queue = q.FIFOQueue(5, [tf.int32, tf.string], shapes=[[], [2]])
    queue.enqueue((1, ["a", "b"]))
    queue.enqueue_many(([2, 3], [["c", "d"], ["e", "f"]]))
    number, texts = queue.dequeue()
    assert (int(number), texts.numpy().tolist()) == (1, [b"a", b"b"])
    numbers, texts = queue.dequeue_many(2)
    assert numbers.numpy().tolist() == [2, 3] and texts.shape == [2, 2]
    with pytest.raises(ValueError, match="not compatible"):
        queue.enqueue_many(([1, 2], [["a", "b"]]))
    with pytest.raises(ValueError, match="incompatible"):
        queue.enqueue((1, ["a"]))


def test_names_make_elements_dicts():
    queue = q.FIFOQueue(5, [tf.int32, tf.string], names=["a", "b"])
    queue.enqueue({"a": 1, "b": "x"})
    found = queue.dequeue()
    assert (int(found["a"]), found["b"].numpy()) == (1, b"x")
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        queue.enqueue([1, "x"])
    with pytest.raises(ValueError, match="do not match names of Queue"):
        queue.enqueue({"a": 1})


def test_closing():
    queue = q.FIFOQueue(5, tf.int32, shapes=[[]])
    queue.enqueue_many([[1, 2, 3]])
    queue.close()
    assert bool(queue.is_closed())
    with pytest.raises(tf.errors.CancelledError, match="is closed"):
        queue.enqueue(4)
    with pytest.raises(tf.errors.OutOfRangeError, match="requested 4, current size 3"):
        queue.dequeue_many(4)
    assert queue.dequeue_up_to(4).numpy().tolist() == [1, 2, 3]  # nothing was lost
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient elements"):
        queue.dequeue_up_to(4)


def test_waiting():
    queue = q.FIFOQueue(1, tf.int32, shapes=[[]])
    thread = soon(lambda: queue.enqueue(4))
    assert int(queue.dequeue()) == 4
    thread.join()
    queue.enqueue(5)
    thread = soon(queue.dequeue)
    queue.enqueue(6)  # waits for capacity
    thread.join()
    thread = soon(lambda: queue.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
        queue.enqueue(7)
    thread.join()
    assert int(queue.dequeue()) == 6
    empty = q.FIFOQueue(1, tf.int32)
    thread = soon(empty.close)
    with pytest.raises(tf.errors.OutOfRangeError):
        empty.dequeue()
    thread.join()


def test_many_more_than_the_capacity():
    queue = q.FIFOQueue(2, tf.int32, shapes=[[]])
    thread = soon(lambda: queue.enqueue_many([list(range(100))]))
    assert queue.dequeue_many(100).numpy().tolist() == list(range(100))
    thread.join()


def test_padding():
    queue = q.PaddingFIFOQueue(5, [tf.int32, tf.string], shapes=[[None], [None]])
    for n in (2, 1, 3):
        queue.enqueue((list(range(1, n + 1)), ["x"] * n))
    numbers, texts = queue.dequeue_many(3)
    assert numbers.numpy().tolist() == [[1, 2, 0], [1, 0, 0], [1, 2, 3]]
    assert texts.numpy()[1].tolist() == [b"x", b"", b""]
    with pytest.raises(ValueError, match="list of shapes must be provided"):
        q.PaddingFIFOQueue(5, [tf.int32], shapes=[None])


def test_priorities():
    queue = q.PriorityQueue(5, [tf.string], shapes=[[]])
    queue.enqueue((3, "c"))
    queue.enqueue((1, "a"))
    queue.enqueue_many(([2, 1], ["b", "a2"]))
    found = [queue.dequeue()[1].numpy() for _ in range(4)]
    assert found == [b"a", b"a2", b"b", b"c"]  # of equals, the first
    assert queue.dtypes == [tf.int64, tf.string]


def test_shuffling():
    queue = q.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=5)
    queue.enqueue_many([list(range(8))])
    # TensorFlow's order for this seed
    assert queue.dequeue_many(8).numpy().tolist() == [7, 4, 0, 6, 5, 1, 2, 3]
    waiting = q.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]])
    waiting.enqueue_many([[1, 2, 3]])
    waiting.dequeue()
    thread = soon(waiting.close)
    assert len(waiting.dequeue_many(2).numpy()) == 2  # only once it is closed
    assert bool(waiting.is_closed())
    thread.join()


def test_in_functions():
    queue = q.FIFOQueue(2, tf.int32, shapes=[[2]])

    @tf.function
    def through(x: Any) -> Any:
        queue.enqueue(x)
        queue.enqueue(x + 1)
        first, second = queue.dequeue(), queue.dequeue()
        assert first.shape == [2]
        return first, second

    for n in (1, 5):
        first, second = through(tf.constant([n, n]))
        assert (first.numpy().tolist(), second.numpy().tolist()) == ([n, n], [n + 1] * 2)


def test_queues_of_a_list_and_by_name():
    a, b = (q.FIFOQueue(1, tf.int32, shapes=[[]]) for _ in range(2))
    b.enqueue(9)
    assert int(q.QueueBase.from_list(1, [a, b]).dequeue()) == 9
    with pytest.raises(TypeError, match="matching component dtypes"):
        q.QueueBase.from_list(0, [a, q.FIFOQueue(1, tf.float32)])
    q.FIFOQueue(1, tf.int32, shared_name="of_a_test").enqueue(3)
    assert int(q.FIFOQueue(1, tf.int32, shared_name="of_a_test").dequeue()) == 3


@pytest.mark.parametrize("traced", [False, True])
def test_critical_sections_exclude_one_another(traced):
    section = tf.CriticalSection()
    total = tf.Variable(0)

    def add() -> Any:
        value = total.read_value()
        return total.assign(value + 1)

    def step() -> Any:
        return section.execute(add)

    call = tf.function(step) if traced else step
    call()

    def work() -> None:
        for _ in range(50):
            call()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert int(total) == 201


def test_critical_sections_are_left_when_something_fails():
    section = tf.CriticalSection(name="cs")
    with pytest.raises(ZeroDivisionError):
        section.execute(lambda: 1 / 0)

    @tf.function
    def fails(x: Any) -> Any:
        section.execute(lambda: tf.debugging.assert_positive(x))
        return x

    with pytest.raises(tf.errors.InvalidArgumentError):
        fails(tf.constant(-1))
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.append(section.execute(lambda: 3)))
    thread.start()
    thread.join(5)
    assert [int(d) for d in done] == [3]


def test_critical_sections_do_not_nest():
    section = tf.CriticalSection(name="cs")
    with pytest.raises(ValueError, match="already running"):
        section.execute(lambda: section.execute(lambda: 1))
    assert section.execute(lambda: None) is None
    number, more = section.execute(lambda: (1, {"a": 2.0}))
    assert (int(number), float(more["a"])) == (1, 2.0)
