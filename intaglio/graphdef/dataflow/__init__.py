"""Control flow of TensorFlow 1 as functional control flow: a GraphDef rewritten before it is read.

There, conditionals and loops are nodes of the dataflow itself: Switch and Merge pass on what a branch
computes, Enter, NextIteration and Exit carry values into a loop, around it and out of it (Yu et al.,
"Dynamic Control Flow in Large-Scale Machine Learning", EuroSys 2018). Here loops become `While`,
conditionals `If`, with functions of the library, as XLA's functionalization does it; TensorArrays, whose
state is in a resource, become lists.
"""

from __future__ import annotations

from intaglio.graphdef.dataflow.functionalization import functionalized

__all__ = ["functionalized"]
