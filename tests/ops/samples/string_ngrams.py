"""Runs of neighbouring strings, and strings cut at the characters of a delimiter."""

from tests.ops.samples import i32, i64, s, sample

WORDS = s(["a", "b", "c", "d", "e"])
PLAIN = {
    "separator": " ",
    "ngram_widths": [2],
    "left_pad": "",
    "right_pad": "",
    "pad_width": 0,
    "preserve_short_sequences": False,
}

for _splits in (i64([0, 3, 3, 4, 5]), i32([0, 2, 5])):
    sample("StringNGrams", data=WORDS, data_splits=_splits, **PLAIN)
    sample(
        "StringNGrams",
        data=WORDS,
        data_splits=_splits,
        **{**PLAIN, "ngram_widths": [1, 3], "separator": "|"},
    )
    sample(
        "StringNGrams",
        data=WORDS,
        data_splits=_splits,
        **{**PLAIN, "left_pad": "<", "right_pad": ">", "pad_width": -1},
    )
    sample(
        "StringNGrams",
        data=WORDS,
        data_splits=_splits,
        **{**PLAIN, "ngram_widths": [3, 2], "left_pad": "<", "right_pad": ">", "pad_width": 1},
    )
    sample(
        "StringNGrams",
        data=WORDS,
        data_splits=_splits,
        **{**PLAIN, "ngram_widths": [4], "preserve_short_sequences": True},
    )
sample(
    "StringNGrams",
    data=WORDS,
    data_splits=i64([0, 3]),
    **PLAIN,
    error=("InvalidArgumentError", "Last split value must be data size"),
)
sample(
    "StringNGrams",
    data=WORDS,
    data_splits=i64([1, 5]),
    **PLAIN,
    error=("InvalidArgumentError", "First split value must be 0"),
)

for _skip in (True, False):
    sample("StringSplit", input=s(["a b  c", "", " x "]), delimiter=s.of(" "), skip_empty=_skip)
    sample("StringSplit", input=s(["a,b;c", ";;"]), delimiter=s.of(",;"), skip_empty=_skip)
    sample("StringSplit", input=s(["abc", "", "z"]), delimiter=s.of(""), skip_empty=_skip)
sample(
    "StringSplit",
    input=s([["a"]]),
    delimiter=s.of(" "),
    error=("InvalidArgumentError", "input must be a vector"),
)
