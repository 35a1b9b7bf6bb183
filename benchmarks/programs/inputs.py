"""The inputs of programs: sizes and arrays, drawn from a seed.

A size is drawn from a range, so that no kernel can be fitted to it. Tiny inputs have the same form
and a few elements: tests run the programs on these.
"""

from __future__ import annotations

import random
import string
import zlib

import numpy as np

Array = np.ndarray


class Inputs:
    """Sizes and arrays for one program; the same for the same seed and name."""

    def __init__(self, seed: int, name: str, tiny: bool = False) -> None:
        self.seed = [seed, zlib.crc32(name.encode())]
        self.rng = np.random.default_rng(self.seed)
        self.tiny = tiny

    def size(self, low: int, high: int, tiny: int = 5, step: int = 1) -> int:
        """A multiple of `step` between the two, or `tiny`."""
        drawn = step * int(self.rng.integers(low // step, high // step + 1))
        return tiny if self.tiny else drawn

    def normal(self, *shape: int, scale: float = 1.0) -> Array:
        """float32 of that shape, normally distributed."""
        return (scale * self.rng.standard_normal(shape)).astype("float32")

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Array:
        """float32 of that shape between the two."""
        return self.rng.uniform(low, high, shape).astype("float32")

    def integers(self, high: int, *shape: int, dtype: str = "int32") -> Array:
        """Integers of that shape from 0 to below `high`."""
        return self.rng.integers(high, size=shape).astype(dtype)

    def weights(self, *shape: int) -> Array:
        """float32 of that shape, scaled by the size of what they are multiplied with."""
        return self.normal(*shape, scale=float(np.prod(shape[:-1])) ** -0.5)

    def pixels(self, *shape: int) -> Array:
        """uint8 of that shape: smooth pictures with noise, as photographs are."""
        height, width = shape[-3:-1]
        rows, columns = np.mgrid[:height, :width]
        waves = np.sin(rows / 17.0) + np.cos(columns / 23.0)
        noise = self.rng.normal(size=shape) * 12
        return np.clip(128 + 45 * waves[..., None] + noise, 0, 255).astype("uint8")

    def words(self, count: int) -> list[str]:
        """Different words of 2 to 9 letters."""
        letters = random.Random(self.seed[0])
        found: set[str] = set()
        while len(found) < count:
            found.add("".join(letters.choices(string.ascii_lowercase, k=letters.randint(2, 9))))
        return sorted(found)

    def sentences(self, count: int, vocabulary: int = 2000) -> list[str]:
        """Sentences of 3 to 20 words, some with capitals and punctuation."""
        words, chosen = self.words(vocabulary), random.Random(self.seed[0] + 1)
        marks = ["", "", "", ",", ".", "!"]
        return [
            " ".join(
                chosen.choice((str.lower, str.lower, str.title))(chosen.choice(words))
                + chosen.choice(marks)
                for _ in range(chosen.randint(3, 20))
            )
            for _ in range(count)
        ]
