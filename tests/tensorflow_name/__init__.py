"""Keras and other libraries on Intaglio under the name tensorflow."""
