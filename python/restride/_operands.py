"""Arrays of other libraries as the memory they lie in, and results as arrays of the same library.

No library but NumPy is imported here: an array can only be one of PyTorch's when PyTorch is loaded.
"""

from __future__ import annotations

import functools
import mmap
import os
import re
import sys
from typing import Any, Optional, Sequence, Tuple

import numpy as np

from ._device import Queue
from ._dlpack import CUDA, dlpack_interface
from ._library import Error
from ._memory import Facts, dense_strides, memory_order

DEVICE_ALIGNMENT = 16


class Operand:
    """An array that was handed in. Subclasses know one library each."""

    own: Any  # as the caller knows it
    facts: Facts
    address: int
    queue: Optional[Queue] = None  # None: host memory
    settable = True  # its values may be others afterwards

    @property
    def nbytes(self) -> int:
        count = self.facts.itemsize
        for n in self.facts.shape:
            count *= n
        return count

    def order(self) -> Tuple[int, ...]:
        return memory_order(self.facts)

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        """An array of the same kind in the same memory: dense, its axes in `order` from the slowest to the fastest.

        It is made before the memory is changed: where that fails, nothing has been changed.
        """
        raise NotImplementedError

    def whole(self) -> Any:
        """As result(): the array itself."""
        return self.own

    def finished(self, result: Any) -> Any:
        """A result when the memory has been changed."""
        return result

    def copy(self) -> "Operand":
        """Of a new array with the same values, dense, its axes in the same order where they have one."""
        raise NotImplementedError

    def blank(self) -> Optional["Operand"]:
        """Of a new array like a dense one, with any values; None where there is no array without values."""
        return None

    def changed(self) -> None:
        """Is told when the memory has been changed."""


def _is_closed(array: Any) -> bool:
    """Whether the memory is gone: NumPy's arrays do not keep an mmap from being closed."""
    owner = array
    while isinstance(owner, np.ndarray):
        owner = owner.base
    owner = owner.obj if isinstance(owner, memoryview) else owner
    return isinstance(owner, mmap.mmap) and owner.closed


class NumpyOperand(Operand):
    def __init__(self, array: Any, what: str = "the array", given: Any = None) -> None:
        masked = isinstance(array, np.ma.MaskedArray)
        self.own = array if given is None else given
        if isinstance(array, np.matrix):
            array = array.view(np.ndarray)
        self.array = array
        dtype = array.dtype
        self.facts = Facts(
            what,
            tuple(array.shape),
            tuple(array.strides),
            dtype.itemsize,
            readonly=not array.flags.writeable,
            closed=_is_closed(array),
            objects=bool(dtype.hasobject),
            masked=masked,
        )
        self.address = int(array.__array_interface__["data"][0])

    def flat(self) -> Any:
        """All elements in the order of memory, as a view."""
        view = np.ndarray.reshape(np.ndarray.transpose(self.array, self.order()), -1)
        if self.nbytes and view.__array_interface__["data"][0] != self.address:
            raise Error(f"NumPy gives no flat view of {self.facts.what}; please report this.")
        return view

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        memory = np.ndarray.reshape(self.flat(), tuple(shape[axis] for axis in order))
        inverse = [0] * len(order)
        for place, axis in enumerate(order):
            inverse[axis] = place
        return np.ndarray.transpose(memory, inverse)

    def copy(self) -> "Operand":
        array = self.array
        if array.dtype.itemsize and array.dtype.names is not None:  # what lies between the fields is copied, too
            as_bytes = array.view(np.ndarray).view(np.dtype((np.void, array.dtype.itemsize)))
            copied = as_bytes.copy(order="K").view(array.dtype).view(type(array))
        else:
            copied = np.array(array, copy=True, order="K", subok=True)
        return NumpyOperand(copied, self.facts.what)

    def blank(self) -> Optional["Operand"]:
        return NumpyOperand(np.empty_like(self.array, order="K", subok=True), self.facts.what)


