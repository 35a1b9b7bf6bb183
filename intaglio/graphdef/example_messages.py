"""`Example` and `SequenceExample`: records of named features.

Names and field numbers are those of TensorFlow's published `.proto` files.
"""

from __future__ import annotations

from intaglio.graphdef.declarations import declare, message_class

DECLARATIONS = """
message BytesList
  value = 1 *bytes
message FloatList
  value = 1 *float
message Int64List
  value = 1 *int64
message Feature
  bytes_list = 1 BytesList |kind
  float_list = 2 FloatList |kind
  int64_list = 3 Int64List |kind
message Features
  feature = 1 map<string,Feature>
message FeatureList
  feature = 1 *Feature
message FeatureLists
  feature_list = 1 map<string,FeatureList>
message Example
  features = 1 Features
message SequenceExample
  context = 1 Features
  feature_lists = 2 FeatureLists
"""

FILE = declare(DECLARATIONS, "intaglio/example_messages.proto")

BytesList = message_class("BytesList")
FloatList = message_class("FloatList")
Int64List = message_class("Int64List")
Feature = message_class("Feature")
Features = message_class("Features")
FeatureList = message_class("FeatureList")
FeatureLists = message_class("FeatureLists")
Example = message_class("Example")
SequenceExample = message_class("SequenceExample")

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
]
