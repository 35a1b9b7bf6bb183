"""Samples of Examples written as JSON."""

from tests.ops.samples import s, sample

FEATURES = (
    '{"features":{"feature":{"a":{"int64List":{"value":["1",2]}},'
    '"b":{"bytesList":{"value":["eA=="]}}, "c":{"floatList":{"value":[1.5]}}}}}'
)

sample(
    "DecodeJSONExample",
    json_examples=s([FEATURES, "{}"]),
    parity="TensorFlow writes lists of numbers in the longer of two forms of one meaning",
)
sample("DecodeJSONExample", json_examples=s([["{}"]]))
for text in ("{bad", '{"features":{"foo":3}}'):
    sample(
        "DecodeJSONExample",
        json_examples=s.of(text),
        error=("InvalidArgumentError", "Error while parsing JSON"),
    )
