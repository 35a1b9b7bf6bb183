"""Random changes of bytes, numbers, texts and JSON values, all determined by a generator."""

from __future__ import annotations

import random
from typing import Any

INTEGERS = (
    0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 64, 127, 128, 255, 256, 1000, 4095, 32767, 32768, 65535, 65536,
    1 << 20, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40, 1 << 48,
    1 << 62, (1 << 63) - 1,
)  # fmt: skip
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e38, 1e308, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "",
    " ",
    "a",
    "/",
    "..",
    "../../x",
    "\0",
    "é",
    "\U0001f600",
    "x" * 300,
    "%",
    "{}",
    "[",
    "\\",
)


def integer(rng: random.Random, value: int = 0) -> int:
    """A number near another one, or one at the limits of something."""
    kind = rng.randrange(4)
    if kind == 0:
        return value + rng.choice((-2, -1, 1, 2))
    if kind == 1:
        return -rng.choice(INTEGERS)
    if kind == 2:
        return value * rng.choice((-1, 2, 10, 1000))
    return rng.choice(INTEGERS)


def number(rng: random.Random, value: float = 0.0) -> float:
    """A float near another one, or an unusual one."""
    return rng.choice((*FLOATS, value + 1, -value, value * 1e6))


def octets(rng: random.Random, data: bytes, rounds: int = 0) -> bytes:
    """Bytes with a few changes: cut off, overwritten, inserted, removed, repeated."""
    out = bytearray(data)
    for _ in range(rounds or 1 + rng.randrange(3)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            del out[at:]
        elif kind == 1 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 2 and at < len(out):
            out[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 3:
            out[at:at] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 4:
            del out[at : at + rng.randrange(1, 9)]
        elif kind == 5:
            part = out[at : at + rng.randrange(1, 33)]
            out[at:at] = part * rng.choice((1, 2, 30))
        else:
            width = rng.choice((1, 2, 4, 8))
            value = rng.choice(INTEGERS) % (1 << 8 * width)
            out[at : at + width] = value.to_bytes(width, rng.choice(("little", "big")))
    return bytes(out)


def text(rng: random.Random, value: str, pool: tuple[str, ...] = TEXTS) -> str:
    """A text like another one, or one of a pool."""
    kind = rng.randrange(5)
    if kind < 2 and pool:
        return rng.choice(pool)
    if kind == 2:
        return rng.choice(TEXTS)
    at = rng.randrange(len(value) + 1)
    if kind == 3:
        return value[:at] + rng.choice(TEXTS) + value[at:]
    return value[:at] + value[at + 1 :]


def json_value(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """A JSON value with one change somewhere in it."""
    if isinstance(value, dict) and value and (depth < 2 or rng.random() < 0.85):
        key = rng.choice(sorted(value))
        kind = rng.randrange(12)
        rest = {k: v for k, v in value.items() if k != key}
        if kind == 0:
            return rest
        if kind == 1:
            return rest | {text(rng, key): value[key]}
        return value | {key: json_value(rng, value[key], depth + 1)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        kind = rng.randrange(8)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return value[:at] + [value[at]] * rng.choice((2, 40)) + value[at + 1 :]
        return [*value[:at], json_value(rng, value[at], depth + 1), *value[at + 1 :]]
    return _leaf(rng, value)


def _leaf(rng: random.Random, value: Any) -> Any:
    if rng.random() < 0.3:
        return rng.choice(
            (None, True, False, 0, -1, 1 << 40, 1.5, "", "x", [], {}, [1, 2], {"a": 1})
        )
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return integer(rng, value)
    if isinstance(value, float):
        return number(rng, value)
    if isinstance(value, str):
        return text(rng, value)
    return rng.choice((0, "x", [], {}))
