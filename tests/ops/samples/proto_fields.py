"""Samples of fields of serialized messages: those of TensorFlow, which both sides know."""

from tests.ops.samples import b1, f32, f64, i32, i64, s, sample, u32, u64

# Two TensorProtos: float32 [1, 2] with two numbers, and int32 without a shape.
FLOATS = b"\x08\x01\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02\x2a\x08\x00\x00\xc0\x3f\x00\x00\x00\xc0"
INTS = b"\x08\x03\x3a\x03\x05\x06\x07"
KIND = {"message_type": "tensorflow.TensorProto"}

PAIR = s([FLOATS, INTS])
sample(
    "DecodeProtoV2",
    bytes=PAIR,
    **KIND,
    field_names=["dtype", "float_val", "int_val"],
    output_types=["int32", "float32", "int64"],
)
sample(
    "DecodeProtoV2",
    bytes=s([[FLOATS], [INTS]]),
    **KIND,
    field_names=["tensor_shape", "float_val"],
    output_types=["string", "float64"],
)
sample(
    "DecodeProtoV2",
    bytes=s.of(INTS),
    **KIND,
    field_names=["int_val", "string_val", "version_number"],
    output_types=["int32", "string", "int32"],
)
sample(
    "DecodeProtoV2",
    bytes=s(["dtype: DT_INT32 int_val: [7, 8] tensor_content: 'ab'", "bool_val: true"]),
    **KIND,
    message_format="text",
    field_names=["dtype", "int_val", "tensor_content", "bool_val"],
    output_types=["int32", "int32", "string", "bool"],
)
WRONG = {"bytes": PAIR, **KIND, "field_names": ["dtype"], "output_types": ["int32"]}
for change, kind, text in (
    ({"field_names": ["none"]}, "InvalidArgumentError", "Unknown field: none"),
    ({"output_types": ["string"]}, "InvalidArgumentError", "nexpected output type"),
    ({"output_types": []}, "InvalidArgumentError", "same length"),
    ({"message_type": "tensorflow.No"}, "InvalidArgumentError", "No descriptor found"),
    ({"message_format": "json"}, "InvalidArgumentError", "one of binary or text"),
    ({"bytes": s([b"\xff\xff"])}, "DataLossError", "nable to parse"),
    ({"bytes": s(0)}, "InvalidArgumentError", "at least one value"),
    ({"descriptor_source": "/no/such/file"}, "InvalidArgumentError", "descriptor set"),
):
    sample("DecodeProtoV2", **(WRONG | change), error=(kind, text))

sample(
    "EncodeProto",
    sizes=i32([[1, 2, 2], [0, 1, 0]]),
    values=[i32([[1], [3]]), f32([[1.5, -2.0], [3.0, 4.0]]), s([["a", "bc"], ["d", ""]])],
    **KIND,
    field_names=["dtype", "float_val", "string_val"],
)
sample(
    "EncodeProto",
    sizes=i32([[[2, 1, 1, 1]]]),
    values=[i64([[[-1, 1 << 40]]]), f64([[[0.25]]]), b1([[[True]]]), u64([[[1 << 63]]])],
    **KIND,
    field_names=["int64_val", "double_val", "bool_val", "uint64_val"],
)
# Fields are written in the order of their numbers.
sample(
    "EncodeProto",
    sizes=i32([[1, 1, 1]]),
    values=[u32([[4000000000]]), i64([[-7]]), s([[b"\x12\x02\x08\x02"]])],
    **KIND,
    field_names=["uint32_val", "int_val", "tensor_shape"],
)
ONE = {"sizes": i32([[1]]), "values": [i32([[1, 2]])], **KIND, "field_names": ["int_val"]}
for change, text in (
    ({"field_names": ["none"]}, "nknown field"),
    ({"values": [s([["a"]])]}, "ncompatible type for field"),
    ({"sizes": i32([[3]])}, "must not be larger than value tensor"),
    ({"sizes": i32([[1, 1]])}, "sizes should be batch_size"),
    ({"values": [i32([1])]}, ""),
):
    sample("EncodeProto", **(ONE | change), error=("InvalidArgumentError", text))
