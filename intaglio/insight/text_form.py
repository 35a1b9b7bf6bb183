"""The text of what was traced, which reads back to the same graphs: `f.to_text()`.

The form is that of `ir/text.py`. A header says which trace it is, and comments show the user's
lines; both survive: a graph that was read back knows its lines.
"""

from __future__ import annotations

from typing import Any

from intaglio.insight.graphs import Titled, graphs_of, latest
from intaglio.ir import text
from intaglio.ir.graph import Graph


def to_text(target: Any) -> str:
    """The graphs of a function, a trace or a graph as text; those of several traces one after another.

    `graph_of_text` reads a graph back, `graph_diff` takes such a text for a graph. Raises as
    `graphs_of` does.
    """
    return "\n".join([_headed(found) for found in graphs_of(target)])


def _headed(found: Titled) -> str:
    trace = found.trace
    shown = "" if trace is None else f"# {trace.pretty_printed_signature(verbose=False)}\n"
    return shown + text.format_graph(found.graph, user_lines=True)


def graph_of_text(source: str) -> Graph:
    """The last graph of a text that `to_text` wrote.

    Raises GraphSyntaxError, a ValueError, with the line that is none; so is a graph that holds
    Python objects, as those of `tf.py_function`.

    >>> import intaglio
    >>> f = tf.function(lambda x: x * 2)
    >>> text = f.get_concrete_function(tf.TensorSpec([3])).to_text()
    >>> [node.type for node in intaglio.graph_of_text(text)]
    ['Placeholder', 'Const', 'Mul', 'Identity']
    """
    return latest(source).graph
