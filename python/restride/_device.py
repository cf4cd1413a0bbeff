"""CUDA: on which device and stream an array's work is enqueued. The driver is found when the first such array comes."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any, Dict, Iterator, Optional, Tuple

from . import _library
from ._library import Error, Handle, library

_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_LEGACY, _PER_THREAD = 1, 2  # streams as __cuda_array_interface__ and CUDA name them
_driver: Any = None
_contexts: Dict[int, int] = {}


def _cuda() -> Any:
    global _driver
    if _driver is None:
        try:
            driver = ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise Error("This is a CUDA array, but libcuda.so.1, NVIDIA's driver, is not found.", 5) from None
        _call(driver.cuInit(0), "starting the driver")
        _driver = driver
    return _driver


def _call(code: int, doing: str) -> None:
    if code:
        raise Error(f"CUDA's driver returned error {code} when {doing}.", 6)


def _context(device: int) -> int:
    """The primary context of a device, in which all of these libraries work."""
    if device not in _contexts:
        driver, context, handle = _cuda(), ctypes.c_void_p(), ctypes.c_int()
        _call(driver.cuDeviceGet(ctypes.byref(handle), device), f"looking for device {device}")
        _call(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), handle), f"entering device {device}")
        _contexts[device] = context.value or 0
    return _contexts[device]


class Queue:
    """A stream of a device. `lasting`: its library never destroys it. `wait`: results are waited for."""

    def __init__(self, device: int, stream: int, owner: Any, lasting: bool = False, wait: bool = False) -> None:
        self.device = device
        # The default stream and the per-thread one wait for each other.
        self.stream = 0 if stream in (_LEGACY, _PER_THREAD) else stream
        self.owner = owner
        self.lasting = lasting or self.stream == 0
        self.wait = wait

    @classmethod
    def of_pointer(cls, address: int, stream: Optional[int]) -> "Queue":
        device = ctypes.c_int(0)
        if address:
            code = _cuda().cuPointerGetAttribute(ctypes.byref(device), _DEVICE_ORDINAL, ctypes.c_uint64(address))
            _call(code, "looking for the device of the array")
        return cls(device.value, stream or 0, None)

    @property
    def key(self) -> Tuple[int, int]:
        return self.device, self.stream

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        driver = _cuda()
        _call(driver.cuCtxPushCurrent_v2(ctypes.c_void_p(_context(self.device))), "entering the device's context")
        try:
            yield
        finally:
            driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def synchronize(self) -> None:
        with self.entered():
            _call(_cuda().cuStreamSynchronize(ctypes.c_void_p(self.stream)), "waiting for the stream")

    def engine(self) -> Handle:
        """The engine on this stream; kept where the stream lasts as long as the process."""
        if not hasattr(library, "restride_engine_create_cuda"):
            raise Error("This library was built without its CUDA engine (RESTRIDE_CUDA=OFF).", 5)
        if self.lasting and self.key in _engines:
            return _engines[self.key]
        with self.entered():
            engine = _library.make(
                library.restride_engine_destroy,
                library.restride_engine_create_cuda,
                ctypes.c_void_p(self.stream),
                needs=self.owner,
            )
        if self.lasting:
            _engines[self.key] = engine
        return engine


_engines: Dict[Tuple[int, int], Handle] = {}


def _forget() -> None:
    """CUDA does not work in a child that was forked after the parent has used it; CUDA itself says so."""
    _engines.clear()


_library.after_fork(_forget)
