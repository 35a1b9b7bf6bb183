"""Resources: what variable handles refer to, and the table of those with shared names.

A variable's array is replaced when it is assigned. It is written in place only while nothing
else refers to it, which its reference count shows, because tensors, views and constants that
share the memory all hold references. While it is written, the array is taken out of
the resource, so that readers of other threads wait for the lock and never see half of it.

A value that an XLA program has written stays an array of its device, which the next program may overwrite
(`donate`). It is copied to a NumPy array when something else reads it. If a program fails after it
has overwritten the memory, the value is lost, and reading the variable raises an error.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import errors
from intaglio.base.devices import DEVICE
from intaglio.base.dtypes import RESOURCE_MARKER, DType, from_numpy
from intaglio.base.locks import lasting_lock
from intaglio.base.shapes import Dims, compatible
from intaglio.cpython import is_sole_owner, shared
from intaglio.opdef.spec import Spec
from intaglio.runtime.derived import DERIVED
from intaglio.runtime.lookup_tables import LookupTable

ANONYMOUS = "Anonymous"
LOCAL = "localhost"
# The shared_name of handles that refer to a resource of their own.
ANONYMOUS_NAME = "cd2c89b7-88b7-44c8-ad83-06c2a9158347"

_numbers = itertools.count()


class Resource:
    """A variable's storage: the value behind a tensor of dtype resource.

    `spec` is the Spec of what may be stored: dtype and declared shape.
    """

    __slots__ = (
        "__weakref__",
        "_on_device",
        "_taken",
        "_taker",
        "_value",
        "container",
        "lock",
        "name",
        "spec",
    )

    dtype = RESOURCE_MARKER
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    def __init__(self, contents: Spec, name: str, container: str = ANONYMOUS) -> None:
        self.spec = contents
        self.name = name
        self.container = container
        self.lock = threading.RLock()
        self._value: Any = None
        # The value as an array of a device; `_value` is None until the host reads it.
        self._on_device: Any = None
        # The array while it is being written, and the object that identifies the writer.
        self._taken: Any = None
        self._taker: Any = None

    @property
    def initialized(self) -> bool:
        """True once something has been assigned."""
        if self._value is not None:
            return True
        with self.lock:
            return any([v is not None for v in (self._value, self._on_device, self._taken)])

    def read(self) -> Any:
        """The present array; it must not be written to.

        Raises FailedPreconditionError if nothing was assigned yet.
        """
        value = self._value
        if value is not None:
            return value
        with self.lock:
            self.fetch()
            if self._value is not None:
                return self._value
            if self._taken is not None:  # a signal handler reads while its own thread writes
                return np.array(self._taken)
            raise self.missing()

    def assign(self, value: Any) -> None:
        """Sets the array to `value`, in C order. The caller has checked the shape."""
        dtype = self.spec.dtype.numpy
        if value.dtype != dtype:
            raise errors.invalid_argument(
                f"Trying to assign variable with wrong dtype. Expected {_kind(self.spec.dtype)} got "
                f"{_kind(from_numpy(value.dtype))}"
            )
        if type(value) is not np.ndarray or not value.flags.c_contiguous:
            # Native code needs C-contiguous arrays, and a variable is read often.
            value = np.array(value, order="C")
        with self.lock:
            self._value = value
            self._on_device = None

    def fetch(self) -> bool:
        """Reads the value from its device; False if the host has it, or there is none."""
        with self.lock:
            if self._value is not None or self._on_device is None:
                return False
            try:
                self._value = np.asarray(self._on_device)
            except Exception as e:  # the asynchronous program that computes it has failed
                raise self.lost(e) from None
            return True

    def on_device(self) -> Any:
        """The device's array if there is one, else the host's, for a program that reads the value."""
        value = self._on_device
        return self.read() if value is None else value

    def keep_copy(self, value: Any, copy: Any) -> None:
        """Keeps an array of a device beside `value` of the host, unless that is no more the variable's."""
        with self.lock:
            if self._value is value and self._on_device is None:
                self._on_device = copy

    def stored_shape(self) -> tuple[int, ...] | None:
        """The shape of the value; None while there is none, or a program has it."""
        value = self._value if self._on_device is None else self._on_device
        return None if value is None else value.shape

    def hold(self, value: Any) -> None:
        """Sets the value to an array of a device. The caller has checked the shape."""
        with self.lock:
            self._value, self._on_device = None, value

    def accumulate(self, ufunc: Callable[..., Any], delta: Any) -> None:
        """value = ufunc(value, delta), where the shapes are the same."""
        with self.lock:
            result = None
            try:
                array, is_owner = self.taken(delta, delta.dtype)
                if array.shape != delta.shape:
                    raise of_other_shape(array.shape, delta.shape)
                if is_owner:
                    ufunc(array, delta, out=array)
                else:
                    result = ufunc(array, delta)
                    if type(result) is not np.ndarray:  # a number; native code reads arrays
                        result = np.array(result, array.dtype)
            finally:  # without calls, between which Ctrl-C could raise an exception
                if self._taker is delta:
                    self._value = self._taken if result is None else result
                    self._taken = self._taker = None

    def modify(self, change: Callable[[Any], None], dtype: Any = None) -> None:
        """Calls `change` with the array, which it may write in place.

        `change` must raise its errors before it writes.
        """
        with self.lock:
            result = None
            try:
                array, is_owner = self.taken(change, dtype)
                if is_owner:
                    change(array)
                else:
                    changed = np.array(array)
                    change(changed)
                    result = changed
            finally:
                if self._taker is change:
                    self._value = self._taken if result is None else result
                    self._taken = self._taker = None

    def taken(self, taker: Any, dtype: Any = None) -> tuple[Any, bool]:
        """Takes the array out of the variable; returns it, and whether it holds the sole reference.

        For a caller that holds the lock, with an object `taker` of its own, until it has `restored`
        an array. Readers wait. Raises NotFoundError if there is no array, or InvalidArgumentError if it
        has another dtype.
        """
        if self._value is None and not self.fetch():
            raise errors.NotFoundError(
                None,
                None,
                f"Resource {self.container}/{self.name} does not exist: the variable was not initialized, or destroyed.",
            )
        if dtype is not None and self._value.dtype != dtype:  # pyright: ignore[reportOptionalMemberAccess]  # it has been fetched
            raise errors.invalid_argument(
                f"Trying to update variable with wrong dtype. Expected {_kind(self.spec.dtype)} got {_kind(from_numpy(dtype))}"
            )
        array = self._value
        # Without calls, between which Ctrl-C could raise an exception: the array is in one of the two.
        self._taken, self._taker, self._value = array, taker, None
        self._on_device = None
        if not is_sole_owner(array, 1) or type(array) is not np.ndarray:
            return array, False
        is_owner = bool(array.flags.writeable and _owns_memory(array))
        if is_owner:  # it may be written to
            DERIVED.forget(array)
        return array, is_owner

    def restore(self, taker: Any, array: Any = None) -> None:
        """Ends `taken`: sets the value to `array`, or to the one that was taken."""
        if self._taker is taker:
            self._value = self._taken if array is None else array
            self._taken = self._taker = None

    def clear(self) -> bool:
        """Drops the value; returns whether there was one."""
        with self.lock:
            had = self._value is not None or self._on_device is not None
            self._value = self._on_device = None
            return had

    def missing(self) -> Exception:
        """The error of reading a variable without a value."""
        return errors.FailedPreconditionError(
            None,
            None,
            f"Could not find variable {self.name}. This could mean that the variable has been deleted. "
            "In TF1, it can also mean the variable is uninitialized. "
            f"Debug info: container={self.container}, status error message=Resource {self.container}/{self.name} "
            "does not exist.",
        )

    def lost(self, error: Exception) -> Exception:
        """The error of reading a variable whose memory was donated to a program that failed."""
        return errors.DataLossError(
            None,
            None,
            f"Variable {self.name} has lost its value: an XLA program failed after it had taken the "
            f"variable's memory for the new value. Assign the variable, or restore a checkpoint. ({error})",
        )

    def __repr__(self) -> str:
        dims = self.spec.shape
        shape = "<unknown>" if dims is None else _brackets(dims)
        return (
            f'<ResourceHandle(name="{self.name}", device="{DEVICE}", container="{self.container}", type="tensorflow::Var", '
            f'dtype and shapes : "[ DType enum: {int(self.spec.dtype)}, Shape: {shape} ]")>'
        )


