"""Text as code points: decoding, encoding, the scripts of characters."""

from tests.ops.samples import i32, i64, s, sample

TEXTS = s(["größe", "東京", "", "a\u0001b", "\U0001f600!"])
BROKEN = s.of([b"a\xffb", b"\xe6\x9d", b"\xc3\xa9\x80z", b"\xf0\x9f\x98"])

for _op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
    sample(_op, input=TEXTS, input_encoding="UTF-8")
    sample(_op, input=TEXTS, input_encoding="UTF-8", replace_control_characters=True)
    for _errors in ("replace", "ignore"):
        sample(_op, input=BROKEN, input_encoding="UTF-8", errors=_errors, replacement_char=63)
    sample(
        _op,
        input=BROKEN,
        input_encoding="UTF-8",
        errors="strict",
        error=("InvalidArgumentError", "Invalid formatting on input string"),
    )
    sample(_op, input=s.of([b"\x00a\x00b", b"\xd8\x3d\xde\x00"]), input_encoding="UTF-16-BE")
    sample(_op, input=s.of([b"gr\xf6\xdfe"]), input_encoding="ISO-8859-1")
    sample(
        _op,
        input=TEXTS,
        input_encoding="nonsense",
        error=("InvalidArgumentError", "Could not create converter"),
    )

for _encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
    sample(
        "UnicodeEncode",
        input_values=i32([72, 246, 0x6771, 0x1F600, 105]),
        input_splits=i64([0, 2, 2, 5]),
        output_encoding=_encoding,
    )
for _errors in ("replace", "ignore"):
    sample(
        "UnicodeEncode",
        input_values=i32([72, 0xD800, -1, 0x110000, 105]),
        input_splits=i32([0, 2, 2, 5]),
        output_encoding="UTF-8",
        errors=_errors,
        replacement_char=63,
    )
sample(
    "UnicodeEncode",
    input_values=i32([0xD800]),
    input_splits=i64([0, 1]),
    output_encoding="UTF-8",
    errors="strict",
    error=("InvalidArgumentError", "out of range for Unicode"),
)
sample(
    "UnicodeEncode",
    input_values=i32([65]),
    input_splits=i64([1, 1]),
    output_encoding="UTF-8",
    error=("InvalidArgumentError", "must be zero"),
)

sample("UnicodeScript", input=i32([97, 1103, 0x6771, 32, -1, 48, 0x3042, 0x1F600, 0x10FFFF]))
sample("UnicodeScript", input=i32([[0x110000, 0], [0x5D0, 0xAC00]]))