class TorchOperand(Operand):
    def __init__(self, tensor: Any) -> None:
        torch = sys.modules["torch"]
        if tensor.layout != torch.strided:
            raise Error(f"A tensor of layout {tensor.layout} has no strides; only dense tensors are transposed.", 5)
        lazy = "conjugated lazily: call resolve_conj()" if tensor.is_conj() else ""
        lazy = "negated lazily: call resolve_neg()" if tensor.is_neg() else lazy
        if tensor.requires_grad and torch.is_grad_enabled():
            lazy = "autograd would not see the change: use torch.no_grad() or detach()"
        self.own = self.tensor = tensor
        self.address = int(tensor.data_ptr())
        unit = int(tensor.element_size())
        if tensor.device.type == "cuda":
            stream = torch.cuda.current_stream(tensor.device)
            self.queue = Queue(tensor.device.index or 0, int(stream.cuda_stream), stream, lasting=True)
        elif tensor.device.type != "cpu":
            raise Error(f"Tensors on {tensor.device} are not supported; those in host and in CUDA memory are.", 5)
        self.facts = Facts(
            "the tensor",
            tuple(tensor.shape),
            tuple(step * unit for step in tensor.stride()),
            unit,
            lazy=lazy,
            unaligned=self.queue is not None and self.address % DEVICE_ALIGNMENT != 0,
        )

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        return self.tensor.as_strided(tuple(shape), dense_strides(shape, order, 1))

    def copy(self) -> "Operand":
        torch = sys.modules["torch"]
        with torch.no_grad():
            copied = self.tensor.detach().clone(memory_format=torch.preserve_format)
        copied = copied if copied.is_contiguous() or _is_dense(copied) else copied.contiguous()
        return TorchOperand(copied)

    def blank(self) -> Optional["Operand"]:
        torch = sys.modules["torch"]
        return TorchOperand(torch.empty_like(self.tensor.detach(), memory_format=torch.preserve_format))

    def changed(self) -> None:
        # A backward pass that has kept this tensor now says so instead of reading other numbers.
        graph = getattr(getattr(sys.modules["torch"], "autograd", None), "graph", None)
        increment = getattr(graph, "increment_version", None)
        if increment is not None and not self.tensor.is_inference():
            increment(self.tensor)


def _is_dense(tensor: Any) -> bool:
    order = sorted(range(tensor.dim()), key=lambda axis: -int(tensor.stride(axis)))
    return bool(tensor.permute(order).is_contiguous())


class CupyOperand(Operand):
    def __init__(self, array: Any) -> None:
        cupy = sys.modules["cupy"]
        self.own = self.array = array
        self.address = int(array.data.ptr)
        with array.device:
            stream = cupy.cuda.get_current_stream()
        self.queue = Queue(int(array.device.id), int(stream.ptr), stream)
        self.facts = Facts(
            "the array",
            tuple(array.shape),
            tuple(array.strides),
            int(array.dtype.itemsize),
            unaligned=self.address % DEVICE_ALIGNMENT != 0,
        )

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        cupy, unit = sys.modules["cupy"], self.facts.itemsize
        return cupy.ndarray(tuple(shape), self.array.dtype, self.array.data, dense_strides(shape, order, unit))

    def copy(self) -> "Operand":
        return CupyOperand(self.array.copy(order="K"))

    def blank(self) -> Optional["Operand"]:
        return CupyOperand(sys.modules["cupy"].empty_like(self.array, order="K"))


@functools.lru_cache(maxsize=64)
def _donating_reshape(shape: Tuple[int, ...]) -> Any:
    """What gives an array's memory to an array of that shape; JAX compiles it once for each shape and dtype."""
    return sys.modules["jax"].jit(lambda x: x.reshape(shape), donate_argnums=0)


class JaxOperand(Operand):
    """JAX's arrays do not change; but one may be donated: its memory becomes the result's, and it is deleted."""

    settable = False

    def __init__(self, array: Any) -> None:
        devices = list(array.devices())
        if len(devices) != 1 or devices[0].platform not in ("cpu", "gpu", "cuda"):
            raise Error("Arrays of JAX are transposed on one CPU or one CUDA device; this one is elsewhere.", 5)
        bits = re.match(r"[a-z]+(\d+)", str(array.dtype))
        if not isinstance(array.dtype, np.dtype) or (bits and int(bits[1]) != 8 * array.dtype.itemsize):
            raise Error(f"JAX keeps elements of {array.dtype} in a way that only JAX knows; use jax.numpy.", 5)
        array.block_until_ready()  # JAX tells nobody its streams
        self.own = self.array = array
        self.address = int(array.unsafe_buffer_pointer())
        if devices[0].platform != "cpu":
            self.queue = Queue(int(getattr(devices[0], "local_hardware_id", 0) or 0), 0, None, wait=True)
        unit = int(array.dtype.itemsize)
        self.facts = Facts(
            "the array",
            tuple(array.shape),
            dense_strides(array.shape, range(array.ndim), unit),
            unit,
            unaligned=self.queue is not None and self.address % DEVICE_ALIGNMENT != 0,
        )

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        if tuple(order) != tuple(range(len(order))):
            raise Error("Arrays of JAX are always in C order.", 5)
        return tuple(shape)

    def whole(self) -> Any:
        return self.facts.shape

    def finished(self, result: Any) -> Any:
        return _donating_reshape(result)(self.array)

    def copy(self) -> "Operand":
        return JaxOperand(sys.modules["jax"].numpy.array(self.array, copy=True))


