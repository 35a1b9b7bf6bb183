"""Why a call is slower than TensorFlow's: by expression, or by `family:size` for all of a family."""

from __future__ import annotations

PAGES = (
    "a new result's memory is touched for the first time in every call, where TensorFlow's "
    "allocator hands out what was freed last (see above)"
)
DOUBLE = "computed in double precision from arrays of coefficients, several passes each"
CALLS = "several NumPy calls where TensorFlow has one kernel"
TEXTS = "strings are Python objects, each made and freed by itself"
PHILOX = (
    "normal numbers are made by NumPy where there are too few for machine code, in several passes"
)
ONE_KERNEL = "several passes over the array where TensorFlow makes one"
PATTERNS = "Python's regular expressions go back where RE2 has an automaton, string by string"

REASONS: dict[str, str] = {
    "arithmetic:10000000": PAGES,
    "transcendental:10": CALLS,
    "transcendental:10000": ONE_KERNEL,
    "transcendental:10000000": PAGES,
    "comparison and logic:10000000": PAGES,
    "cast:10000": ONE_KERNEL,
    "cast:10000000": PAGES,
    "rounding:10000000": PAGES,
    "bits:10000000": PAGES,
    "reduction:10000": "NumPy does not use vector instructions here",
    "reduction:10000000": "NumPy does not use vector instructions here, or passes twice",
    "scan:10000000": PAGES,
    "gather and scatter:10": CALLS,
    "gather and scatter:10000": CALLS,
    "gather and scatter:10000000": ONE_KERNEL,
    "segments:10": CALLS,
    "segments:10000": CALLS,
    "segments:10000000": ONE_KERNEL,
    "joining:10000000": PAGES,
    "order:10000000": PAGES,
    "filling:10000000": PAGES,
    "sorting:10": CALLS,
    "sorting:10000": ONE_KERNEL,
    "sorting:10000000": ONE_KERNEL,
    "products:10": CALLS,
    "products:10000000": "one thread, and NumPy's loop over small matrices",
    "linear algebra:10": CALLS,
    "linear algebra:10000": "LAPACK is called for each small matrix",
    "linear algebra:10000000": "LAPACK is called for each small matrix",
    "convolution and pooling:10": CALLS,
    "convolution and pooling:10000": ONE_KERNEL,
    "convolution and pooling:10000000": ONE_KERNEL,
    "activations, normalisation and losses:10": CALLS,
    "activations, normalisation and losses:10000": ONE_KERNEL,
    "activations, normalisation and losses:10000000": ONE_KERNEL,
    "random:10": PHILOX,
    "random:10000": PHILOX,
    "random:10000000": "machine code on one thread, where TensorFlow counts those of two",
    "tf.random.shuffle(x)": "TensorFlow's own order: swaps that depend on one another, and a gather",
    "strings:10": TEXTS,
    "strings:10000": TEXTS,
    "strings:10000000": TEXTS,
    "tf.strings.length(s)": "the size stands in each string's object, somewhere in memory",
    "image:10": CALLS,
    "image:10000": ONE_KERNEL,
    "image:10000000": ONE_KERNEL,
    "signal:10": CALLS,
    "signal:10000": "NumPy's FFT",
    "signal:10000000": "NumPy's FFT",
    "sets and sparse:10": CALLS,
    "sets and sparse:10000": CALLS,
    "sets and sparse:10000000": CALLS,
    "tf.math.lgamma(p)": DOUBLE,
    "tf.math.digamma(p)": DOUBLE,
    "tf.math.erf(x)": "two polynomials, each some NumPy calls; large arrays are computed by machine code",
    "tf.math.igamma(p, p)": "series and fractions in double precision, some NumPy calls for each term",
    "tf.nn.gelu(x)": "five passes over the array, each with a new result",
    "tf.cast(x, tf.float16)": "NumPy converts to half precision number by number",
    "tf.where(b, x, y)": "mixed bit by bit, in four passes over parts that stay in the cache",
    "tf.unique(small)": "counted in several passes where TensorFlow has a hash table",
    "tf.strings.regex_replace(s, 'a+', 'b')": PATTERNS,
    "tf.strings.as_string(small_string)": "written number by number by Python",
    "tf.strings.to_number(digits)": "few numbers are read by Python one by one",
    "tf.random.categorical(m, 1)": "every draw is compared with all sums of its row",
}
