"""Variable storage: in place only without other references, and never half written."""

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.errors import FailedPreconditionError, InvalidArgumentError
from intaglio.cpython.portable import PORTABLE
from intaglio.opdef.spec import Spec
from intaglio.runtime.resources import MANAGER, Resource


def variable(value):
    array = np.array(value, np.float32)
    resource = Resource(Spec(tf.float32, array.shape), "v")
    resource.assign(array)
    return resource


@pytest.mark.skipif(PORTABLE, reason="reference counts do not show the owners")
def test_in_place_while_alone():
    resource = variable([1.0, 2.0])
    address = resource.read().ctypes.data
    resource.accumulate(np.add, np.array([1.0, 1.0], np.float32))
    assert resource.read().tolist() == [2.0, 3.0]
    assert resource.read().ctypes.data == address


@pytest.mark.parametrize(
    "hold", [lambda a: a, lambda a: a[:1], lambda a: memoryview(a), lambda a: [a]]
)
def test_copied_while_there_are_views(hold):
    resource = variable([1.0, 2.0])
    held = hold(resource.read())
    resource.accumulate(np.add, np.array([1.0, 1.0], np.float32))
    assert np.asarray(held).reshape(-1)[0] == 1.0
    resource.modify(lambda a: a.fill(7.0))
    assert np.asarray(held).reshape(-1)[0] == 1.0
    assert resource.read().tolist() == [7.0, 7.0]


def test_memory_of_others_is_never_written():
    base = np.zeros(4, np.float32)
    resource = variable([0.0, 0.0])
    resource.assign(base[:2])
    resource.accumulate(np.add, np.ones(2, np.float32))
    assert base.tolist() == [0.0] * 4
    frozen = np.zeros(2, np.float32)
    frozen.flags.writeable = False
    resource.assign(frozen)
    del frozen
    resource.accumulate(np.add, np.ones(2, np.float32))
    assert resource.read().tolist() == [1.0, 1.0]


def test_a_failing_change_leaves_the_value():
    resource = variable([1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match=r"shape \[2\] using .* shape \[3\]"):
        resource.accumulate(np.add, np.zeros(3, np.float32))
    with pytest.raises(InvalidArgumentError, match="wrong dtype"):
        resource.accumulate(np.add, np.zeros(2, np.float64))

    def fail(array):
        raise RuntimeError

    with pytest.raises(RuntimeError):
        resource.modify(fail)
    assert resource.read().tolist() == [1.0, 2.0]


def test_without_a_value():
    resource = Resource(Spec(tf.float32, ()), "v")
    assert not resource.initialized
    with pytest.raises(FailedPreconditionError, match="Could not find variable v"):
        resource.read()


def test_shared_names():
    contents = Spec(tf.float32, ())
    one = MANAGER.variable(contents, "shared-in-test")
    assert MANAGER.variable(contents, "shared-in-test") is one
    assert MANAGER.variable(contents, "shared-in-test", "other") is not one
    one.assign(np.float32(1))
    assert MANAGER.destroy(one) and not MANAGER.destroy(one)
    assert MANAGER.variable(contents, "shared-in-test") is not one


def test_raw_ops():
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="raw-test")
    raw = tf.raw_ops
    assert not raw.VarIsInitializedOp(resource=handle)
    with pytest.raises(tf.errors.NotFoundError):
        raw.AssignAddVariableOp(resource=handle, value=[1.0, 2.0])
    raw.AssignVariableOp(resource=handle, value=[1.0, 2.0, 3.0])
    assert raw.VariableShape(input=handle).numpy().tolist() == [3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected float got int"):
        raw.AssignVariableOp(resource=handle, value=[1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong shape"):
        raw.AssignVariableOp(resource=handle, value=[1.0], validate_shape=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="read variable with"):
        raw.ReadVariableOp(resource=handle, dtype=tf.int32)
    raw.DestroyResourceOp(resource=handle)
    with pytest.raises(tf.errors.FailedPreconditionError):
        raw.ReadVariableOp(resource=handle, dtype=tf.float32)


def test_additions_of_threads_all_count():
    v = tf.Variable(np.zeros(1000, np.float32))
    torn = []

    def add():
        for _ in range(200):
            v.assign_add(np.ones(1000, np.float32))

    def look():
        for _ in range(200):
            seen = v.numpy()
            if seen.min() != seen.max():
                torn.append(seen)

    threads = [threading.Thread(target=t) for t in (add, add, look, look)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not torn
    assert (v.numpy() == 400.0).all()


def test_what_graphs_count_stays_an_array_for_native_code():
    count = tf.Variable(0, dtype=tf.int64)

    @tf.function(jit_compile=False)
    def step(x):
        count.assign_add(1)
        count.assign(count * 2)
        held = count.read_value()
        count.assign_add(x)
        return held

    for _ in range(3):
        step(tf.constant(1, tf.int64))
        assert type(count.handle._array.read()) is np.ndarray
    assert count.numpy() == 21
