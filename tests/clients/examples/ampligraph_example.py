"""AmpliGraph: embeddings of a graph of facts."""

import importlib

import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")  # the library uses what TensorFlow calls deprecated
features = importlib.import_module("ampligraph.latent_features")
tf.random.set_seed(0)
facts = np.array([[f"e{i % 5}", f"r{i % 2}", f"e{(3 * i + 1) % 7}"] for i in range(40)])
model = features.ScoringBasedEmbeddingModel(eta=2, k=4, scoring_type="TransE")
model.compile(optimizer="adam", loss="pairwise")
losses = model.fit(facts, batch_size=10, epochs=5, verbose=False).history["loss"]
print("loss falls", losses[-1] < losses[0])
print("scores", model.predict(facts[:3]).shape)
