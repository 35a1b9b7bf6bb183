"""Samples of regular expressions: RE2's syntax and its matching rules."""

from tests.ops.samples import s, sample

WRONG = "InvalidArgumentError"
TEXTS = ["hello", "a.b", "x1y22", "größe", "", "a\nb\n", "aab"]
PATTERNS = {
    "l": "L", "(l+)": r"<\1|\0>", "l+": r"\\", "": "-", ".": "x", r"\.": "x", "a*": "-", "(?i)L": "_",
    "a.b": "x", "(?s)a.b": "x", r"\pL": "x", r"\p{Lu}|\PL": "u", "[[:alpha:]]+": "w", "$": "!", r"\d+": "#",
    r"[^\d\pL]": "x", "(a)|b": r"<\1>", r"\Ah": "J", r"o\z": "J", "(?m)^.": "x", "(?m)$": "x", "b{0,2}": "x",
    "(?P<n>b)": r"[\1]", "a(?i)B": "x", "(a(?i)B)|(B)": "x", r"\Q.\E": "d", r"[\]\-.]": "c", r"\x{f6}": "oe", r"\w\b": "e",
    "[a-c]|[[:digit:][:space:]]": "k", "(?:l|l)": "$1&", "(?:l)": r"\9", "ll": r"\x", r"\s": "_", "a??": "q", "x|y": "z", "a{": "w",
}  # fmt: skip

for pattern, rewrite in PATTERNS.items():
    sample("RegexReplace", input=s(TEXTS), pattern=s.of(pattern), rewrite=s.of(rewrite))
    sample(
        "StaticRegexReplace", input=s(TEXTS), pattern=pattern, rewrite=rewrite, replace_global=False
    )
    sample("RegexFullMatch", input=s(TEXTS), pattern=s.of(pattern))
for pattern in ("a.*b", "[a-z]+", "(?s).*"):
    sample("StaticRegexFullMatch", input=s([TEXTS]), pattern=pattern)
for bad in ("(", "a)", "[a", "(?=b)", "(?!b)", r"(a)\1", "a{0,1001}", "*a", "a**", r"\8", "\\"):
    sample("RegexFullMatch", input=s(["a"]), pattern=s.of(bad), error=(WRONG, "Invalid pattern: "))
sample(
    "RegexFullMatch",
    input=s(["a"]),
    pattern=s(["a"]),
    error=(WRONG, "Pattern must be scalar, but received [1]"),
)
