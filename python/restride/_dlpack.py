"""DLPack capsules of CUDA memory, read as `__cuda_array_interface__` would tell it (dlpack.h, versions 0 and 1)."""

from __future__ import annotations

import ctypes
from typing import Any, Dict, Optional, Tuple

from ._library import Error

CUDA = (2, 13)  # kDLCUDA, kDLCUDAManaged
_LEGACY_STREAM = 1
_READ_ONLY = 1  # DLPACK_FLAG_BITMASK_READ_ONLY
_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]


_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p


def _tensor(capsule: Any) -> Tuple[_Tensor, bool]:
    """What a capsule describes, and whether it is read-only."""
    if _is_valid(capsule, b"dltensor_versioned"):
        versioned = _Versioned.from_address(_pointer(capsule, b"dltensor_versioned"))
        return versioned.tensor, bool(versioned.flags & _READ_ONLY)
    if _is_valid(capsule, b"dltensor"):
        return _Tensor.from_address(_pointer(capsule, b"dltensor")), False
    raise Error("This array gives no DLPack capsule of a version that is known here.", 5)


def dlpack_interface(array: Any) -> Dict[str, Any]:
    """The array as `__cuda_array_interface__` would tell it. The capsule is not kept: the array keeps its memory."""
    capsule = array.__dlpack__(stream=_LEGACY_STREAM)  # its library lets our stream wait for its own
    tensor, readonly = _tensor(capsule)
    if tensor.lanes != 1 or tensor.bits % 8 != 0:
        raise Error(f"Elements of {tensor.bits} bits in {tensor.lanes} lanes are not supported.", 5)
    unit, rank = tensor.bits // 8, tensor.ndim
    kind = _KINDS.get(tensor.code, "V")
    strides: Optional[Tuple[int, ...]] = None
    if tensor.strides:
        strides = tuple(tensor.strides[k] * unit for k in range(rank))
    return {
        "data": ((tensor.data or 0) + tensor.byte_offset, readonly),
        "shape": tuple(tensor.shape[k] for k in range(rank)),
        "typestr": ("|" if unit == 1 or kind == "V" else "<") + f"{kind}{unit}",
        "strides": strides,
        "stream": _LEGACY_STREAM,
        "version": 3,
    }
