"""A pytest plugin under which libraries' own tests run on Intaglio: `make keras-tests`, `make client-tests`.

Plugins named by `-p` are imported before any test: the name `tensorflow` must mean Intaglio
by then. `outcomes`, imported after it, has what else the tests expect.
"""

from __future__ import annotations

import intaglio

intaglio.install_as_tensorflow()
