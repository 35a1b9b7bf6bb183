"""Lowering of a graph to one LLVM function: operands, memory, control flow, tensor lists,
variables, and a rule for each op."""
