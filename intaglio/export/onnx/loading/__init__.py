"""ONNX models as functions: the file is checked, its nodes become ops while the function is traced.

`model_files` reads and checks a file and its weights; `program` carries graphs out node by node, by the operators
in `operators` or by the function that ONNX defines an operator with; `loaded` makes the function.
"""
