"""Text as characters and code points.

Follows https://www.tensorflow.org/api_docs/python/tf/strings. `errors` is the treatment of
malformed text: "strict" raises InvalidArgumentError, "replace" inserts `replacement_char`
for it, "ignore" leaves it out. Results have one dimension more, which is ragged; of a
scalar they are vectors.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import strings

REPLACEMENT = 65533


@dispatchable
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of texts in an encoding.

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position. With
    `replace_control_characters` so are the control characters up to U+001F.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_decode

    >>> tf.strings.unicode_decode(["ab", "c"], "UTF-8")
    <tf.RaggedTensor [[97, 98], [99]]>
    """
    return strings.decode(
        input, input_encoding, errors, replacement_char, replace_control_characters, False, name
    )


@dispatchable
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The code points of texts in an encoding, and the byte at which each begins.

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position. With
    `replace_control_characters` so are the control characters up to U+001F.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_decode_with_offsets

    >>> tf.strings.unicode_decode_with_offsets(["ab"], "UTF-8")[1]
    <tf.RaggedTensor [[0, 1]]>
    """
    return strings.decode(
        input, input_encoding, errors, replacement_char, replace_control_characters, True, name
    )


@dispatchable
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The characters of texts in an encoding, each as a string.

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_split

    >>> tf.strings.unicode_split(["ab", "c"], "UTF-8")
    <tf.RaggedTensor [[b'a', b'b'], [b'c']]>
    """
    return strings.characters(input, input_encoding, errors, replacement_char, False, name)


@dispatchable
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    """The characters of texts in an encoding, and the byte at which each begins.

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_split_with_offsets

    >>> tf.strings.unicode_split_with_offsets(["ab"], "UTF-8")[0]
    <tf.RaggedTensor [[b'a', b'b']]>
    """
    return strings.characters(input, input_encoding, errors, replacement_char, True, name)


@dispatchable
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    name: str | None = None,
) -> Any:
    """Texts in UTF-8, UTF-16-BE or UTF-32-BE of the code points in the innermost rows.

    Raises ValueError for a scalar.

    `errors` says what is done with invalid input: "strict" raises InvalidArgumentError, "ignore"
    drops it, "replace" puts the code point `replacement_char` in its position.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_encode

    >>> tf.strings.unicode_encode([[72, 105]], "UTF-8").numpy().tolist()
    [b'Hi']
    """
    return strings.encode(input, output_encoding, errors, replacement_char, name)


@dispatchable
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The number of the script of each code point, as ICU numbers them; -1 for none.

    https://www.tensorflow.org/api_docs/python/tf/strings/unicode_script

    >>> tf.strings.unicode_script([97, 0x3042]).numpy().tolist()
    [25, 20]
    """
    return raw.UnicodeScript(input, name=name)


__all__ = [
    "unicode_decode",
    "unicode_decode_with_offsets",
    "unicode_encode",
    "unicode_script",
    "unicode_split",
    "unicode_split_with_offsets",
]
