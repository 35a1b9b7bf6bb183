"""Samples of base 64, Unicode encodings and hashes."""

from tests.ops.samples import s, sample

WRONG = "InvalidArgumentError"
BROKEN = [b"\xffa\xfe", b"\xe2\x82", b"\xe2\x82a\xf0\x9f\x98", "größe"]

sample("EncodeBase64", input=s(["hello", "a", "", b"\xfb\xff"]))
sample("EncodeBase64", input=s([["hello", "a", "", "abc"]]), pad=True)
sample("DecodeBase64", input=s(["aGVsbG8", "YQ", "YQ==", "", "-_8", "YR"]))
sample("DecodeBase64", input=s.of("a"), error=(WRONG, "Base64 string length cannot be 1 modulo 4."))
for bad in ("a+b/", "YQ=", "aGVs bG8"):
    sample("DecodeBase64", input=s.of(bad), error=(WRONG, "Invalid character found in base64."))

for target in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
    sample(
        "UnicodeTranscode",
        input=s(["größe", "\U0001f600", ""]),
        input_encoding="UTF-8",
        output_encoding=target,
    )
for errors in ("replace", "ignore"):
    sample(
        "UnicodeTranscode",
        input=s(BROKEN),
        input_encoding="UTF-8",
        output_encoding="UTF-8",
        errors=errors,
    )
sample(
    "UnicodeTranscode",
    input=s(BROKEN),
    input_encoding="UTF-8",
    output_encoding="UTF-8",
    errors="strict",
    error=(WRONG, "Invalid formatting on input string"),
)
sample(
    "UnicodeTranscode",
    input=s(BROKEN),
    input_encoding="UTF-8",
    output_encoding="UTF-8",
    replacement_char=ord("?"),
)
sample(
    "UnicodeTranscode",
    input=s(["a\x01b\n"]),
    input_encoding="UTF-8",
    output_encoding="UTF-8",
    replace_control_characters=True,
)
sample("UnicodeTranscode", input=s([b"\xe9"]), input_encoding="ISO-8859-1", output_encoding="UTF-8")
sample(
    "UnicodeTranscode",
    input=s(["a"]),
    input_encoding="foo",
    output_encoding="UTF-8",
    error=(WRONG, "Could not create converter for input encoding: foo"),
)
sample(
    "UnicodeTranscode",
    input=s(["a"]),
    input_encoding="UTF-8",
    output_encoding="UTF-16",
    error=(WRONG, 'of "UTF-16" is not in the list of allowed values'),
)
