"""Words of a text counted in a dataset: strings, ragged tensors, a table."""

from intaglio import tf

TEXT = ["The plate is inked", "and the plate is wiped", "the press prints the plate"]


@tf.function
def words(lines):
    return tf.strings.split(tf.strings.lower(lines))


dataset = tf.data.Dataset.from_tensor_slices(TEXT).batch(2).map(words)
dataset = dataset.flat_map(lambda ragged: tf.data.Dataset.from_tensor_slices(ragged.flat_values))
found, _, counts = tf.unique_with_counts(tf.stack(list(dataset)))
order = tf.argsort(counts, direction="DESCENDING", stable=True)
for i in order[:3]:
    print(found[i].numpy().decode(), int(counts[i]))