class Locks:
    """A context in which a thread has the locks of variables: all threads take them in one order."""

    __slots__ = ("_locks",)

    def __init__(self, variables: Sequence[Resource]) -> None:
        self._locks = tuple([v.lock for v in sorted(variables, key=id)])

    def __enter__(self) -> None:
        locked = 0
        try:
            for lock in self._locks:
                lock.acquire()
                locked += 1
        except BaseException:
            for lock in self._locks[:locked]:
                lock.release()
            raise

    def __exit__(self, *error: object) -> None:
        for lock in self._locks:
            lock.release()


def donate(variables: Sequence[Resource]) -> list[Any]:
    """Takes the values out of variables, for a program that may overwrite their memory, until `give`.

    The caller has their locks, so that other threads wait. Raises FailedPreconditionError, and takes
    nothing, if one has no value.
    """
    taken = [present_value(v) for v in variables]
    try:
        for variable, value in zip(variables, taken, strict=True):
            # Without calls, between which Ctrl-C could raise an exception: it is in one of the two.
            variable._taken, variable._taker = value, taken
            variable._value = variable._on_device = None
    except BaseException:
        give(variables, taken, taken)
        raise
    return taken


def present_value(variable: Resource) -> Any:
    """The value on a device, or the host's. Raises FailedPreconditionError if there is none."""
    value = variable._value if variable._on_device is None else variable._on_device
    if value is None:
        raise variable.missing()
    return value


def give(variables: Sequence[Resource], taken: list[Any], values: Sequence[Any]) -> None:
    """Ends `donate`: sets the variables to values, new ones or those that were taken."""
    for variable, value in zip(variables, values, strict=True):
        if variable._taker is taken:
            if type(value) is np.ndarray:
                variable._value = value
            else:
                variable._on_device = value
            variable._taken = variable._taker = None


