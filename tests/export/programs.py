"""Programs in C that call an exported library: they read arguments from a file and write the results."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from intaglio.export.interface import Function, Interface, Port
from intaglio.export.library import ExportedLibrary
from intaglio.export.linking import Toolchain

SECONDS = 120


def main_of(interface: Interface, calls: Sequence[str]) -> str:
    """A program that calls functions one after the other: arguments from the file named first, results
    to the file named second. The exit code is that of the first call that fails."""
    name = interface.name
    functions = {f.name: f for f in interface.functions}
    lines = [f'#include "{name}.h"', "#include <stdio.h>", "#include <stdlib.h>"]
    for function in [f for f in interface.functions if f.name in calls]:
        lines += [_declared(function, p) for p in (*function.inputs, *function.outputs)]
    path = "argv[3], " if interface.weights_bytes else ""
    lines += [
        "int main(int argc, char **argv) {",
        "    (void)argc;",
        '    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");',
        "    if (!in || !out) return 99;",
        f"    {name}_context *context;",
        f"    int error = {name}_create({path}&context);",
        "    if (error) goto failed;",
    ]
    for called in calls:
        lines += _called(name, functions[called])
    for number, variable in enumerate(interface.variables):
        lines += [
            f"    {{ void *data = malloc({variable.bytes});",
            f"      error = {name}_get_variable(context, {number}, data, {variable.bytes});",
            "      if (error) goto failed;",
            f"      fwrite(data, 1, {variable.bytes}, out); free(data); }}",
        ]
    lines += [
        "    fclose(out);",
        f"    return {name}_destroy(context);",
        "failed:",
        f'    fprintf(stderr, "%d %s\\n", error, {name}_error_text(error));',
        "    return 1;",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _name(function: Function, port: Port) -> str:
    side = "in" if port in function.inputs else "out"
    return f"{function.name}_{side}_{port.name}"


def _parts(port: Port) -> int:
    return port.count * (1 + port.dtype.is_complex)


def _declared(function: Function, port: Port) -> str:
    return f"static {port.c_type} {_name(function, port)}[{max(_parts(port), 1)}];"


def _called(name: str, function: Function) -> list[str]:
    """A call. Sizes come first in the file, then arguments; of an open shape with their number. Shapes of
    results that depend on sizes are written before the results."""
    full = f"{name}_{function.name}"

    def struct(ports: Sequence[Port], sizes: Sequence[str] = ()) -> str:
        fields = [f".{p.name} = {{{_name(function, p)}, {p.count}}}" for p in ports]
        return ", ".join([*sizes, *fields]) or "0"

    def moved(call: str, side: str, port: Port, file: str) -> str:
        parts = f"{side}.{port.name}.count * {1 + port.dtype.is_complex}"
        return f"{call}({_name(function, port)}, sizeof({port.c_type}), {parts}, {file}) != {parts}"

    rows = [".rows = 1"] if function.has_rows else []
    lines = [
        f"    {{ {full}_inputs inputs = {{{struct(function.inputs, rows)}}};",
        f"      {full}_outputs outputs = {{{struct(function.outputs)}}};",
    ]
    places = [s.name for s in function.sizes]
    for place in places:
        lines += _number(f"inputs.{place}")
    for port in function.inputs:
        lines += _number(f"inputs.{port.name}.count") if port.forms else []
        lines.append(f"      if ({moved('fread', 'inputs', port, 'in')}) return 98;")
    if function.shaped:
        lines += [
            f"      {full}_shapes shapes;",
            f"      error = {full}_get_shapes(&inputs, &shapes);",
            "      if (error) goto failed;",
        ]
    for port in function.shaped:
        dims = [f"shapes.{port.name}[{i}]" for i in range(len(port.shape))]
        lines.append(f"      outputs.{port.name}.count = {' * '.join(dims)};")
        lines += [
            f"      {{ uint64_t dim = {d}; fwrite(&dim, sizeof dim, 1, out); }}" for d in dims
        ]
    return [
        *lines,
        f"      error = {full}(context, &inputs, &outputs);",
        "      if (error) goto failed;",
        *[
            f"      if ({moved('fwrite', 'outputs', p, 'out')}) return 97;"
            for p in function.outputs
        ],
        "    }",
    ]


def _number(place: str) -> list[str]:
    """Reads a number of 64 bits."""
    return [
        f"      {{ uint64_t read; if (fread(&read, sizeof read, 1, in) != 1) return 96; {place} = (size_t)read; }}"
    ]


class CProgram:
    """A program in C with a library, built for the library's target."""

    def __init__(
        self,
        library: ExportedLibrary,
        calls: Sequence[str],
        folder: pathlib.Path,
        runner: Sequence[str] = (),
        flags: Sequence[str] = (),
    ) -> None:
        """`runner` is what runs programs of the target."""
        self.interface = library.interface
        self._calls, self._folder, self._runner = calls, folder, runner
        self._weights = library.paths.get("weights")
        source = folder / "main.c"
        source.write_text(main_of(self.interface, calls))
        self.path = folder / "main"
        warnings = ("-Wall", "-Wextra", "-Werror")
        include = f"-I{library.paths['header'].parent}"
        Toolchain(self.interface.target).compile(
            "-O1", *warnings, *flags, include, str(source), str(library.paths["object"]),
            "-lm", "-o", str(self.path),
        )  # fmt: skip

    def run(
        self, *arguments: Mapping[str, Any], **sizes: int
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The results of each call, for its arguments by name, and the variables afterwards.

        Raises RuntimeError, with the text of the error, if a call returns one.
        """
        functions = {f.name: f for f in self.interface.functions}
        sent, got = self._folder / "arguments", self._folder / "results"
        with sent.open("wb") as file:
            for called, values in zip(self._calls, arguments, strict=True):
                for size in functions[called].sizes:
                    file.write(np.uint64(sizes[size.name]).tobytes())
                for port in functions[called].inputs:
                    array = np.asarray(values[port.label], port.dtype.numpy)
                    assert port.forms or array.shape == port.shape
                    file.write(np.uint64(array.size).tobytes() if port.forms else b"")
                    file.write(array.tobytes())
        command = [*self._runner, str(self.path), str(sent), str(got)]
        if self._weights is not None:
            command.append(str(self._weights))
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode:
            raise RuntimeError(f"{done.returncode}: {done.stderr}")
        return self._read(got.read_bytes(), functions)

    def _read(self, content: bytes, functions: Mapping[str, Function]) -> Any:
        at = 0

        def taken(dtype: Any, shape: tuple[int, ...]) -> Any:
            nonlocal at
            array = np.frombuffer(content, dtype, int(np.prod(shape)), at).reshape(shape)
            at += array.nbytes
            return array

        results: list[dict[str, Any]] = []
        for function in [functions[called] for called in self._calls]:
            shapes = {p.name: p.shape for p in function.outputs}
            for port in function.shaped:
                shapes[port.name] = tuple(taken(np.uint64, (len(port.shape),)).astype(int).tolist())
            results.append(
                {p.label: taken(p.dtype.numpy, shapes[p.name]) for p in function.outputs}
            )
        variables = {v.name: taken(v.dtype.numpy, v.shape) for v in self.interface.variables}
        assert at == len(content)
        return results, variables


def within_ulps(found: Any, expected: Any, ulps: float = 2.0) -> None:
    """Asserts that floats are so near in units of the last place of the largest one, others equal."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if (
        found.dtype.name == "bfloat16"
    ):  # NumPy does not know that it is a float, nor that NaN is NaN
        found, expected = found.astype(np.float32), expected.astype(np.float32)
        ulps *= 2.0**16
    if found.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    np.testing.assert_array_equal(found[~finite], expected[~finite])  # NaN is NaN
    if finite.any():
        unit = np.spacing(np.abs(expected[finite]).max())
        assert np.abs(found[finite] - expected[finite]).max() <= ulps * unit
