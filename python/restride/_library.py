"""The C library through ctypes: its functions, its errors as exceptions, and what a fork and Ctrl-C change.

ctypes is part of Python, so NumPy stays the only requirement and one wheel serves every Python; cffi in ABI mode would
do the same calls through a package of its own that is compiled for each Python. Both release the GIL in a call.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import operator
import os
import signal
import sys
import threading
import weakref
from collections.abc import Mapping, Set
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

PACKAGED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
_SONAME = "librestride.so.0"


class Error(ValueError):
    """What cannot be done, in one sentence, and what to do instead.

    `status` is the library's number of the error (`restride/status.h`), 1 where this package refused by itself.
    """

    def __init__(self, sentence: str, status: int = 1) -> None:
        super().__init__(sentence)
        self.status = status


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a change of memory or of a file. The sentence says what is left.

    `result` is what the call would have returned where the change was brought to its end first; otherwise None.
    """

    def __init__(self, sentence: str, result: Any = None) -> None:
        super().__init__(sentence)
        self.result = result


class PlanOptions(ctypes.Structure):
    _fields_ = [("scratch_bytes", ctypes.c_size_t), ("run_bytes", ctypes.c_size_t), ("method", ctypes.c_char_p)]


_PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class RunOptions(ctypes.Structure):
    _fields_ = [("progress", _PROGRESS), ("context", ctypes.c_void_p)]


_handle, _out = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)
_text, _size, _sizes = ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)
_ints, _options = ctypes.POINTER(ctypes.c_int), ctypes.POINTER(PlanOptions)

# Result and arguments of each function that is used. Texts that the caller frees are pointers.
_FUNCTIONS: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "restride_last_error": (_text, ()),
    "restride_version_string": (_text, ()),
    "restride_engine_create_host": (ctypes.c_int, (_out, ctypes.c_int)),
    "restride_engine_destroy": (None, (_handle,)),
    "restride_plan_permute_with": (
        ctypes.c_int,
        (_out, _handle, ctypes.c_int, _sizes, _ints, _size, _options),
    ),
    "restride_plan_transpose_with": (ctypes.c_int, (_out, _handle, _size, _size, _size, _size, _options)),
    "restride_plan_convert_with": (ctypes.c_int, (_out, _handle, _handle, _handle, _size, _options)),
    "restride_plan_convert_copy": (ctypes.c_int, (_out, _handle, _handle, _handle, _size)),
    "restride_permute_with": (ctypes.c_int, (_handle, _handle, _size, ctypes.c_int, _sizes, _ints, _size)),
    "restride_group_create": (ctypes.c_int, (_out, _handle, _handle, ctypes.c_int, ctypes.c_int)),
    "restride_group_set_timeout": (None, (_handle, ctypes.c_double)),
    "restride_group_destroy": (None, (_handle,)),
    "restride_plan_redistribute": (ctypes.c_int, (_out, _handle, _handle, _text, _text, _text, _size, _options)),
    "restride_plan_local_bytes": (_size, (_handle,)),
    "restride_execute": (ctypes.c_int, (_handle, _handle)),
    "restride_execute_with": (ctypes.c_int, (_handle, _handle, ctypes.POINTER(RunOptions))),
    "restride_execute_copy": (ctypes.c_int, (_handle, _handle, _handle)),
    "restride_plan_scratch_bytes": (_size, (_handle,)),
    "restride_plan_describe": (ctypes.c_void_p, (_handle,)),
    "restride_plan_destroy": (None, (_handle,)),
    "restride_layout_parse": (ctypes.c_int, (_out, _text, _text)),
    "restride_layout_draw": (ctypes.c_int, (_handle, ctypes.c_int, _out)),
    "restride_layout_accessor": (ctypes.c_int, (_handle, ctypes.c_int, _text, _out)),
    "restride_layout_rank": (ctypes.c_int, (_handle,)),
    "restride_layout_extent": (_size, (_handle, ctypes.c_int)),
    "restride_layout_offset": (_size, (_handle, _sizes)),
    "restride_layout_size": (_size, (_handle,)),
    "restride_layout_bytes": (_size, (_handle,)),
    "restride_layout_destroy": (None, (_handle,)),
}
# What a library that was built without CUDA lacks.
_OPTIONAL: Dict[str, Tuple[Any, Tuple[Any, ...]]] = {
    "restride_engine_create_cuda": (ctypes.c_int, (_out, _handle)),
}


