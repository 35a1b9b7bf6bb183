"""Times cases on request, in the environment of one library.

A line on standard input is `case seconds`; the answer is the time of one call in seconds, or
`none`. The library stays loaded between requests, so that libraries can alternate.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import family_cases
from benchmarks.cases import Timed, make

Clock = Callable[[], float]


def burst(timed: Timed, seconds: float, clock: Clock = time.perf_counter) -> float:
    """The median time of a call over many calls within about the given time."""
    start = clock()
    timed()
    once = max(clock() - start, 1e-7)
    inner = max(1, int(2e-4 / once))
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = clock()
        for _ in range(inner):
            timed()
        times.append((clock() - start) / inner)
    return sorted(times)[len(times) // 2]


def main() -> None:
    """Answers until standard input ends."""
    peer = sys.argv[1]
    cases: dict[str, Timed | None] = {}
    print("ready", flush=True)
    for line in sys.stdin:
        case, seconds = line.split()
        if case not in cases:
            if ":" in case:  # one of many: those before it, and their data, are done with
                cases.clear()
            build = family_cases.make if ":" in case else make
            cases[case] = build(peer, case)
        timed = cases[case]
        print("none" if timed is None else burst(timed, float(seconds)), flush=True)


if __name__ == "__main__":
    main()