def shared_arrays(taken: list[Any], others: int = 1) -> list[int]:
    """The indices of donated values that are arrays of devices to which others refer, such as tensors.

    `others` are the references besides those of the list: the variable's own.
    """
    found = shared(taken, others)
    return [i for i in found if type(taken[i]) is not np.ndarray] if found else found


def donation_lines(variables: Sequence[str], results: Sequence[str]) -> tuple[list[str], list[str]]:
    """`donate` and `give` as generated code without calls and loops, in which Ctrl-C could raise an exception.

    All are expressions; the results are arrays of devices. The first lines make the list `taken`, and leave a
    local variable for each value; their global `present_value` is the function.
    """
    numbered = [*enumerate(variables)]
    taking = [f"t{i} = {device_value(v)}" for i, v in numbered]
    taking += [f"if t{i} is None: t{i} = present_value({v})" for i, v in numbered]
    taking.append(f"taken = [{', '.join([f't{i}' for i, _ in numbered])}]")
    taking += [
        f"{v}._taken = t{i}; {v}._taker = taken; {v}._value = {v}._on_device = None"
        for i, v in numbered
    ]
    giving = [
        f"if {v}._taker is taken: {v}._on_device = {result}; {v}._taken = {v}._taker = None"
        for v, result in zip(variables, results, strict=True)
    ]
    return taking, giving


def device_value(variable: str) -> str:
    """The Python expression, for generated code, of a variable's array of a device; None if the host has it.

    `variable` is an expression for the variable.
    """
    return f"{variable}._on_device"


def of_other_shape(dims: Sequence[int], update: Sequence[int]) -> errors.OpError:
    """The error of an update of another shape than the variable's."""
    return errors.invalid_argument(
        f"Cannot update variable with shape {_brackets(dims)} using a Tensor with shape "
        f"{_brackets(update)}, shapes must be equal."
    )


def _brackets(dims: Any) -> str:
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"


def _owns_memory(array: Any) -> bool:
    """True if the array is no view of another one, except of the bytes that provide aligned memory."""
    base = array.base
    if base is None:
        return bool(array.flags.owndata)
    return is_sole_owner(base, 1) and type(base) is np.ndarray and base.flags.owndata


def _kind(dtype: DType) -> str:
    names = {"float32": "float", "float64": "double", "float16": "half"}
    return names.get(dtype.name, dtype.name)


# -- shared names ----------------------------------------------------------------------


def _holds(stored: Spec, wanted: Spec) -> bool:
    """True if one variable can have both specs."""
    return stored.dtype is wanted.dtype and compatible(stored.shape, wanted.shape)


class ResourceManager:
    """Resources that graphs find by container and name."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, str], Any] = {}
        self._lock = lasting_lock()

    def variable(self, contents: Spec, shared_name: str, container: str = "") -> Resource:
        """The variable of that name, created if there is none; a new one if it is anonymous."""
        if not shared_name or shared_name == ANONYMOUS_NAME:
            return Resource(contents, f"Variable/{next(_numbers)}")
        key = (container or LOCAL, shared_name)
        with self._lock:
            found = self._table.get(key)
            if found is None:
                found = self._table[key] = Resource(contents, shared_name, key[0])
        if not isinstance(found, Resource) or not _holds(found.spec, contents):
            raise errors.invalid_argument(
                f"Trying to access resource {key[0]}/{shared_name} as a variable of dtype "
                f"{_kind(contents.dtype)} and shape {_brackets(contents.shape)}, which it is not."
            )
        return found

    def lookup_table(
        self, keys: DType, values: Spec, shared_name: str, container: str, fixed: bool
    ) -> LookupTable:
        """The look-up table of that name, created if there is none."""

        def make(name: str) -> LookupTable:
            return LookupTable(keys, values, name, fixed)

        return self.shared(shared_name, container, make)

    def shared(self, name: str, container: str, make: Callable[[str], Any]) -> Any:
        """The resource of this name, created if there is none; a new one for an empty name."""
        if not name:
            return make(str(next(_numbers)))
        key = (container or LOCAL, name)
        with self._lock:
            found: Any = self._table.get(key)
            if found is None:
                found = self._table[key] = make(name)
            return found

    def destroy(self, resource: Resource) -> bool:
        """Drops the resource's value and name; returns whether there was a value."""
        with self._lock:
            self._table.pop((resource.container, resource.name), None)
        return resource.clear()

    def reset(self, container: str | None = None) -> None:
        """Drops the shared names, of one container or of all."""
        with self._lock:
            self._table = {
                k: r for k, r in self._table.items() if container is not None and k[0] != container
            }


MANAGER = ResourceManager()


def new_variable(contents: Spec, name: str) -> Resource:
    """A variable without a value that only its handle refers to."""
    return Resource(contents, f"{name}/{next(_numbers)}")


def dims_of(resource: Resource) -> Dims:
    """The shape of the present value, or the declared one if there is none."""
    return resource.read().shape if resource.initialized else resource.spec.shape
