"""Samples of hashes of strings."""

from tests.ops.samples import s, sample

WRONG = "InvalidArgumentError"
LENGTHS = (*range(70), 127, 128, 129, 192, 200, 300)
TEXTS = [bytes((7 * i * i + n) % 251 for i in range(n)) for n in LENGTHS]
sample("StringToHashBucketStrong", input=s(TEXTS), num_buckets=2**62, key=[1, 2])
sample("StringToHashBucketStrong", input=s(["a"]), num_buckets=10, key=[-1, 5])
sample(
    "StringToHashBucketStrong",
    input=s(["a"]),
    num_buckets=10,
    key=[1],
    error=(WRONG, "Key must have 2 elements"),
)
sample(
    "StringToHashBucketStrong",
    input=s(["a"]),
    num_buckets=0,
    key=[1, 2],
    error=(WRONG, "of 0 must be at least minimum 1"),
)

sample("StringToHashBucketFast", input=s(TEXTS), num_buckets=2**62)
sample("StringToHashBucketFast", input=s([["hello", "größe"]]), num_buckets=10)
sample(
    "StringToHashBucketFast",
    input=s(["a"]),
    num_buckets=0,
    error=(WRONG, "of 0 must be at least minimum 1"),
)
