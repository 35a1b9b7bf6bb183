"""LLVM: text of functions, modules, vectors, and compiled code kept on disk. Only this folder imports llvmlite."""
