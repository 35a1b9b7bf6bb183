"""What programs do with variables, and what they give eagerly, traced and as native code."""

from __future__ import annotations

import numpy as np

from intaglio import tf

LARGE = np.arange(48, dtype=np.float32).reshape(6, 8)  # in memory, not in registers


# What may hand on its input's memory, or a part of it.
UNCHANGED = {
    "tile": lambda v: tf.tile(v, [1, 1]),
    "guarantee_const": lambda v: tf.guarantee_const(v),
    "bitcast": lambda v: tf.bitcast(v, tf.int32),
    "reverse": lambda v: tf.reverse(v, []),
    "identity": tf.identity,
    "identity_n": lambda v: tf.identity_n([v])[0],
    "snapshot": lambda v: tf.raw_ops.Snapshot(input=v),
    "stop_gradient": tf.stop_gradient,
    "prevent_gradient": lambda v: tf.raw_ops.PreventGradient(input=v),
    "ensure_shape": lambda v: tf.ensure_shape(v, [6, 8]),
    "default": lambda v: tf.raw_ops.PlaceholderWithDefault(input=v, shape=[6, 8]),
    "reshape": lambda v: tf.reshape(v, [8, 6]),
    "expand": lambda v: tf.expand_dims(v, 1),
    "squeeze": lambda v: tf.squeeze(tf.expand_dims(v, 0), 0),
    "transpose": lambda v: tf.transpose(v, [0, 1]),
    "broadcast": lambda v: tf.broadcast_to(v, [6, 8]),
    "broadcast of ones": lambda v: tf.broadcast_to(v, [1, 6, 8]),
    "pad": lambda v: tf.pad(v, [[0, 0], [0, 0]]),
    "roll": lambda v: tf.roll(v, 0, 0),
    "slice": lambda v: tf.slice(v, [0, 0], [6, 8]),
    "strided slice": lambda v: v[:],
    "rows": lambda v: v[2:5],
    "slice at data": lambda v: tf.slice(v, tf.stack([tf.size(v) // 48, 0]), [4, 8]),
    "row at data": lambda v: tf.tile(v, [1, 3])[tf.size(v) // 48],
    "unstack": lambda v: tf.unstack(tf.tile(v, [1, 1]))[3],
    "split": lambda v: tf.split(v, 2)[1],
    "concat of one": lambda v: tf.concat([v], 0),
    "stack of one": lambda v: tf.stack([v]),
    "gather of all": lambda v: tf.gather(v, tf.range(6)),
    "sum over nothing": lambda v: tf.reduce_sum(v, []),
    "sum over one": lambda v: tf.reduce_sum(tf.expand_dims(v, 0), 0),
    "cond": lambda v: tf.cond(tf.size(v) > 3, lambda: tf.tile(v, [1, 1]), lambda: v[::-1]),
    "case": lambda v: tf.switch_case(tf.size(v) // 48, [lambda: v + 1, lambda: tf.reverse(v, [])]),
    "while": lambda v: tf.while_loop(lambda i, _: i < 0, lambda i, x: (i, x + 1), (tf.size(v), v))[
        1
    ],
    "call": lambda v: tf.function(lambda x: tf.tile(x, [1, 1]))(v),
    "list": lambda v: tf.TensorArray(tf.float32, 6).unstack(v).read(4),
    "stacked list": lambda v: tf.TensorArray(tf.float32, 6).unstack(v).stack(),
    "band": lambda v: tf.linalg.band_part(v, -1, -1),
    "sorted shape": lambda v: tf.reverse_sequence(v, [1] * 6, 1, 0),
    "allocate_bytes": lambda v: tf.batch_to_space(
        tf.reshape(v, [1, 6, 8, 1]), [1, 1], [[0, 0], [0, 0]]
    ),
}


AT = np.array([[3], [1], [3]], np.int32)
READS = {
    "read": lambda v: v + 0.0,
    "gather": lambda v: tf.gather(v, AT[:, 0]),
    "gather_nd": lambda v: tf.gather_nd(v, AT),
    "sparse_read": lambda v: v.sparse_read(AT[:, 0]),
    "shape": lambda v: tf.raw_ops.VariableShape(input=v.handle),
    "initialized": lambda v: tf.raw_ops.VarIsInitializedOp(resource=v.handle),
    "branch": lambda v: tf.cond(tf.constant(True), lambda: tf.gather(v, AT[:, 0]), lambda: v[:3]),
    "call": lambda v: tf.function(lambda: tf.gather(v, AT[:, 0]))(),
    "loop": lambda v: tf.while_loop(
        lambda i, _: i < 2, lambda i, s: (i + 1, s + v), (0, tf.zeros([6, 8]))
    )[1],
}
WRITES = {
    "assign": lambda v, x: v.assign(x),
    "assign_add": lambda v, x: v.assign_add(x),
    "assign_sub": lambda v, x: v.assign_sub(x),
    "scatter_nd_add": lambda v, x: v.scatter_nd_add(AT, x[:3]),
    "scatter_nd_update": lambda v, x: v.scatter_nd_update(AT[:2], x[:2]),
    "scatter_add": lambda v, x: v.scatter_add(tf.IndexedSlices(x[:3], AT[:, 0])),
    "slice": lambda v, x: v[1:3].assign(x[:2]),
    "descent": lambda v, x: tf.raw_ops.ResourceApplyGradientDescent(
        var=v.handle, alpha=0.5, delta=x
    ),
    "branch": lambda v, x: tf.cond(
        tf.reduce_sum(x) > 0, lambda: v.assign_add(x) + 0, lambda: v + 0
    ),
}


def modes(program):
    """What a function of the variables gives eagerly, traced and as native code; and the variables."""
    made = []
    for decorated in (lambda f: f, tf.function, tf.function(jit_compile=True)):
        variables = [tf.Variable(LARGE), tf.Variable(LARGE * 2)]
        function = decorated(lambda variables=variables: program(*variables))
        seen = []
        for _ in range(2):
            seen += [np.asarray(g) for g in tf.nest.flatten(function())]
            seen += [v.numpy() for v in variables]
        made.append(seen)
    return made


def agree(program):
    eager, *others = modes(program)
    for other in others:
        for want, got in zip(eager, other, strict=True):
            # Rows that are added to one element are added up in one order or another.
            np.testing.assert_allclose(want, got, rtol=3e-7)
            assert want.shape == got.shape
    return eager
