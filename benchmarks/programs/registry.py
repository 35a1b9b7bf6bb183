"""The table of programs: each a function of the library and its inputs.

A program is written in the words of TensorFlow. Called with the module `tf` and `Inputs`, it
returns a step and the arguments of each call of it; the step may have a state, in variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from benchmarks.programs.inputs import Inputs

Step = Callable[..., Any]
Build = Callable[[Any, Inputs], tuple[Step, Sequence[Any]]]

MODES = ("eager", "graph", "jit")


class Program(NamedTuple):
    """A program, its family, the modes in which it runs, and how near results must be.

    Under XLA TensorFlow draws other numbers, if a program draws any.
    """

    name: str
    family: str
    build: Build
    modes: tuple[str, ...]
    tolerance: float
    random: bool


PROGRAMS: dict[str, Program] = {}


def program(
    modes: tuple[str, ...] = MODES, tolerance: float = 2e-3, random: bool = False
) -> Callable[[Build], Build]:
    """Enters a program. One that is a call of Keras or `tf.data` by itself has "eager" alone.

    Raises ValueError for a second program of a name.
    """

    def enter(build: Build) -> Build:
        family = build.__module__.rsplit(".", 1)[-1]
        name = build.__name__
        if name in PROGRAMS:
            raise ValueError(f"{name} is a program of {PROGRAMS[name].family} and of {family}")
        PROGRAMS[name] = Program(name, family, build, modes, tolerance, random)
        return build

    return enter


def stepper(tf: Any, step: Step, mode: str) -> Step:
    """The step as it is run in a mode."""
    if mode == "eager":
        return step
    return tf.function(step, jit_compile=True) if mode == "jit" else tf.function(step)
