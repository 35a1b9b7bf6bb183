"""The language in which messages are declared, and their descriptor pool.

The pool is private, so that TensorFlow's own messages can be loaded in the same process. Where the name
`tensorflow` is Intaglio when the first message is declared, nobody else's can be, and the pool is protobuf's default one:
messages of other libraries have ours as fields. A
line of a declaration is `name = number type`; `*` marks a repeated field, `map<K,V>` a map,
`|group` a member of a oneof (one group for each message); `name = number` under `enum` is an
enum value. A dot in the name of a message or an enum means that it is nested.
"""

from __future__ import annotations

import contextlib
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper
from google.protobuf.message import DecodeError

from intaglio.base import alias

PACKAGE = "tensorflow"
POOL: Any = (
    descriptor_pool.Default() if alias.is_installed(PACKAGE) else descriptor_pool.DescriptorPool()
)
_files: list[str] = []  # what has been declared; later files may refer to it
_named: set[str] = set()  # files that stand for declared ones under other names
_enums: set[str] = set()


class MalformedError(ValueError):
    """A malformed message; the text has where and how."""


_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "double": _Field.TYPE_DOUBLE,
    "float": _Field.TYPE_FLOAT,
    "int64": _Field.TYPE_INT64,
    "uint64": _Field.TYPE_UINT64,
    "int32": _Field.TYPE_INT32,
    "bool": _Field.TYPE_BOOL,
    "string": _Field.TYPE_STRING,
    "bytes": _Field.TYPE_BYTES,
    "uint32": _Field.TYPE_UINT32,
    "sint64": _Field.TYPE_SINT64,
    "fixed32": _Field.TYPE_FIXED32,
}


class _Declarations:
    """Turns the declarations into a file descriptor."""

    def __init__(self, text: str, file_name: str) -> None:
        self.file = descriptor_pb2.FileDescriptorProto(
            name=file_name, package=PACKAGE, syntax="proto3", dependency=_files
        )
        self.messages: dict[str, Any] = {}
        lines = list(filter(None, map(str.strip, text.splitlines())))
        # A field may have the type of an enum that is declared after it.
        self.enums = _enums
        self.enums.update([line[5:] for line in lines if line.startswith("enum ")])
        current: Any = None
        for line in lines:
            kind, _, name = line.partition(" ")
            if kind == "enum":
                outer, _, inner = name.rpartition(".")
                scope = self.messages[outer] if outer else self.file
                current = scope.enum_type.add(name=inner)
            elif kind == "message" and not name.startswith("= "):
                current = self._message(name)
            elif isinstance(current, descriptor_pb2.EnumDescriptorProto):
                label, number = line.split(" = ")
                current.value.add(name=label, number=int(number))
            else:
                self._field(current, line)

    def _message(self, name: str) -> Any:
        outer, _, inner = name.rpartition(".")
        message = (
            self.messages[outer].nested_type.add(name=inner)
            if outer
            else self.file.message_type.add(name=inner)
        )
        self.messages[name] = message
        return message

    def _field(self, message: Any, line: str) -> None:
        declared, _, group = line.partition(" |")
        name, number, kind = declared.replace(" = ", " ").split(" ")
        field = message.field.add(name=name, number=int(number))
        field.label = _Field.LABEL_OPTIONAL
        if kind.startswith("map<"):
            self._map(message, field, kind[4:-1].split(","))
            return
        if kind.startswith("*"):
            field.label, kind = _Field.LABEL_REPEATED, kind[1:]
        if group:
            if not message.oneof_decl:
                message.oneof_decl.add(name=group)
            field.oneof_index = 0
        self._type(field, kind)

    def _type(self, field: Any, kind: str) -> None:
        if kind in _SCALARS:
            field.type = _SCALARS[kind]
            return
        field.type = _Field.TYPE_ENUM if kind in self.enums else _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{kind}"

    def _map(self, message: Any, field: Any, kinds: list[str]) -> None:
        entry = message.nested_type.add(
            name="".join(p.capitalize() for p in field.name.split("_")) + "Entry"
        )
        entry.options.map_entry = True
        for number, (name, kind) in enumerate(zip(("key", "value"), kinds, strict=True), 1):
            part = entry.field.add(name=name, number=number, label=_Field.LABEL_OPTIONAL)
            self._type(part, kind)
        path = next(n for n, m in self.messages.items() if m is message)
        field.label, field.type = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{path}.{entry.name}"


def declare(text: str, file_name: str) -> str:
    """Adds the messages and enums of a declaration to the pool; returns the file's name."""
    declarations = _Declarations(text, file_name)
    POOL.AddSerializedFile(declarations.file.SerializeToString())
    _files.append(file_name)
    return file_name


def file_under_name(name: str, declared: str) -> Any:
    """The descriptor of a file of another name that has the messages of a declared one."""
    if name not in _named:
        _named.add(name)
        own = descriptor_pb2.FileDescriptorProto(
            name=name, package=PACKAGE, syntax="proto3", dependency=[declared]
        )
        own.public_dependency.append(0)
        POOL.AddSerializedFile(own.SerializeToString())
    return POOL.FindFileByName(name)


def declared(name: str) -> Any:
    """A message's class, or an enum, by its name."""
    if name in _enums:
        return EnumTypeWrapper(POOL.FindEnumTypeByName(f"{PACKAGE}.{name}"))
    return message_class(name)


def message_class(name: str) -> Any:
    """The class of the messages of that name."""
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def parsed(kind: Any, data: bytes, what: str) -> Any:
    """Bytes as a message. Raises MalformedError if they are none; `what` names them."""
    message = kind()
    try:
        message.ParseFromString(data)
    except DecodeError as e:
        raise MalformedError(f"{what} is not a {kind.DESCRIPTOR.name}: {e}") from None
    return message


def merge(message: Any, data: bytes) -> None:
    """Adds the fields that bytes have to a message, up to where they are damaged."""
    with contextlib.suppress(DecodeError):
        message.MergeFromString(data)


def as_text(message: Any) -> str:
    """A message in protobuf's text form."""
    return text_format.MessageToString(message)


def parsed_text(kind: Any, text: str, what: str) -> Any:
    """Text as a message, without the fields that are not declared. Raises MalformedError if it is none."""
    try:
        return text_format.Parse(text, kind(), allow_unknown_field=True)
    except text_format.ParseError as e:
        raise MalformedError(f"{what} is not a {kind.DESCRIPTOR.name}: {e}") from None
