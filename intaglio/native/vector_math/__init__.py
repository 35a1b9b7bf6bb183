"""Elementary functions as vector code: exponentials, logarithms, trigonometric and error functions, complex numbers."""
