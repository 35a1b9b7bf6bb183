"""Calls of Python functions: a token that no function has; tests/tf has those that do."""

from tests.ops.samples import f32, sample

for _op in ("EagerPyFunc", "PyFunc", "PyFuncStateless"):
    sample(
        _op,
        input=[f32(2)],
        token="none",
        Tout=["float32"],
        parity="needs a function",
        grad="needs a function",
        error=("InvalidArgumentError", "callback none is not found"),
    )
