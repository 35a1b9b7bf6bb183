"""Variables, training steps, strategies and checkpoints on a GPU."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf, xla
from tests.gpu.conftest import HOST, NAME


def test_a_variable_is_where_it_is_made(gpu):
    with tf.device(gpu):
        v = tf.Variable([1.0, 2.0])
    assert v.device == v.handle.device == v.value().device == NAME
    assert (v * 2.0).device == tf.reduce_sum(v).device == v[0].device == NAME
    v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    v.assign_sub(tf.ones((2,)))
    v[:1].assign([9.0])
    np.testing.assert_array_equal(v.numpy(), [9.0, 4.0])
    assert "numpy=array([9., 4.]" in repr(v)
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0])
    assert tf.Variable(1.0).device == HOST


@pytest.mark.parametrize(
    "update",
    [
        lambda v: v.scatter_update(tf.IndexedSlices([5.0], [1])),
        lambda v: v.scatter_add(tf.IndexedSlices([5.0], [0])),
        lambda v: v.scatter_nd_update([[1]], [7.0]),
        lambda v: v.assign(v + 1.0),
        lambda v: v.assign(v),
    ],
)
def test_updates_are_the_hosts(gpu, update):
    here = tf.Variable([1.0, 2.0])
    with tf.device(gpu):
        there = tf.Variable([1.0, 2.0])
    for variable in (here, there):
        update(variable)
    np.testing.assert_array_equal(there.numpy(), here.numpy())
    assert there.value().device == NAME


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("update", ["assign_add", "assign_sub"])
@pytest.mark.parametrize("dims", [(), (1,), (1, 2), (3,)])
def test_updates_of_other_shapes_are_errors(gpu, traced, update, dims):
    """They are not broadcast; nothing is written, before or after in the same program either."""
    with tf.device(gpu):
        v = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))

        def step(delta):
            v.assign_add(tf.ones((2,)))
            getattr(v, update)(delta)
            v.assign_add(tf.ones((2,)))

        run = tf.function(step) if traced else step
        for count in (1.0, 2.0):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match=r"Cannot update variable .* \[2\]"
            ):
                run(tf.ones(dims))
            np.testing.assert_array_equal(v.numpy(), [1.0 + count, 2.0 + count])


def test_a_tensor_that_was_read_keeps_its_value(gpu):
    """A step takes the variable's memory, except while a tensor has it too."""
    with tf.device(gpu):
        v = tf.Variable(tf.zeros((100,)))

    @tf.function
    def step():
        v.assign_add(tf.ones((100,)))
        return v.read_value()

    reads, returned = [v.value()], []
    for _ in range(4):
        returned.append(step())
        reads.append(v.value())
        v.assign_add(tf.ones((100,)))
        reads.append(v.value())
    assert [float(t[3]) for t in reads] == [0.0, *map(float, range(1, 9))]
    assert [float(t[3]) for t in returned] == [1.0, 3.0, 5.0, 7.0]


def test_a_step_on_a_variable_copies_nothing(gpu):
    with tf.device(gpu):
        v, x = tf.Variable(tf.ones((64, 64))), tf.ones((8, 64))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ v) ** 2)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    step(x), step(x), step(x)
    with xla.transfers.counting() as count:
        losses = [step(x) for _ in range(3)]
    assert (count.to_device, count.to_host) == (0, 0)
    assert float(losses[2]) < float(losses[1]) < float(losses[0])


def _trained(steps=8):
    """The losses of a small classifier, from the same start and examples."""
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=(32, 8)).astype(np.float32))
    y = tf.constant(random.integers(0, 3, 32))
    a = tf.Variable((random.normal(size=(8, 16)) * 0.3).astype(np.float32))
    b = tf.Variable((random.normal(size=(16, 3)) * 0.3).astype(np.float32))
    momenta = [tf.Variable(tf.zeros_like(v)) for v in (a, b)]

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.nn.relu(x @ a) @ b
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        for v, m, g in zip((a, b), momenta, tape.gradient(loss, [a, b]), strict=True):
            m.assign(0.9 * m + g)
            v.assign_sub(0.3 * m)
        return loss

    return [float(step(x, y)) for _ in range(steps)], (a, b)


