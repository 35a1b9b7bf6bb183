"""Tensors with layouts on a mesh of four logical CPUs: meshes, layouts, ops, variables, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Say = Callable[..., None]


def main(tf: Any, say: Say) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(4)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    dtensor = tf.experimental.dtensor
    mesh = dtensor.create_mesh([("x", 2), ("y", 2)], devices=[f"CPU:{i}" for i in range(4)])
    _meshes(dtensor, mesh, say)
    _layouts(dtensor, mesh, say)
    _placing(tf, dtensor, mesh, say)
    _ops(tf, dtensor, mesh, say)
    _as_operands(tf, dtensor, mesh, say)
    _variables(tf, dtensor, mesh, say)
    _input(tf, dtensor, mesh, say)


def _kind(call: Callable[[], Any]) -> Callable[[], Any]:
    """The class of what a call raises."""

    def caught() -> Any:
        try:
            return call()
        except Exception as e:
            return type(e).__name__

    return caught


def _meshes(dtensor: Any, mesh: Any, say: Say) -> None:
    say("mesh", lambda: mesh)
    say("numbers", lambda: (mesh.size, mesh.shape(), mesh.strides, mesh.min_global_device_id()))
    say("names", lambda: (mesh.name, mesh.dim_names, mesh.device_type(), mesh.is_remote()))
    say("devices", lambda: (mesh.local_device_ids(), mesh.local_devices()))
    say("ids", lambda: mesh.global_device_ids().tolist())
    say("coordinates", lambda: mesh.coords(1))
    say("locations", lambda: (mesh.unravel_index(), mesh.local_device_locations()))
    say("location", lambda: mesh.device_location(3))
    say("dimension", lambda: (mesh["x"], mesh.dim_size("y"), mesh.contains_dim("z")))
    say("no dimension", lambda: mesh.dim_size("z"))
    say("host mesh", lambda: mesh.host_mesh() == mesh)
    say("of text", lambda: dtensor.Mesh.from_string(mesh.to_string()) == mesh)
    say("of a device", lambda: dtensor.Mesh.from_device("CPU:0"))
    say("by default", lambda: dtensor.create_mesh([("x", 4)]).shape())
    say("without dimensions", lambda: dtensor.create_mesh().dim_names)
    say("too few devices", lambda: dtensor.create_mesh([("x", 3)]))
    say("too many devices", lambda: dtensor.create_mesh({"x": 8}))
    say("no devices", lambda: dtensor.create_mesh([("x", 1)], device_type="GPU"))
    say(
        "two types",
        _kind(lambda: dtensor.create_mesh([("x", 1)], devices=["CPU:0"], device_type="GPU")),
    )
    say("named", lambda: dtensor.create_mesh([("x", 1)], mesh_name="m", devices=["CPU:1"]))
    say("clients", lambda: (dtensor.client_id(), dtensor.num_clients(), dtensor.job_name()))
    say("jobs", lambda: (dtensor.full_job_name(), dtensor.jobs(), dtensor.device_name()))
    say("counts", lambda: (dtensor.num_local_devices("CPU"), dtensor.num_global_devices("CPU")))
    say("specs", lambda: [d.to_string() for d in dtensor.local_devices("CPU")])
    say("uninitialised", lambda: dtensor.create_distributed_mesh([("x", 4)]))


def _layouts(dtensor: Any, mesh: Any, say: Say) -> None:
    layout = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
    say("layout", lambda: layout)
    say("text", lambda: layout.to_string())
    say("no such dimension", lambda: dtensor.Layout(["z", "x"], mesh))
    say("a dimension twice", lambda: dtensor.Layout(["x", "x"], mesh))
    say("parts", lambda: (layout.rank, layout.shape, layout.sharding_specs, layout.num_shards(0)))
    say("local shape", lambda: layout.local_shape_from_global_shape([4, 6]))
    say("global shape", lambda: layout.global_shape_from_local_shape([2, 6]))
    say("is", lambda: (layout.is_fully_replicated(), layout.is_batch_parallel()))
    say("replicated", lambda: dtensor.Layout.replicated(mesh, 2))
    say("batch sharded", lambda: dtensor.Layout.batch_sharded(mesh, "x", 3, axis=1))
    say("inner sharded", lambda: dtensor.Layout.inner_sharded(mesh, "y", 3))
    say("without an axis", lambda: layout.delete([1]))
    say("of a scalar", lambda: layout.delete([0, 1]))
    say("parted", lambda: layout.to_parted())
    say("offsets", lambda: (layout.offset_to_shard(), layout.offset_tuple_to_global_index((1, 0))))
    say("of its text", lambda: dtensor.Layout.from_string(layout.to_string()) == layout)
    say("of one device", lambda: dtensor.Layout.from_device("CPU:0"))


def _placing(tf: Any, dtensor: Any, mesh: Any, say: Say) -> None:
    rows = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
    both = dtensor.Layout(["x", "y"], mesh)
    whole = dtensor.copy_to_mesh(
        tf.reshape(tf.range(8.0), (4, 2)), dtensor.Layout.replicated(mesh, 2)
    )
    divided = dtensor.relayout(whole, rows)
    say("a tensor", lambda: whole)
    say("as text", lambda: str(whole))
    say("where it is", lambda: (whole.device, whole.shape, whole.dtype))
    say("divided", lambda: divided)
    say("divided as text", lambda: str(divided))
    say(
        "is one",
        lambda: (dtensor.is_dtensor(whole), dtensor.is_dtensor(tf.ones(2)), dtensor.is_dtensor(3)),
    )
    say("parts of a tensor", lambda: dtensor.unpack(divided))
    say("on the host", lambda: whole.numpy())
    say("divided on the host", _kind(divided.numpy))
    say("packed", lambda: dtensor.pack([tf.fill([2, 2], float(i)) for i in range(4)], both))
    say("three parts", lambda: dtensor.pack([tf.ones([2, 2])] * 3, both))
    say("parts of another rank", lambda: dtensor.pack([tf.ones([2])] * 4, both))
    say("unlike parts", lambda: dtensor.pack([tf.ones([2, i + 1]) for i in range(4)], both))
    say("parts with layouts", lambda: dtensor.pack([whole] * 4, both))
    say("its layout", lambda: dtensor.fetch_layout(divided) == rows)
    say("no layout", lambda: dtensor.fetch_layout(tf.ones(2)))
    say("no parts", lambda: dtensor.unpack(tf.ones(2)))
    say("checked", lambda: dtensor.check_layout(divided, rows))
    say("checked and wrong", lambda: dtensor.check_layout(whole, rows))
    odd = dtensor.copy_to_mesh(tf.ones([3]), dtensor.Layout.replicated(mesh, 1))
    say("not divisible", _kind(lambda: dtensor.relayout(odd, dtensor.Layout(["x"], mesh))))
    say("another rank", _kind(lambda: dtensor.copy_to_mesh(tf.ones([4]), rows)))
    say("divided at once", lambda: dtensor.copy_to_mesh(tf.ones([4, 2]), rows))
    say("made with a layout", lambda: dtensor.call_with_layout(tf.ones, rows, shape=(4, 2)))
    say("made without", lambda: dtensor.call_with_layout(tf.ones, None, shape=(2,)))
    say(
        "strings",
        lambda: dtensor.copy_to_mesh(tf.constant(["a", "b"]), dtensor.Layout.replicated(mesh, 1)),
    )
    with dtensor.default_mesh(mesh):
        say("of the default mesh", lambda: tf.ones([2, 2]))
        say("default mesh", lambda: dtensor.get_default_mesh() == mesh)


def _operands(tf: Any, dtensor: Any, mesh: Any) -> Any:
    def of(shape: Any, *specs: str) -> Any:
        value = tf.reshape(tf.range(48.0), shape)
        return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))

    none = dtensor.UNSHARDED
    a, b, c = of((4, 12), "x", none), of((12, 4), none, "y"), of((4, 12), none, "y")
    whole, rows = of((4, 12), none, none), of((12, 4), "x", none)
    columns = of((4, 12), none, "x")
    labels = dtensor.copy_to_mesh(tf.constant([0, 1, 1, 0]), dtensor.Layout(["x"], mesh))
    bias = dtensor.copy_to_mesh(tf.ones([12]), dtensor.Layout(["y"], mesh))
    return a, b, c, whole, rows, columns, labels, bias


def _ops(tf: Any, dtensor: Any, mesh: Any, say: Say) -> None:
    operands = _operands(tf, dtensor, mesh)
    calls = {**_arithmetic(tf, dtensor, *operands), **_arrangements(tf, dtensor, *operands)}
    for name, call in calls.items():
        say(name, call)


def _arithmetic(tf: Any, dtensor: Any, *operands: Any) -> dict[str, Callable[[], Any]]:
    a, b, c, whole, rows, columns, _, _ = operands
    return {
        "product": lambda: tf.matmul(a, b),
        "contracted": lambda: tf.matmul(columns, rows),
        "contracted on one side": lambda: tf.matmul(whole, rows),
        "sum": lambda: a + whole,
        "sum of two layouts": lambda: a + c,
        "scaled": lambda: a * 2.0,
        "compared": lambda: a > 3.0,
        "along rows": lambda: tf.reduce_sum(a, 0),
        "along columns": lambda: tf.reduce_sum(a, 1),
        "all": lambda: tf.reduce_sum(a),
        "kept": lambda: tf.reduce_mean(a, 0, keepdims=True),
        "transposed": lambda: tf.transpose(a),
    }


def _arrangements(tf: Any, dtensor: Any, *operands: Any) -> dict[str, Callable[[], Any]]:
    a, b, c, whole, _, _, labels, bias = operands
    return {
        "reshaped": lambda: tf.reshape(a, (2, 2, 12)),
        "flat": lambda: tf.reshape(a, (48,)),
        "rows": lambda: a[1:],
        "columns": lambda: a[:, 1:],
        "beside": lambda: tf.concat([a, a], 1),
        "relu": lambda: tf.nn.relu(a),
        "softmax": lambda: dtensor.fetch_layout(tf.nn.softmax(a)),
        "softmax of parts": lambda: dtensor.fetch_layout(tf.nn.softmax(c * 0.1)),
        "largest": lambda: tf.argmax(a, 1),
        "cast": lambda: tf.cast(a, tf.float64),
        "zeros like": lambda: tf.zeros_like(a),
        "ones like": lambda: tf.ones_like(a),
        "expanded": lambda: tf.expand_dims(a, 1),
        "squeezed": lambda: tf.squeeze(tf.expand_dims(a, 1), 1),
        "stacked": lambda: tf.stack([a, a]),
        "unstacked": lambda: tf.unstack(a, axis=1)[:2],
        "split": lambda: tf.split(a, 2, 1),
        "tiled": lambda: tf.tile(a, [1, 2]),
        "one hot": lambda: tf.one_hot(labels, 3),
        "gathered": lambda: tf.gather(a, labels),
        "gathered columns": lambda: tf.gather(a, [0, 1], axis=1),
        "where": lambda: tf.where(a > 1.0, a, whole),
        "einsum": lambda: tf.einsum("ij,jk->ik", a, b),
        "biased": lambda: tf.nn.bias_add(a, bias),
        "broadcast sum": lambda: a + bias,
        "padded": lambda: tf.pad(a, [[0, 0], [1, 1]]),
        "broadcast": lambda: tf.broadcast_to(a, (2, 4, 12)),
        "half of squares": lambda: tf.nn.l2_loss(a),
        "top": lambda: tf.nn.top_k(a, 2),
        "exponential": lambda: dtensor.fetch_layout(tf.exp(c)),
        "like another": lambda: dtensor.relayout_like(whole, a),
        "sorted": lambda: tf.sort(a, axis=1),
        "sum of three": lambda: tf.add_n([a, whole, c]),
        "batch of products": lambda: tf.matmul(tf.reshape(a, (4, 3, 4)), tf.reshape(a, (4, 4, 3))),
        "a small integer vector": lambda: labels + tf.constant([1, 2, 3, 4]),
    }


def _as_operands(tf: Any, dtensor: Any, mesh: Any, say: Say) -> None:
    rows = tf.reshape(tf.range(48.0), (4, 12))
    a = dtensor.copy_to_mesh(rows, dtensor.Layout(["x", dtensor.UNSHARDED], mesh))
    b = dtensor.copy_to_mesh(tf.transpose(rows), dtensor.Layout([dtensor.UNSHARDED, "y"], mesh))
    say("as a truth value", lambda: bool(tf.reduce_sum(a) > 3.0))
    say("as a number", lambda: float(tf.reduce_sum(a)))
    say("length", lambda: len(a))
    say("a plain tensor beside it", lambda: a + tf.ones([4, 12]))
    say("a plain row beside it", lambda: a + tf.ones([1]))
    say("seventeen integers", _kind(lambda: tf.gather(a, [0] * 17, axis=1) + tf.ones([17])))
    other = dtensor.create_mesh([("z", 4)], devices=[f"CPU:{i}" for i in range(4)])
    moved = dtensor.copy_to_mesh(tf.ones([4, 12]), dtensor.Layout.replicated(other, 2))
    say("two meshes", _kind(lambda: a + moved))

    @tf.function
    def traced(x: Any, y: Any) -> Any:
        product = tf.matmul(x, y)
        return dtensor.relayout(product, dtensor.Layout(["x", "y"], mesh)), tf.reduce_sum(x)

    say("traced", lambda: traced(a, b))
    say("traced again", lambda: traced(a + 1.0, b))


def _variables(tf: Any, dtensor: Any, mesh: Any, say: Say) -> None:
    layout = dtensor.Layout(["x", dtensor.UNSHARDED], mesh)
    flat = dtensor.Layout.replicated(mesh, 1)

    def ones(shape: Any = (4, 2)) -> Any:
        return dtensor.call_with_layout(tf.ones, layout, shape=shape)

    v = dtensor.DVariable(ones(), name="v")
    say("a variable", lambda: v)
    say("variable's layout", lambda: (v.layout == layout, dtensor.fetch_layout(v) == layout))
    say("variable's device", lambda: (v.device, dtensor.is_dtensor(v)))
    say("read", lambda: v.read_value())
    say("computed with", lambda: v + 1)
    say("assigned", lambda: v.assign(ones() * 2.0))
    say("assigned another layout", lambda: v.assign(dtensor.relayout(ones(), layout)))
    say("assigned a plain tensor", lambda: v.assign(tf.ones((4, 2))))
    say("added", lambda: v.assign_add(ones()).read_value())
    say("added a plain tensor", lambda: v.assign_add(tf.ones((4, 2))))
    say("subtracted", lambda: v.assign_sub(ones()).read_value())
    say("variable on the host", _kind(v.numpy))
    say("without a layout", lambda: dtensor.DVariable(tf.ones([2])))
    say("with a layout", lambda: dtensor.DVariable(tf.ones([2]), layout=flat))
    say("of a function", lambda: dtensor.DVariable(lambda: tf.ones([2]), layout=flat))
    say("two layouts", lambda: dtensor.DVariable(ones(), layout=dtensor.Layout.replicated(mesh, 2)))
    x = dtensor.copy_to_mesh(tf.reshape(tf.range(8.0), (2, 4)), dtensor.Layout.replicated(mesh, 2))
    weight, bias = dtensor.DVariable(ones() * 0.5), dtensor.DVariable(tf.zeros([2]), layout=flat)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(tf.matmul(x, weight) + bias) - 1.0) ** 2)
        for variable, gradient in zip(
            (weight, bias), tape.gradient(loss, [weight, bias]), strict=True
        ):
            variable.assign_sub(gradient * 0.0625)
        return loss

    for i in range(4):
        say(f"loss {i}", step)
    say("trained", lambda: (weight, bias))


def _input(tf: Any, dtensor: Any, mesh: Any, say: Say) -> None:
    rows = tf.reshape(tf.range(32.0), (8, 4))
    dataset = tf.data.Dataset.from_tensor_slices((rows, tf.range(8)))
    layouts = (dtensor.Layout(["x", dtensor.UNSHARDED], mesh), dtensor.Layout(["x"], mesh))
    options: dict[str, Any] = {"mesh": mesh, "layouts": layouts, "batch_dim": "x"}
    batches = dtensor.DTensorDataset(dataset, global_batch_size=4, **options)
    say("batches", lambda: [*batches])
    say("spec", lambda: batches.element_spec)
    say("is a dataset", lambda: isinstance(batches, tf.data.Dataset))
