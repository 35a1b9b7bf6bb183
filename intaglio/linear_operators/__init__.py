"""Linear operators: matrices that know their structure and need not be written down.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperator.
"""
