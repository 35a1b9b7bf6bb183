"""Tensors and variables: operators, conversions, attributes, functions."""

from typing import reveal_type

from intaglio import tf

x = tf.constant([1.0, 2.0])
n = tf.range(3)
reveal_type(x)  # -> Tensor
reveal_type(x + 1)  # -> Tensor
reveal_type(1 - x)  # -> Tensor
reveal_type(2.0 / x**2 % 3 // x)  # -> Tensor
reveal_type(x @ [[1.0], [2.0]])  # -> Tensor
reveal_type(-abs(x))  # -> Tensor
reveal_type(~(x > 1) | (x == x) & (x != 2))  # -> Tensor
reveal_type(x[0])  # -> Tensor
reveal_type(x[..., tf.newaxis, 1:])  # -> Tensor
reveal_type(float(x[0]) + int(x[1]))  # -> float
reveal_type(x.shape)  # -> TensorShape
reveal_type(x.dtype)  # -> DType
reveal_type(tf.reduce_sum(x))  # -> Tensor
reveal_type(tf.matmul(x, x, transpose_b=True))  # -> Tensor
reveal_type(tf.nn.relu(x))  # -> Tensor
reveal_type(tf.cast(x, tf.int32))  # -> Tensor
reveal_type(tf.zeros([2, 3]))  # -> Tensor
reveal_type(tf.random.normal([2]))  # -> Tensor
reveal_type(tf.concat([x, x], 0))  # -> Tensor
reveal_type(tf.reshape(x, [-1]))  # -> Tensor

v = tf.Variable(x, trainable=False, name="v")
reveal_type(v)  # -> Variable
reveal_type(v + 1)  # -> Tensor
reveal_type(1.0 - v * v)  # -> Tensor
reveal_type(v == 1)  # -> Tensor
reveal_type(v[0])  # -> Tensor
reveal_type(v.assign(x))  # -> Variable
reveal_type(v.assign_add(x).assign_sub(x))  # -> Variable
reveal_type(v.read_value())  # -> Tensor
reveal_type(tf.reduce_mean(v))  # -> Tensor

x.append(1)  # error
print(x.shapes)  # error
v.assigned(1)  # error
tf.Variable(1.0, trainabel=False)  # error
tf.reduce_summ(x)  # error
