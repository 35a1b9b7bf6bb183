"""The arguments of `tf.function`.

Follows https://www.tensorflow.org/api_docs/python/tf/function.
"""

from __future__ import annotations

from typing import Any

# The attributes that `experimental_attributes` may name: those that TensorFlow 2.21 accepts.
ATTRIBUTES = (
    "api_implements",
    "api_preferred_device",
    "_implements",
    "_noinline",
    "_tf_data_function",
    "disable_summaries_at_runtime",
    "go_backwards",
    "runtime_constant_optimization",
    "time_major",
)


class Options:
    """The arguments of `tf.function` besides the function."""

    __slots__ = (
        "attributes",
        "autograph",
        "autograph_options",
        "implements",
        "input_signature",
        "jit_compile",
        "reduce_retracing",
    )

    def __init__(self, **options: Any) -> None:
        self.input_signature: Any = options.get("input_signature")
        self.autograph: bool = options.get("autograph", True)
        self.autograph_options: Any = options.get("autograph_options")
        self.jit_compile: bool | None = options.get("jit_compile")
        self.reduce_retracing: bool = bool(options.get("reduce_retracing"))
        self.implements: str | None = options.get("implements")
        self.attributes: Any = options.get("attributes")

    def declared(self) -> dict[str, Any]:
        """The attributes of the graphs. Raises ValueError for one that TensorFlow does not know."""
        attributes = dict(self.attributes or {})
        for name in attributes:
            if name not in ATTRIBUTES:
                raise ValueError(
                    f"`{name} is not supported by tf.function as an attribute. Write one of "
                    f"{', '.join(ATTRIBUTES)}."
                )
        return (
            attributes
            if self.implements is None
            else {**attributes, "_implements": self.implements}
        )
