"""AutoGraph: converts Python control flow to graph control flow, by rewriting the source of functions.

Follows https://www.tensorflow.org/guide/function#autograph_transformations; the generated code
has the form that `tf.autograph.to_code` documents.
"""
