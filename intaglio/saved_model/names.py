"""The names of files, keys, tags and signatures in saved models."""

MODEL = "saved_model.pb"
MODEL_TEXT = "saved_model.pbtxt"
VARIABLES = "variables"
ASSETS = "assets"
OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"
DEFAULT_SIGNATURE = "serving_default"
INIT_SIGNATURE = "__saved_model_init_op"
SERVING = "serve"
SCHEMA_VERSION = 1