def _load() -> ctypes.CDLL:
    """The library beside this package, else the system's."""
    packaged = os.path.join(PACKAGED, "lib", _SONAME)
    path = packaged if os.path.exists(packaged) else _SONAME
    try:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, list(arguments)
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"{path} is missing or of another version ({error}); install the wheel, or let LD_LIBRARY_PATH name the "
            "folder of the library that belongs to this package."
        ) from None
    for name, (result, arguments) in _OPTIONAL.items():
        if hasattr(library, name):
            function = getattr(library, name)
            function.restype, function.argtypes = result, list(arguments)
    return library


library = _load()
_free = ctypes.CDLL(None).free
_free.restype, _free.argtypes = None, [ctypes.c_void_p]


def check(status: int) -> None:
    """Raises the library's sentence unless a call succeeded."""
    if status:
        raise Error(library.restride_last_error().decode("utf-8", "replace"), status)


def take_text(pointer: Optional[int]) -> str:
    """A text that the library has allocated for the caller."""
    if not pointer:
        raise Error(library.restride_last_error().decode("utf-8", "replace"), 4)
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        _free(pointer)


def shown(value: Any) -> str:
    """A value in a sentence about it: what Python writes, in one line and shortened; where that fails, its type."""
    try:
        written = " ".join(repr(value).split())
    except Exception:  # of the object's own, or a number of too many digits
        return f"this {type(value).__name__}"
    return written if len(written) <= 100 else written[:97] + "..."


def text(value: Any, what: str) -> bytes:
    """A text for the library. `what` begins the sentence about anything else."""
    if isinstance(value, str) and "\0" not in value:
        try:
            return str.encode(value)
        except UnicodeEncodeError:  # half of a surrogate pair
            pass
    raise Error(f"{what}, without zero bytes and in UTF-8, not {shown(value)}.")


def whole_number(value: Any, most: int, what: str) -> int:
    """A number from 0 to `most`. `what` begins the sentence about anything else."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
        raise Error(f"{what}, not {shown(value)}.")
    return number


MOST_NUMBERS = 1 << 20  # an iterator may have no end


def whole_numbers(values: Any, what: str) -> Tuple[int, ...]:
    """Numbers of 64 bits in the order in which they were given. `what` begins the sentence about anything else."""
    try:
        if isinstance(values, (Set, Mapping)):
            raise TypeError  # these have no order
        numbers = tuple(operator.index(value) for value in itertools.islice(values, MOST_NUMBERS))
    except TypeError:
        raise Error(f"{what}, not {shown(values)}.") from None
    if any(not -(1 << 63) <= number < 1 << 63 for number in numbers):
        raise Error(f"{what}, not {shown(values)}.")
    return numbers


def sizes(numbers: Tuple[int, ...]) -> "ctypes.Array[ctypes.c_size_t]":
    return (ctypes.c_size_t * max(len(numbers), 1))(*numbers)


# ---- objects of the library ----


def _destroy(destroy: Callable[[int], None], pointer: int, process: int) -> None:
    if os.getpid() == process:  # after a fork they are the parent's
        destroy(pointer)


class Handle:
    """An object of the library, destroyed with the last reference to it. `needs` are kept alive as long."""

    def __init__(self, pointer: Optional[int], destroy: Callable[[int], None], needs: Any = None) -> None:
        if pointer is None:
            raise Error("The library made nothing, and said no reason.")
        self.pointer = pointer
        self.process = os.getpid()
        self._needs = needs
        self._finalizer = weakref.finalize(self, _destroy, destroy, pointer, self.process)
        self._finalizer.atexit = False

    def free(self) -> None:
        """Destroys it now, where nobody else has it. Python would ignore a Ctrl-C while it does so by itself."""
        self._finalizer()

    def __reduce__(self) -> Any:
        raise Error("An object of the library stays in its process and has no copies; make another one.")


def make(destroy: Callable[[int], None], create: Callable[..., int], *arguments: Any, needs: Any = None) -> Handle:
    """What `create(&made, *arguments)` makes."""
    made = ctypes.c_void_p()
    check(create(ctypes.byref(made), *arguments))
    return Handle(made.value, destroy, needs)


_engines: Dict[int, Handle] = {}
_lock = threading.Lock()


def host_engine(threads: int) -> Handle:
    """The engine that works in host memory with up to `threads` threads; 0: as many as there are processors."""
    with _lock:
        engine = _engines.get(threads)
        if engine is None:
            engine = make(library.restride_engine_destroy, library.restride_engine_create_host, threads)
            _engines[threads] = engine
        return engine


_after_fork: "list[Callable[[], None]]" = []


def _forget() -> None:
    """In a child: the parent's locks and threads are not there."""
    global _lock
    _lock = threading.Lock()
    _engines.clear()
    for forget in _after_fork:
        forget()


