"""Look-up tables: their handles, and what is done with them.

Handles are no plain data: what ops do with them is in tests/lookup/test_lookup.py.
"""

from tests.ops.samples import i64, sample

for _kind in (
    "HashTableV2",
    "MutableHashTableV2",
    "MutableHashTableOfTensorsV2",
    "AnonymousHashTable",
    "AnonymousMutableHashTable",
    "AnonymousMutableHashTableOfTensors",
):
    sample(
        _kind,
        key_dtype="float32",
        value_dtype="string",
        error=("NotFoundError", "Could not find device"),
    )
for _kind in ("MutableDenseHashTableV2", "AnonymousMutableDenseHashTable"):
    sample(
        _kind,
        empty_key=i64.of(1),
        deleted_key=i64.of(1),
        value_dtype="int64",
        error=("InvalidArgumentError", "Empty and deleted keys cannot be equal"),
    )
