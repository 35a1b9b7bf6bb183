"""`python -m intaglio script.py`: a TensorFlow program as it is."""

import sys

from intaglio.tools.command import main_of_module

sys.exit(main_of_module())