def test_training_is_the_hosts(gpu):
    here, _ = _trained()
    with tf.device(gpu):
        there, variables = _trained()
    assert {v.device for v in variables} == {NAME}
    np.testing.assert_allclose(there, here, rtol=1e-4)
    assert there[-1] < 0.7 * there[0]


def test_mixed_precision(gpu):
    """Products in bfloat16, variables and sums in float32."""
    with tf.device(gpu):
        v = tf.Variable(tf.ones((16, 16)))
        x = tf.ones((4, 16))

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                y = tf.cast(x, tf.bfloat16) @ tf.cast(v, tf.bfloat16)
                loss = tf.reduce_mean(tf.cast(y, tf.float32))
            gradient = tape.gradient(loss, v)
            v.assign_sub(gradient)
            return y, loss, gradient

        y, loss, gradient = step(x)
    assert (y.dtype, gradient.dtype, gradient.device) == (tf.bfloat16, tf.float32, NAME)
    assert float(loss) == 16.0
    np.testing.assert_allclose(gradient.numpy(), np.full((16, 16), 1 / 16), rtol=1e-2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.distribute.OneDeviceStrategy("/gpu:0"),
        lambda: tf.distribute.MirroredStrategy(["/gpu:0"]),
    ],
    ids=["OneDevice", "Mirrored"],
)
def test_strategies_of_one_gpu(gpu, make):
    strategy = make()
    with strategy.scope():
        v = tf.Variable(2.0)
    assert strategy.num_replicas_in_sync == 1

    @tf.function
    def step(x):
        def replica(x):
            with tf.GradientTape() as tape:
                loss = (v * x) ** 2
            v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss

        return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)

    losses = [float(step(tf.constant(1.0))) for _ in range(4)]
    np.testing.assert_allclose(losses, [4.0 * 0.64**i for i in range(4)], rtol=1e-5)
    assert "GPU:0" in v.device


def test_checkpoints(gpu, tmp_path):
    with tf.device(gpu):
        v, n = tf.Variable([1.0, 2.0]), tf.Variable(3, dtype=tf.int64)
    path = tf.train.Checkpoint(v=v, n=n).save(str(tmp_path / "c"))
    v.assign([0.0, 0.0])
    n.assign(0)
    tf.train.Checkpoint(v=v, n=n).restore(path).assert_consumed()
    np.testing.assert_array_equal(v.numpy(), [1.0, 2.0])
    assert int(n) == 3 and v.value().device == NAME
    here = tf.Variable([0.0, 0.0])  # a variable of the host takes the same numbers
    tf.train.Checkpoint(v=here).restore(path)
    np.testing.assert_array_equal(here.numpy(), [1.0, 2.0])


def test_a_saved_model_of_gpu_variables_runs_on_the_host(gpu, tmp_path):
    class Model(tf.Module):
        def __init__(self):
            with tf.device(gpu):
                self.w = tf.Variable([[2.0], [3.0]])

        @tf.function(input_signature=[tf.TensorSpec((None, 2), tf.float32)])
        def __call__(self, x):
            return x @ self.w

    model = Model()
    with tf.device(gpu):
        there = model(tf.ones((1, 2)))
    tf.saved_model.save(model, str(tmp_path))
    here = tf.saved_model.load(str(tmp_path))(tf.ones((1, 2)))
    assert there.device == NAME
    assert there.numpy() == here.numpy() == 5.0


def test_batches_of_a_dataset(gpu):
    data = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32)).batch(2)
    with tf.device(gpu):
        total = tf.Variable(0.0)

        @tf.function
        def step(batch):
            total.assign_add(tf.reduce_sum(batch))

        for batch in data:
            step(batch)
    assert float(total) == 15.0