class DeviceArray:
    """CUDA memory of a library that this package does not know, as `__cuda_array_interface__` tells it."""

    def __init__(self, owner: Any, interface: "dict[str, Any]") -> None:
        self._owner = owner
        self.__cuda_array_interface__ = interface

    def __reduce__(self) -> Any:
        raise Error("A device array has no copies; copy it with the library that it came from.")

    @property
    def shape(self) -> Tuple[int, ...]:
        """Number of elements along each axis."""
        return tuple(self.__cuda_array_interface__["shape"])


class CudaOperand(Operand):
    """Anything with `__cuda_array_interface__`, or with DLPack, which is told as such an interface."""

    def __init__(self, owner: Any, interface: "dict[str, Any]") -> None:
        self.own, self.interface = owner, interface
        self.address, readonly = int(interface["data"][0] or 0), bool(interface["data"][1])
        shape, unit = tuple(interface["shape"]), np.dtype(interface["typestr"]).itemsize
        strides = interface.get("strides") or dense_strides(shape, range(len(shape)), unit)
        if len(strides) != len(shape) or min(shape, default=0) < 0:
            raise Error(f"Shape {shape} and strides {strides} do not belong together.")
        self.queue = Queue.of_pointer(self.address, interface.get("stream"))
        self.facts = Facts(
            "the array",
            shape,
            tuple(strides),
            unit,
            readonly=readonly,
            masked=interface.get("mask") is not None,
            unaligned=self.address % DEVICE_ALIGNMENT != 0,
        )

    def result(self, shape: Sequence[int], order: Sequence[int]) -> Any:
        interface = dict(self.interface)
        interface["shape"] = tuple(shape)
        interface["strides"] = dense_strides(shape, order, self.facts.itemsize)
        return DeviceArray(self.own, interface)

    def copy(self) -> "Operand":
        raise Error("CUDA memory of a library that is not known here is not copied; copy it first.", 5)


def _instance(array: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(array, kind)


def _is_cuda(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", None)
    return device is not None and device()[0] in CUDA


def _numpy_of(array: Any) -> Any:
    """The same memory as a NumPy array; None where there is no way to it without a copy."""
    if isinstance(array, np.generic):
        return None
    if hasattr(array, "__array_interface__"):
        return np.asarray(array)
    try:
        return np.asarray(memoryview(array))
    except (TypeError, ValueError, BufferError):
        pass
    from_dlpack = getattr(np, "from_dlpack", None)
    if hasattr(array, "__dlpack__") and from_dlpack is not None:
        try:
            return from_dlpack(array)
        except (TypeError, ValueError, BufferError, RuntimeError):
            pass
    return None


def operand(array: Any, copy: bool = False) -> Operand:
    """What was handed in. With `copy`, anything that NumPy makes an array of will do."""
    try:
        return _operand(array, copy)
    except (Error, MemoryError):
        raise
    except Exception as error:  # of another library, or of what the array says of itself
        why = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise Error(f"This {type(array).__name__} cannot be read as an array: {type(error).__name__}: {why}.") from None


def _operand(array: Any, copy: bool) -> Operand:
    if isinstance(array, np.ndarray):
        return NumpyOperand(array)
    if _instance(array, "torch", "Tensor"):
        return TorchOperand(array)
    if _instance(array, "cupy", "ndarray"):
        return CupyOperand(array)
    if _instance(array, "jax", "Array"):
        return JaxOperand(array)
    if hasattr(array, "__cuda_array_interface__"):
        return CudaOperand(array, dict(array.__cuda_array_interface__))
    if _is_cuda(array):
        return CudaOperand(array, dlpack_interface(array))
    if isinstance(array, (str, os.PathLike)):
        raise Error(
            f"This {type(array).__name__} is no array; restride.file changes files, and numpy.load() reads one."
        )
    found = _numpy_of(array)
    if found is None and copy:
        found = np.asarray(array)
    if found is None:
        raise Error(
            f"This {type(array).__name__} gives no access to its memory; hand over an array, a buffer or a tensor, or "
            "let out_of_place=True work on a copy."
        )
    on = NumpyOperand(found, f"the memory of this {type(array).__name__}", given=array)
    interface = getattr(array, "__array_interface__", {})
    if interface.get("mask") is not None:
        on.facts = on.facts._replace(masked=True)
    return on
