"""A name for what functions compute: equal for equal graphs, in every process: `intaglio.fingerprint`."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from intaglio.insight.graphs import graphs_of
from intaglio.ir import text

# The name of a graph where it is defined, and where a node refers to it.
_DEFINED = re.compile(r"^graph (\S+?)\(", re.MULTILINE)
_NAMED = re.compile(r"(^graph |graph\(\")([^\s(\"]+)", re.MULTILINE)


def fingerprint(target: Any) -> str:
    """64 hexadecimal digits for the graphs of a function, of a trace, or of the text of a graph.

    Two are equal if the graphs are: ops, attributes, constants, names of nodes, signatures. Lines, file
    names and the order in which functions were traced do not count; variables count by dtype and
    shape, not by value. Raises ValueError for a function without traces.

    >>> import intaglio
    >>> def double(x):
    ...     return x * 2
    >>> f, g = tf.function(double), tf.function(double)
    >>> _ = f(tf.constant(1)), g(tf.constant(1))
    >>> intaglio.fingerprint(f) == intaglio.fingerprint(g)
    True
    """
    found = sorted([_numbered(text.format_graph(g.graph)) for g in graphs_of(target)])
    return hashlib.sha256("\n\n".join(found).encode()).hexdigest()


def _numbered(source: str) -> str:
    """The text of graphs, each called by its place in it: their names count all traces of the process."""
    numbers = {name: str(i) for i, name in enumerate(_DEFINED.findall(source))}
    return _NAMED.sub(lambda found: found[1] + numbers.get(found[2], found[2]), source)


__all__ = ["fingerprint"]
