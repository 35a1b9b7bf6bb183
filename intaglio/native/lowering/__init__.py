"""A graph to one LLVM function: operands, memory, control flow, tensor lists, variables, and a rule per op."""
