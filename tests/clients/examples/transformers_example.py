"""transformers 4: a small BERT of TensorFlow, its loss and a training step."""

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(3)
config = BertConfig(
    vocab_size=50,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=32,
    max_position_embeddings=20,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = TFBertForSequenceClassification(config)
ids = np.arange(24).reshape(3, 8) % 50
mask = np.ones_like(ids)
mask[0, 5:] = 0
labels = np.array([0, 1, 1])
model(ids)
for v in model.variables:
    v.assign(tf.reshape(tf.sin(tf.range(tf.size(v), dtype=tf.float32)), v.shape) * 0.1)
with tf.GradientTape() as tape:
    out = model(input_ids=ids, attention_mask=mask, labels=labels, training=True)
    loss = tf.reduce_mean(out.loss)
print("loss", round(float(loss), 5), np.round(out.logits, 4).tolist())
gradients = tape.gradient(loss, model.trainable_variables)
norm = tf.linalg.global_norm([g for g in gradients if g is not None])
print("gradients", len(gradients), round(float(norm), 4))
model.compile(tf.keras.optimizers.Adam(1e-3))
history = model.fit(
    {"input_ids": ids, "attention_mask": mask, "labels": labels}, epochs=2, verbose=0
)
print("fit", np.round(history.history["loss"], 4).tolist())
