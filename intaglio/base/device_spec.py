"""`DeviceSpec`: a parsed device name, complete or partial.

Follows https://www.tensorflow.org/api_docs/python/tf/DeviceSpec.
"""

from __future__ import annotations

from typing import Any

FIELDS = ("job", "replica", "task", "device_type", "device_index")
NUMBERS = ("replica", "task")


class DeviceSpec:
    """Job, replica, task, type and index of a device; None is a wildcard.

    >>> tf.DeviceSpec(job="ps", device_type="CPU", device_index=0).to_string()
    '/job:ps/device:CPU:0'
    """

    __slots__ = ("_values",)

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        def whole(value: Any) -> Any:
            return None if value is None else int(value)

        self._values: tuple[Any, ...] = (
            None if job is None else str(job),
            whole(replica),
            whole(task),
            None if device_type is None else str(device_type).upper(),
            whole(device_index),
        )

    job = property(lambda self: self._values[0], doc="The name of the job.")
    replica = property(lambda self: self._values[1], doc="The number of the replica.")
    task = property(lambda self: self._values[2], doc="The number of the task.")
    device_type = property(lambda self: self._values[3], doc="The type, such as CPU or GPU.")
    device_index = property(
        lambda self: self._values[4], doc="The number among devices of the type."
    )

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """The spec of a name such as "/job:w/task:3/GPU:0".

        Raises ValueError for what is no such name, and for two types.
        """
        found: dict[str, Any] = {}
        for part in (spec or "").split("/"):
            pieces = part.split(":")
            kind = pieces[0].lower()
            if not part:
                continue
            if len(pieces) == 2 and kind in ("job", *NUMBERS):
                found[kind] = pieces[1]
                continue
            if kind == "device" and len(pieces) == 3:
                pieces = pieces[1:]
            elif len(pieces) not in (1, 2) or kind not in ("cpu", "gpu", "tpu"):
                raise ValueError(
                    f"Unknown attribute '{pieces[0]}' is encountered while parsing the device spec: '{spec}'."
                )
            if "device_type" in found:
                raise ValueError(
                    f"Multiple device types are not allowed while parsing the device spec: {spec}."
                )
            found["device_type"] = pieces[0].upper()
            if len(pieces) == 2 and pieces[1] != "*":
                found["device_index"] = int(pieces[1])
        return cls(**found)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """`from_string`, under its former name."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name, with what is known."""
        parts = [
            f"/{name}:{value}"
            for name, value in zip(FIELDS[:3], self._values[:3], strict=True)
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """The spec with other values in the fields named."""
        return DeviceSpec(**{**dict(zip(FIELDS, self._values, strict=True)), **kwargs})

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """The spec with the fields that `dev` specifies replaced by its values."""
        known = zip(FIELDS, dev._values, strict=True)
        return self.replace(**{k: v for k, v in known if v is not None})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    def __repr__(self) -> str:
        pairs = zip(FIELDS, self._values, strict=True)
        return f"<DeviceSpec({', '.join(f'{k}={v}' for k, v in pairs)})>"
