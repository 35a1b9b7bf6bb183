"""The model that Intaglio and TensorFlow save for each other, written against either."""

from __future__ import annotations

from typing import Any

INPUT = [[0.5, -1.0, 2.0], [3.0, 0.25, -0.125]]


def build(tf: Any) -> Any:
    """A module with the kinds of things that models have; `tf` is TensorFlow or Intaglio."""

    class Dense(tf.Module):
        def __init__(self, rows: int, columns: int, start: float) -> None:
            super().__init__()
            values = [start + 0.25 * i for i in range(rows * columns)]
            self.w = tf.Variable(tf.reshape(tf.constant(values), [rows, columns]))
            self.b = tf.Variable(tf.zeros([columns]), name="bias")

        def __call__(self, x: Any) -> Any:
            return tf.matmul(x, self.w) + self.b

    class Network(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [Dense(3, 4, -1.0), Dense(4, 2, 0.5)]
            self.extra = {
                "names": tf.Variable(["a", "bc"]),
                "steps": tf.Variable(7, dtype=tf.int64, trainable=False),
            }
            self.table = tf.Variable(tf.cast(tf.range(6), tf.float16), shape=tf.TensorShape([None]))
            self.scale = tf.constant([2.0, -0.5])

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def __call__(self, x: Any) -> Any:
            hidden = tf.nn.relu(self.layers[0](x))
            return {"logits": self.layers[1](hidden) * self.scale, "hidden": hidden}

        @tf.function
        def collatz(self, n: Any, limit: int = 100, *, doubled: bool = False) -> Any:
            count = tf.constant(0)
            while n > 1 and count < limit:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                count += 1
            return (count * 2 if doubled else count), None

        @tf.function(input_signature=[])
        def step(self) -> Any:
            self.extra["steps"].assign_add(1)
            return self.extra["steps"].read_value()

        @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
        def greet(self, who: Any) -> Any:
            return tf.strings.join([self.extra["names"][1], who], "-")

    network = Network()
    network.collatz(tf.constant(6))
    network.collatz(tf.constant(6), doubled=True)
    return network


def save(tf: Any, path: str) -> None:
    """Saves the model with one signature."""
    network = build(tf)
    tf.saved_model.save(network, path, signatures={"predict": network.__call__})


def answers(tf: Any, model: Any) -> dict[str, Any]:
    """What a loaded model answers, as plain numbers and texts."""
    x = tf.constant(INPUT)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x)["logits"] ** 2)
    variables = [layer.w for layer in model.layers] + [layer.b for layer in model.layers]
    gradients = tape.gradient(loss, variables)
    result = {
        "logits": model(x)["logits"].numpy().tolist(),
        "hidden": model(x)["hidden"].numpy().tolist(),
        "signature": model.signatures["predict"](x=x)["logits"].numpy().tolist(),
        "gradients": [g.numpy().tolist() for g in gradients],
        "collatz": int(model.collatz(tf.constant(27), 100)[0]),
        "doubled": int(model.collatz(tf.constant(6), doubled=True)[0]),
        "steps": [int(model.step()), int(model.step())],
        "greeting": model.greet("x").numpy().decode(),
        "table": model.table.numpy().tolist(),
        "trainable": [v.trainable for v in (model.table, model.extra["steps"])],
        "names": [n.decode() for n in model.extra["names"].numpy().tolist()],
    }
    try:
        model.collatz(tf.constant(6.0))
    except ValueError as e:
        result["mismatch"] = str(e)
    return result