def after_fork(forget: Callable[[], None]) -> None:
    _after_fork.append(forget)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


# ---- runs ----


class HoldInterrupt:
    """Ctrl-C waits until what is inside is done: memory that is half changed helps nobody.

    Holds it in the main thread and with Python's own handler only; other handlers run when the call returns.
    """

    def __init__(self) -> None:
        self.seen = False
        self._held = False

    def _note(self, number: int, frame: Any) -> None:
        self.seen = True

    def __enter__(self) -> "HoldInterrupt":
        self._held = (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        )
        if self._held:
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *ignored: Any) -> None:
        if self._held:
            signal.signal(signal.SIGINT, signal.default_int_handler)


# Bytes below which a run ends before anybody can press a key, and the library takes one thread and little memory.
SHORT = 1 << 20


class Ended(NamedTuple):
    """How a run that is done went on beside it: the caller is told when the result is there."""

    held: bool = False  # Ctrl-C was pressed
    failure: Optional[BaseException] = None  # of the function that was told the progress


def execute(plan: Handle, address: int, nbytes: int, progress: Any) -> Ended:
    """Runs a plan on memory. `progress`: what `progress_of()` takes."""
    if nbytes < SHORT and progress is False:
        check(library.restride_execute_with(plan.pointer, address, None))
        return Ended()
    with HoldInterrupt() as held, progress_of(progress, nbytes) as told:
        options = RunOptions(told.callback, None) if told.callback else None
        status = library.restride_execute_with(plan.pointer, address, ctypes.byref(options) if options else None)
        check(status)
    return Ended(held.seen, told.failure)


class progress_of:
    """Who is told how far a run is: True: a bar of tqdm's, where tqdm is installed; a function of bytes done and bytes
    in all; False: nobody."""

    def __init__(self, progress: Any, nbytes: int) -> None:
        self.callback: Any = None
        self.tell: Optional[Callable[[int, int], Any]] = None
        self.failure: Optional[BaseException] = None  # of `progress`, to be raised when the run is over
        self._bar: Any = None
        self._tell: Optional[Callable[[int, int], Any]] = None
        if progress is True:
            self._bar = _tqdm()
            self._tell = self._show if self._bar is not None else None
        elif callable(progress):
            self._tell = progress
        elif progress is not False:
            raise Error("progress is True, False or a function of two numbers: bytes done and bytes in all.")
        if self._tell is not None:
            self.tell = self._told
            self.callback = _PROGRESS(lambda context, done, total: self._told(done, total))

    def _show(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def _told(self, done: int, total: int) -> None:
        if self._tell is None or self.failure is not None:
            return
        try:
            self._tell(done, total)
        except BaseException as failure:  # it must not end the library's thread
            self.failure = failure

    def __enter__(self) -> "progress_of":
        return self

    def __exit__(self, *ignored: Any) -> None:
        if self._bar is not None:
            self._bar.close()


def _tqdm() -> Any:
    try:
        bar = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None
    return bar(unit="B", unit_scale=True, unit_divisor=1024, desc="restride", file=sys.stderr)
