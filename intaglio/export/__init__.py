"""Graphs that leave Python: libraries with a C interface, for processors and for WebAssembly.

A call of `export_library` goes through these modules: `signatures` finds functions, their arguments and
the variables they use; `transport` sends graphs to a process that writes code for the target (`worker`);
there the compiler of `intaglio.native` lowers them, `calls` writes the functions that C calls, and
`native.llvm.objects` links all to an object file; `headers` writes what C programs include, and
`linking` makes libraries.
"""
