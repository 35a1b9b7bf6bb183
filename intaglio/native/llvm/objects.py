"""Object files for other processes: the modules that a graph needs, linked into one.

A reference is the address of a function of one of these modules, as `Module.address` gives it. `Linker`
names each function that is referred to, takes the modules that it needs, and those that these need by
their tables; everything that nothing refers to is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from intaglio.native.llvm import jit
from intaglio.native.llvm.compiler import TRIPLE, llvm, machine_for_objects
from intaglio.native.llvm.processor import for_compiler

_TABLE = re.compile(r"^@([\w.]+) = external constant \[(\d+) x ptr\]$", re.MULTILINE)

# The first line of a function, without its brace.
_FUNCTION = re.compile(r"^(define .*\S)(?= *\{$)", re.MULTILINE)


def _bound_to_target(text: str) -> str:
    """The text of a module whose functions have attributes that name their processor.

    The attributes persist when the module is linked with modules for other processors.
    """
    cpu, features = for_compiler()
    return _FUNCTION.sub(rf'\1 "target-cpu"="{cpu}" "target-features"="{features}"', text)


def _parsed(text: str, machine: Any) -> Any:
    """A module of a text, with the layout of the target."""
    parsed = llvm.parse_assembly(text)
    parsed.triple, parsed.data_layout = TRIPLE, str(machine.target_data)
    return parsed


class Linker:
    """Collects the modules of an object file."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}  # names of modules by the module's id
        self._modules: dict[str, jit.Module] = {}
        self._tables: dict[str, str] = {}

    def reference(self, address: int) -> str:
        """The name, in the object file, of the function with an address. Raises KeyError for others."""
        found = jit.symbol_at(address)
        if found is None:
            raise KeyError(address)
        module, name = found
        return f"{self._prefix(module)}{name}"

    def _prefix(self, module: jit.Module) -> str:
        prefix = self._names.get(id(module))
        if prefix is None:
            prefix = self._names[id(module)] = f"m{len(self._names)}_"
            self._modules[prefix] = module
            for table, length in _TABLE.findall(module.text):
                self._add_table(table, int(length))
        return prefix

    def _add_table(self, name: str, length: int) -> None:
        if name in self._tables:
            return
        self._tables[name] = ""
        functions = [self.reference(a) if a else "" for a in jit.table_entries(name)]
        words = ", ".join([f"ptr @{f}" if f else "ptr null" for f in functions])
        declared = "\n".join([f"declare void @{f}()" for f in functions if f])
        self._tables[name] = (
            f"{declared}\n@{name} = internal constant [{length} x ptr] [{words}], align 8\n"
        )

    def object(self, text: str, exported: Collection[str]) -> bytes:
        """The object file of a module of text, which refers to functions by these names.

        Only the functions of `exported` are visible outside. Raises RuntimeError, with LLVM's message,
        if a module is not valid.
        """
        machine = machine_for_objects(jit.KERNEL_EFFORT, *for_compiler())
        return machine.emit_object(self._linked(text, exported, machine))

    def bitcode(self, text: str, exported: Collection[str]) -> bytes:
        """As `object`, but bitcode, for `object_of_levels` in a process with another target."""
        machine = machine_for_objects(jit.KERNEL_EFFORT, *for_compiler())
        return self._linked(text, exported, machine, _bound_to_target).as_bitcode()

    def _linked(
        self,
        text: str,
        exported: Collection[str],
        machine: Any,
        changed: Callable[[str], str] = lambda text: text,
    ) -> Any:
        """The linked module; `changed` is applied to the text of each part."""
        tables = "".join([*self._tables.values(), text])
        whole = _parsed(changed(tables), machine)
        for value in whole.global_variables:
            if value.name in self._tables:  # referred to by name from other modules
                value.linkage = "external"
        for prefix, module in self._modules.items():
            part = _parsed(changed(module.text), machine)
            for value in (*part.functions, *part.global_variables):
                if not value.is_declaration:
                    value.name, value.linkage = f"{prefix}{value.name}", "external"
            whole.link_in(part)
        _internalize(whole, exported, machine)
        return whole


def object_of_levels(
    text: str, parts: Mapping[str, tuple[bytes, Collection[str]]], exported: Collection[str]
) -> bytes:
    """The object file of a module of text and of parts for several levels of the processor.

    A part is bitcode and the functions that it exports; the text refers to these by the part's prefix
    and their names. The text itself runs on every processor.
    """
    machine = machine_for_objects(jit.KERNEL_EFFORT, "x86-64", "")
    whole = _parsed(text, machine)
    for prefix, (content, names) in parts.items():
        part = llvm.parse_bitcode(content)
        for value in part.functions:
            if value.name in names:
                value.name = f"{prefix}{value.name}"
        whole.link_in(part)
    _internalize(whole, exported, machine)
    return machine.emit_object(whole)


def _internalize(module: Any, exported: Collection[str], machine: Any) -> None:
    """Makes all other definitions internal, and drops those that are unused. Raises RuntimeError if the
    module is not valid."""
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name not in exported:
            value.linkage = "internal"
    _without_unused(module, machine)
    module.verify()


def _without_unused(module: Any, machine: Any) -> None:
    """Drops unused definitions, and merges equal functions."""
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.add_merge_functions_pass()
    passes.add_constant_merge_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(module, builder)
