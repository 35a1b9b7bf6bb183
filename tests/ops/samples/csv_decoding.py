"""Samples of records of comma-separated values."""

from tests.ops.samples import f32, f64, i32, i64, s, sample

WRONG = "InvalidArgumentError"
THREE = [i32.of(7), f32.of(8.0), s.of("d")]


def csv(records, defaults, **options):
    sample("DecodeCSV", records=records, record_defaults=defaults, **options)


csv(s(["1,2.5,x", "3,4,y"]), THREE)
csv(s.of("1,2.5,x"), THREE)
csv(s([["1,2.5,x"], [",,"]]), THREE)
csv(s([]), THREE)
csv(s(["-5,1e3", " 6 ,nan"]), [i64.of(0), f64.of(0.0)])
csv(s(['"a,b","c ""q"" d"', '"a\nb",']), [s.of("x"), s.of("y")])
csv(s(['a"b,c']), [s.of(""), s.of("")], use_quote_delim=False)
csv(s(["a;b"]), [s.of(""), s.of("")], field_delim=";")
csv(s(["NA;b", '"NA";NA']), [i32.of(5), s.of("z")], field_delim=";", na_value="NA")
csv(s(["1,2,3,4"]), [i32.of(0), f32.of(0.0)], select_cols=[1, 3])
csv(s(["1"]), [i32([])])
for record, defaults, phrase in (
    (",1", [i32([]), i32.of(0)], "Field 0 is required but missing in record 0!"),
    ("1,2", THREE, "Expect 3 fields but have 2 in record 0"),
    ("1,2,3,4", THREE, "Expect 3 fields but have 4 in record 0"),
    ("a,2,3", THREE, "Field 0 in record 0 is not a valid int32: a"),
    ("1,b,3", THREE, "Field 1 in record 0 is not a valid float: b"),
    ("99999999999,1,1", THREE, "is not a valid int32: 99999999999"),
    ('"a,b', [s.of("")] * 2, "Quoted field has to end with quote followed by delim"),
    ('a"b,c', [s.of("")] * 2, "Unquoted fields cannot have quotes/CRLFs inside"),
    ("a\nb,c", [s.of("")] * 2, "Unquoted fields cannot have quotes/CRLFs inside"),
    ('"a"b,c', [s.of("")] * 2, "has to be escaped by another quote"),
    ("", [i32.of(1)], "Expect 1 fields but have 0 in record 0"),
    ("1", [i32([1, 2])], "only be 1 default per field but field 0 has 2"),
):
    csv(s([record]), defaults, error=(WRONG, phrase))
csv(s(["1;2"]), [i32.of(0)], field_delim=";;", error=(WRONG, "only 1 char"))
