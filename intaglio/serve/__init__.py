"""Serving SavedModels over HTTP with the REST interface of TensorFlow Serving: `intaglio serve`.

Follows https://www.tensorflow.org/tfx/serving/api_rest.
"""
