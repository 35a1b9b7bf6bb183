"""`tf.keras` and its short names are Keras' own."""

from intaglio import tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.Adam(0.1), loss=tf.losses.MeanSquaredError())
tf.optimizers.SGD(0.1)
print(tf.keras.layers.Densee)  # error; mypy:
