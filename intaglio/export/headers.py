"""What C programs include: the header of a library, and an example that calls every function."""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.export.interface import Function, Interface, Port
from intaglio.native.llvm.target import LEVELS


def header(interface: Interface) -> str:
    """The text of `NAME.h`."""
    name = interface.name
    guard = f"{name.upper()}_H"
    return "\n".join(
        [
            f"/* {name}: written by intaglio.export_library for {interface.target}.",
            " *",
            " * A context has the variables and the memory of the functions. Functions may run at the same",
            " * time on different contexts. An error changes nothing but the memory of results. Results may",
            " * not overlap arguments. Elements are in the order of C; a complex one is two numbers.",
            " */",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stddef.h>",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            f"typedef struct {name}_context {name}_context;",
            "",
            *_errors(interface),
            "",
            *_contexts(interface),
            *_variables(interface),
            *[line for f in interface.functions for line in _function(interface, f)],
            *_processor(interface),
            *_threads(interface),
            "/* The text of an error, in English. */",
            f"const char *{name}_error_text(int error);",
            "",
            "/* What this header says, as JSON. */",
            f"const char *{name}_description(void);",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            f"#endif /* {guard} */",
            "",
        ]
    )


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("\n", " ")


def _errors(interface: Interface) -> list[str]:
    prefix = interface.name.upper()
    lines = [
        f"    {prefix}_{e.name} = {e.code}, /* {_comment(e.text)} */" for e in interface.errors
    ]
    return ["/* What the functions return. */", f"enum {interface.name}_error {{", *lines, "};"]


def _contexts(interface: Interface) -> list[str]:
    name = interface.name
    beside = interface.weights_bytes > 0
    lines = [
        f"/* The bytes of a context: {interface.context_bytes}. */",
        f"size_t {name}_context_size(void);",
        "",
        "/* Makes a context in memory of the caller, at a multiple of 64, which nothing else is allocated for.",
    ]
    if beside:
        lines += [
            f" * `weights` is the content of {name}.weights, at a multiple of 64; it stays the caller's. */",
            f"int {name}_initialize(void *memory, size_t size, const void *weights, size_t weights_size,",
            f"                      {name}_context **context);",
        ]
    else:
        lines += [
            " */",
            f"int {name}_initialize(void *memory, size_t size, {name}_context **context);",
        ]
    path = "const char *weights_path, " if beside else ""
    mapped = f" with the file {name}.weights mapped into memory" if beside else ""
    if not (beside and interface.target == "wasm32"):
        lines += [
            "",
            f"/* Makes a context by malloc{mapped}. */",
            f"int {name}_create({path}{name}_context **context);",
        ]
    lines += ["", "/* Ends a context. */", f"int {name}_destroy({name}_context *context);", ""]
    return lines


def _processor(interface: Interface) -> list[str]:
    if not interface.has_levels:
        return []
    levels = ", ".join(LEVELS[interface.target])
    return [
        f"/* The level of this processor, whose code runs: {levels}; empty if it has none of them. */",
        f"const char *{interface.name}_processor(void);",
        "",
    ]


def _threads(interface: Interface) -> list[str]:
    if interface.threads == 1:
        return []
    name = interface.name
    return [
        "/* How functions use threads of the program: `run` calls task(argument, i) for every i from 0 to",
        " * count - 1, on threads of its own, in any order, some at the same time, and returns when all have",
        f" * returned. Work is divided for {interface.threads} threads. It is called by the thread that calls a function.",
        " */",
        f"typedef void (*{name}_task)(void *argument, int64_t i);",
        f"typedef void (*{name}_parallel_for)(void *threads, {name}_task task, void *argument,",
        f"        {' ' * len(name)}             int64_t count);",
        "",
        "/* The calls on a context use `run`, with `threads` as its first argument; null: no threads, as at first. */",
        f"int {name}_set_parallel_for({name}_context *context, {name}_parallel_for run, void *threads);",
        "",
    ]


def _variables(interface: Interface) -> list[str]:
    if not interface.variables:
        return []
    name = interface.name
    lines = [
        "/* The variables of a context, and their sizes in bytes. */",
        f"enum {name}_variable {{",
    ]
    for number, v in enumerate(interface.variables):
        shape = ", ".join([str(d) for d in v.shape])
        text = _comment(f"'{v.label}', {v.dtype.name}[{shape}]: {v.bytes} bytes")
        lines.append(f"    {name.upper()}_VARIABLE_{v.name.upper()} = {number}, /* {text} */")
    return [
        *lines,
        "};",
        f"int {name}_get_variable({name}_context *context, int variable, void *data, size_t bytes);",
        f"int {name}_set_variable({name}_context *context, int variable, const void *data, size_t bytes);",
        "",
    ]


def _function(interface: Interface, function: Function) -> list[str]:
    full = f"{interface.name}_{function.name}"
    return [
        *_struct(f"{full}_inputs", function.inputs, "const ", _sizes(function)),
        *_struct(f"{full}_outputs", function.outputs, ""),
        *_shapes(full, function),
        f"int {full}({interface.name}_context *context, const {full}_inputs *inputs,",
        f"    {' ' * len(full)} const {full}_outputs *outputs);",
        "",
    ]


def _sizes(function: Function) -> list[str]:
    """The fields of inputs that are dimensions."""
    rows = "    size_t rows; /* the first dimension where it says so, any number from 0 on */"
    fields = [rows] if function.has_rows else []
    for size in function.sizes:
        text = _comment(f"a dimension, {size.label!r}: {size.described}")
        fields.append(f"    size_t {size.name}; /* {text} */")
    return fields


def _struct(
    name: str, ports: Sequence[Port], qualifier: str, sizes: Sequence[str] = ()
) -> list[str]:
    lines = [
        f"    struct {{ {qualifier}{p.c_type} *data; size_t count; }} {p.name}; "
        f"/* {_comment(f'{p.label!r}, {p.described}: count is {p.count_in_c}')} */"
        for p in ports
    ]
    fields = [*sizes, *lines] or ["    char unused;"]
    return [f"typedef struct {name} {{", *fields, f"}} {name};", ""]


def _shapes(full: str, function: Function) -> list[str]:
    """What gives the shapes of results that depend on sizes."""
    if not function.shaped:
        return []
    what = "rows and sizes" if function.has_rows else "sizes"
    return [
        f"typedef struct {full}_shapes {{",
        *[f"    size_t {p.name}[{len(p.shape)}];" for p in function.shaped],
        f"}} {full}_shapes;",
        "",
        f"/* The shapes of results for the {what} in `inputs`, of which nothing else is read. */",
        f"int {full}_get_shapes(const {full}_inputs *inputs, {full}_shapes *shapes);",
        "",
    ]


def example(interface: Interface) -> str:
    """The text of `example.c`, which calls every function with zeros and prints what it returns."""
    name = interface.name
    path = f'"{name}.weights", ' if interface.weights_bytes else ""
    lines = [
        f'#include "{name}.h"',
        "",
        "#include <stdio.h>",
        "",
        *[line for n, f in enumerate(interface.functions) for line in _arrays(f, n)],
        "",
        "int main(void) {",
        f"    {name}_context *context;",
        f"    int error = {name}_create({path}&context);",
        "    if (error) goto failed;",
    ]
    for n, f in enumerate(interface.functions):
        full = f"{name}_{f.name}"
        lines += [
            f"    const {full}_inputs inputs{n} = {_values('input', n, f.inputs, _example_sizes(f))};",
            f"    const {full}_outputs outputs{n} = {_values('output', n, f.outputs)};",
            f"    error = {full}(context, &inputs{n}, &outputs{n});",
            "    if (error) goto failed;",
        ]
        lines += [_print(f, n, p) for p in f.outputs]
    return "\n".join(
        [
            *lines,
            f"    return {name}_destroy(context);",
            "failed:",
            f'    fprintf(stderr, "%s\\n", {name}_error_text(error));',
            "    return 1;",
            "}",
            "",
        ]
    )


def _array(side: str, number: int, port: Port) -> str:
    """The name of the memory of an argument of a function, by the function's number."""
    return f"{side}{number}_{port.name}"


def _arrays(function: Function, number: int) -> list[str]:
    sides = (("input", function.inputs), ("output", function.outputs))
    return [
        f"static {p.c_type} {_array(side, number, p)}[{max(p.count, 1) * (1 + p.dtype.is_complex)}];"
        for side, ports in sides
        for p in ports
    ]


def _example_sizes(function: Function) -> list[str]:
    sizes = [f".{s.name} = {s.values[-1]}" for s in function.sizes]
    return [".rows = 1", *sizes] if function.has_rows else sizes


def _values(side: str, number: int, ports: Sequence[Port], sizes: Sequence[str] = ()) -> str:
    if not ports:
        return "{0}"
    items = [*sizes]
    items += [f".{p.name} = {{{_array(side, number, p)}, {p.count}}}" for p in ports]
    return f"{{{', '.join(items)}}}"


def _print(function: Function, number: int, port: Port) -> str:
    array = _array("output", number, port)
    return f'    printf("{function.name}: {port.name}[0] of {port.count} is %g\\n", (double){array}[0]);'
