"""Samples of hashes of strings."""

from tests.ops.samples import f32, i32, s, sample

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

sample("Fingerprint", data=s(["a", "bc", ""]), method=s.of("farmhash64"))
sample("Fingerprint", data=s([["a", "bc"], ["", "d"]]), method=s.of("farmhash64"))
sample("Fingerprint", data=s([["a"], ["x" * 90]]), method=s.of("farmhash64"))
sample("Fingerprint", data=f32(2, 3), method=s.of("farmhash64"))
sample("Fingerprint", data=i32([1, 2]), method=s.of("farmhash64"))
sample("Fingerprint", data=i32(2, 0), method=s.of("farmhash64"))
sample("Fingerprint", data=i32([1]), method=s.of("md5"), error=("InvalidArgumentError", "method"))
sample(
    "Fingerprint",
    data=i32(),
    method=s.of("farmhash64"),
    error=("InvalidArgumentError", "dimension"),
)

sample(
    "StringToHashBucket",
    string_tensor=s(["", "a", "abc", "abcdefg", "abcdefgh", "abcdefghi" * 3]),
    num_buckets=2**62,
)
sample("StringToHashBucket", string_tensor=s([["a"], ["b"]]), num_buckets=10)
sample(
    "StringToHashBucket",
    string_tensor=s(["a"]),
    num_buckets=0,
    error=("InvalidArgumentError", "must be at least minimum 1"),
)
