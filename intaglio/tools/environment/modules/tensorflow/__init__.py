"""The name `tensorflow` for Intaglio: importing this module gives `intaglio.tf`."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from intaglio.tf import *
else:
    try:
        from intaglio.tensorflow_name import names
    except ModuleNotFoundError as cause:
        if cause.name != "intaglio":
            raise
        raise ImportError(
            f"In this environment `tensorflow` is Intaglio, which is not installed: pip install "
            f"intaglio, or pip uninstall tensorflow-intaglio. ({__file__})",
            name="intaglio",
        ) from cause
    names.take_over(sys.modules[__name__])
