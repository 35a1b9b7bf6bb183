"""keras_hub: a transformer's layers and a sampler."""

import keras
import keras_hub
import numpy as np

keras.utils.set_random_seed(1)
tokens = np.array([[1, 2, 3, 4], [4, 3, 2, 1]])
embedding = keras_hub.layers.TokenAndPositionEmbedding(10, 4, 8, embeddings_initializer="ones")
encoder = keras_hub.layers.TransformerEncoder(16, 2, kernel_initializer="ones")
out = encoder(embedding(tokens) * np.linspace(0, 1, 8))
print("encoder", np.round(out, 4).tolist()[0][0])
packer = keras_hub.layers.StartEndPacker(6, start_value=7, end_value=8, pad_value=0)
print("packed", np.asarray(packer([1, 2, 3])).tolist())
print(
    "positions", np.round(keras_hub.layers.SinePositionEncoding()(np.ones((1, 2, 4))), 4).tolist()
)
