"""Samples of tensors as the bytes of messages."""

from tests.ops.samples import ORDINARY, each, f32, i32, s, sample

WRONG = "InvalidArgumentError"
TWO = b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00'

each(ORDINARY, "SerializeTensor", tensor=(2, 3))
each(("float32", "string", "bool"), "SerializeTensor", tensor=())
sample("SerializeTensor", tensor=f32(0, 2))
sample("SerializeTensor", tensor=i32([1, 2]))

sample("ParseTensor", serialized=s.of(TWO), out_type="int32")
sample("ParseTensor", serialized=s.of(b'\x08\x01\x12\x00"\x04\x00\x00`@'), out_type="float32")
sample(
    "ParseTensor",
    serialized=s.of(b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc"),
    out_type="string",
)
for given, out_type, phrase in (
    (s.of(TWO), "float32", "Type mismatch between parsed tensor (int32) and dtype (float)"),
    (
        s.of("garbage"),
        "float32",
        "Could not parse `serialized` as TensorProto, base64: Z2FyYmFnZQ==",
    ),
    (s([TWO]), "int32", "Expected `serialized` to be a scalar, got shape: [1]"),
):
    sample("ParseTensor", serialized=given, out_type=out_type, error=(WRONG, phrase))
