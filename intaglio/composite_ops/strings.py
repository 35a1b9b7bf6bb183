"""Formatting, joining and matching of strings.

Follows https://www.tensorflow.org/api_docs/python/tf/strings.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype
from intaglio.composite_ops.printing import formatted
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Numbers, bools or strings as text, of the same shape, in C's printf formats.

    Raises InvalidArgumentError for options that the dtype does not have.

    `scientific` and `shortest` select C's formats %e and %g; texts are padded to `width` by the
    character `fill`.

    >>> print(tf.strings.as_string([1.5, 2.25], precision=1).numpy())
    [b'1.5' b'2.2']
    """
    if not isinstance(fill, (str, bytes)):
        raise TypeError(f"Expected string for argument 'fill' not {fill!r}.")
    return raw.AsString(
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
        name=name,
    )


@dispatchable
def format(
    template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None
) -> Tensor:
    """The template with its placeholders replaced by tensors as `tf.print` shows them.

    Raises ValueError unless there is an input for every placeholder.

    >>> print(tf.strings.format("x = {}", tf.constant([1, 2])).numpy())
    b'x = [1 2]'
    """
    if isinstance(inputs, Tensor) or not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not isinstance(template, str) or not isinstance(placeholder, str):
        raise TypeError(f"template and placeholder must be texts, got {template!r}")
    holes = template.count(placeholder)
    if holes != len(inputs):
        raise ValueError(
            f"The template expects {holes} tensors, but the inputs only has {len(inputs)}. "
            "Please ensure the number of placeholders in template matches inputs length."
        )
    return formatted(template, list(inputs), placeholder, summarize, name)


@dispatchable
def reduce_join(
    inputs: Any,
    axis: Any = None,
    keepdims: bool = False,
    separator: str | None = "",
    name: str | None = None,
) -> Tensor:
    """Strings joined along axes: all of them, in order, by default.

    >>> print(
    ...     tf.strings.reduce_join([["a", "b"], ["c", "d"]], axis=1, separator="+").numpy()
    ... )
    [b'a+b' b'c+d']
    """
    with door.level().scoped(name or "ReduceJoin"):
        texts = to_tensor(inputs)
        if axis is None:
            axis = _all_axes(texts)
        return raw.ReduceJoin(texts, axis, keep_dims=keepdims, separator=separator or "")


def _all_axes(texts: Tensor) -> Any:
    if texts.dims is not None:
        return to_tensor(list(range(len(texts.dims)))[::-1] or [], as_dtype("int32"))
    return raw.Range(raw.Sub(raw.Rank(texts), 1), -1, -1)


@dispatchable
def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """True where the pattern, in RE2's syntax, matches the whole string.

    >>> print(tf.strings.regex_full_match(["abc", "abd"], "ab[c-e]").numpy())
    [ True  True]
    """
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


@dispatchable
def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""Matches of the pattern, in RE2's syntax, rewritten; \1 to \9 are its groups.

    With `replace_global` every match is replaced, else the first.

    >>> print(tf.strings.regex_replace(["a1b22"], "[0-9]+", "#").numpy())
    [b'a#b#']
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


__all__ = ["as_string", "format", "reduce_join", "regex_full_match", "regex_replace"]
