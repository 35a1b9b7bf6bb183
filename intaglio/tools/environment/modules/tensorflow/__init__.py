"""The name `tensorflow` for Intaglio: importing this module gives `intaglio.tf`.

Type checkers and editors read `__init__.pyi` beside it, which `python -m docs.type_stub` writes.
"""

import sys

try:
    from intaglio.tensorflow_name import names
except ModuleNotFoundError as cause:
    if cause.name != "intaglio":
        raise
    raise ImportError(
        "In this environment `tensorflow` is Intaglio, which is not installed: pip install "
        f"intaglio, or pip uninstall tensorflow-intaglio. ({__file__})",
        name="intaglio",
    ) from cause

names.take_over(sys.modules[__name__])
