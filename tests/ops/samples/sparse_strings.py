"""Sparse tensors as strings."""

from tests.ops.samples import each, f32, i64, s, sample

A = i64([[0, 0], [0, 2], [1, 1]])
SHAPE = i64([2, 3])
THREE = [
    b'\x08\t\x12\x08\x12\x02\x08\x01\x12\x02\x08\x01"\x08' + b"\0" * 8,
    b'\x08\x03\x12\x04\x12\x02\x08\x01"\x04\x05\0\0\0',
    b'\x08\t\x12\x04\x12\x02\x08\x01"\x08\x03' + b"\0" * 7,
]

for _name in ("SerializeSparse", "SerializeManySparse"):
    each(
        ("float32", "int64", "string", "bool"),
        _name,
        sparse_indices=A,
        sparse_values=(3,),
        sparse_shape=SHAPE,
    )
sample(
    "SerializeManySparse",
    sparse_indices=i64([[0], [1]]),
    sparse_values=f32(2),
    sparse_shape=i64([3]),
    error=("InvalidArgumentError", "> 1, but saw rank: 1"),
)
sample("DeserializeSparse", serialized_sparse=s(THREE), dtype="int32")
for _name in ("DeserializeSparse", "DeserializeManySparse"):
    sample(_name, serialized_sparse=s([THREE, THREE]), dtype="int32")
    sample(
        _name,
        serialized_sparse=s([THREE]),
        dtype="float32",
        error=("InvalidArgumentError", "Requested SparseTensor of type"),
    )
