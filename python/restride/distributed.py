"""Arrays that are spread over processes change their layout and who holds what, each process in its own memory.

    from mpi4py import MPI
    rs.distributed.redistribute(a, MPI.COMM_WORLD, "r:4000 c:3000", "@r/1000 r%1000 c", "@c/750 c%750 r")

The messages go through mpi4py, so any MPI that it has serves. Every process of the communicator makes the same calls. The
notation is that of `restride/distributed.h`. Parts are NumPy arrays, or CUDA arrays of CuPy, PyTorch and others: these are
exchanged through memory of the host, or, on one host, directly between devices.
"""

from __future__ import annotations

import ctypes
import json
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._library import Error, Handle, PlanOptions, check, host_engine, library, make, shown, take_text, text, whole_number
from ._memory import refusal, refuse
from ._operands import NumpyOperand, Operand, operand

__all__ = ["Redistribution", "redistribute"]

_pointer, _size = ctypes.c_void_p, ctypes.c_size_t
_BEGIN = ctypes.CFUNCTYPE(
    ctypes.c_int, _pointer, _pointer, _size, ctypes.c_int, _pointer, _size, ctypes.c_int, ctypes.POINTER(_pointer)
)
_FINISH = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, ctypes.c_double)
_GATHER = ctypes.CFUNCTYPE(ctypes.c_int, _pointer, _pointer, _size, _pointer, ctypes.c_double)
_DESTROY = ctypes.CFUNCTYPE(None, _pointer)


class _Functions(ctypes.Structure):
    _fields_ = [("begin", _BEGIN), ("finish", _FINISH), ("gather", _GATHER), ("destroy", _DESTROY), ("memory", ctypes.c_int)]


class _Connection:
    """The functions of a group over a communicator of mpi4py's. A failure in Python is one of the group."""

    def __init__(self, communicator: Any) -> None:
        from mpi4py import MPI  # only who has one of its communicators comes here

        if not isinstance(communicator, MPI.Comm) or communicator == MPI.COMM_NULL:
            raise Error(f"The communicator is one of mpi4py, such as MPI.COMM_WORLD, not {shown(communicator)}.")
        self._mpi = MPI
        self._own = communicator.Dup()
        self._own.Set_errhandler(MPI.ERRORS_RETURN)
        self._requests: Dict[int, List[Any]] = {}
        self._next = 1
        self.failed = False
        self.failure: Optional[BaseException] = None
        self.functions = _Functions(
            _BEGIN(lambda *a: self._guard(self._begin, *a)),
            _FINISH(lambda *a: self._guard(self._finish, *a)),
            _GATHER(lambda *a: self._guard(self._gather, *a)),
            _DESTROY(0),
            0,  # of the host
        )

    def _guard(self, function: Callable[..., bool], *arguments: Any) -> int:
        try:
            done = function(*arguments[1:])
        except BaseException as failure:
            self.failure, done = failure, False
        self.failed = self.failed or not done
        return 0 if done else 1

    def _message(self, address: int, nbytes: int) -> List[Any]:
        return [(ctypes.c_char * nbytes).from_address(address), nbytes, self._mpi.BYTE]

    def _begin(
        self, send: int, send_bytes: int, to: int, receive: int, receive_bytes: int, source: int, operation: Any
    ) -> bool:
        requests = []
        if receive_bytes:
            requests.append(self._own.Irecv(self._message(receive, receive_bytes), source))
        if send_bytes:
            requests.append(self._own.Isend(self._message(send, send_bytes), to))
        self._requests[self._next] = requests
        operation[0] = self._next
        self._next += 1
        return True

    def _wait(self, requests: List[Any], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self._mpi.Request.Testall(requests):
            if time.monotonic() > until:
                return False
        return True

    def _finish(self, operation: int, seconds: float) -> bool:
        done = self._wait(self._requests[operation], seconds)
        if done:
            del self._requests[operation]
        return done

    def _gather(self, mine: int, nbytes: int, everything: int, seconds: float) -> bool:
        whole = self._message(everything, nbytes * self._own.Get_size())
        whole[1] = nbytes
        return self._wait([self._own.Iallgather(self._message(mine, nbytes), whole)], seconds)

    def group(self) -> Handle:
        return make(
            library.restride_group_destroy,
            library.restride_group_create,
            ctypes.byref(self.functions),
            None,
            self._own.Get_rank(),
            self._own.Get_size(),
            needs=self,
        )

    def close(self) -> None:
        if not self.failed:  # else it would wait for processes that may be gone
            self._own.Free()


def _dtype(dtype: Any) -> "np.dtype[Any]":
    try:
        made: "np.dtype[Any]" = np.dtype(dtype)
        if made.itemsize and not made.hasobject:
            return made
    except (TypeError, ValueError):
        pass
    raise Error(f"dtype is one of elements of fixed size, not {shown(dtype)}.")


def _seconds(timeout: Any) -> float:
    try:
        if float(timeout) > 0:
            return float(timeout)
    except (TypeError, ValueError, OverflowError):
        pass
    raise Error(f"timeout is a number of seconds above 0, not {shown(timeout)}.")


class _Room(np.ndarray):  # type: ignore[type-arg]
    """Memory for the larger of the two parts of a process."""


class Redistribution:
    """A way from one layout of an array over processes to another, worked out once and run as often as wanted.

    communicator: of mpi4py. dimensions: "r:4000 c:3000", with a type behind them or a record.
    source, target: layouts with terms behind "@". dtype: of the elements; parts of records are arrays of bytes.
    threads: of this process; 0: one for each processor. scratch_bytes: for stages and messages; 0: at most 64 MiB.
    timeout: seconds for which another process is waited for.
    like: a CUDA array, where parts will be ones on its device and on its library's current stream; `dtype` is of no use then.

    Making, running and closing it are collective. `local_bytes` is the memory that this process needs, `empty()` an array
    with so much.
    """

    def __init__(
        self,
        communicator: Any,
        dimensions: str,
        source: str,
        target: str,
        dtype: Any = float,
        *,
        threads: int = 1,
        scratch_bytes: int = 0,
        timeout: float = 300.0,
        like: Any = None,
    ) -> None:
        record = isinstance(dimensions, str) and "{" in dimensions
        given = None if like is None else operand(like)
        self._queue = None if given is None else given.queue
        if given is not None and given.queue is not None:
            dtype = np.dtype((np.void, given.facts.itemsize))
        self.dtype = np.dtype(np.uint8) if record else _dtype(dtype)
        seconds = _seconds(timeout)
        options = PlanOptions(scratch_bytes=whole_number(scratch_bytes, 2**63, "scratch_bytes is a number of bytes"))
        texts = [text(value, "Dimensions and layouts are texts") for value in (dimensions, source, target)]
        count = whole_number(threads, 256, "threads is a number up to 256")
        engine = host_engine(count) if self._queue is None else self._queue.engine()
        self._record = record
        self._connection = _Connection(communicator)
        self._group: Optional[Handle] = self._connection.group()
        self._plan: Optional[Handle] = None
        library.restride_group_set_timeout(self._group.pointer, seconds)
        made = _pointer()
        status = library.restride_plan_redistribute(
            ctypes.byref(made),
            self._group.pointer,
            engine.pointer,
            *texts,
            0 if record else self.dtype.itemsize,
            ctypes.byref(options),
        )
        try:
            self._check(status)
        except BaseException:
            self.close()
            raise
        self._plan = Handle(made.value, library.restride_plan_destroy, (self._group, engine))
        self.local_bytes = int(library.restride_plan_local_bytes(self._plan.pointer))
        facts = self.describe()
        self._shapes = [self._shape(facts, side) for side in ("before", "after")]

    def _pointer(self) -> int:
        if self._plan is None:
            raise Error("This redistribution was closed.")
        return self._plan.pointer

    def _check(self, status: int) -> None:
        failure, self._connection.failure = self._connection.failure, None
        if status and failure is not None and not isinstance(failure, Exception):
            raise failure  # Ctrl-C
        check(status)

    def _shape(self, facts: Dict[str, Any], side: str) -> Tuple[int, ...]:
        shape = facts["shape_" + side]
        return (facts["bytes_" + side] // self.dtype.itemsize,) if shape is None else tuple(shape)

    def describe(self) -> Dict[str, Any]:
        """What is sent, and the stages on this process."""
        facts: Dict[str, Any] = json.loads(take_text(library.restride_plan_describe(self._pointer())))
        return facts

    def empty(self) -> Any:
        """A NumPy array for the part before, in memory that has room for the part afterwards."""
        if self._queue is not None:
            raise Error(f"Parts are on a device; take an array of {self.local_bytes} bytes there.")
        room = np.ndarray.__new__(_Room, (self.local_bytes,), np.uint8)
        return np.ndarray(self._shapes[0], self.dtype, room)

    def __call__(self, array: Any) -> Any:
        """Runs it on this process's part, in its memory, and returns the part afterwards. `array` is of no use then."""
        if self._queue is not None:
            return self._run_on_device(array)
        memory, refused = self._memory(array)
        address = memory.__array_interface__["data"][0] if not refused and memory.nbytes else None
        status = library.restride_execute(self._pointer(), address)
        if refused:
            raise Error(refused)
        self._check(status)
        return np.ndarray(self._shapes[1], self.dtype, memory)

    def _memory(self, array: Any) -> Tuple[Any, str]:
        """What the part lies in, and why it cannot be: the others must hear of that, too."""
        if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
            return array, "The part is a NumPy array in C order, without gaps."
        facts = NumpyOperand(array, "the part").facts
        rule = refusal(facts)
        if rule is not None:
            return array, str(refuse(facts, rule._replace(copy=False)))
        if not self._record and facts.itemsize != self.dtype.itemsize:
            return array, f"The elements of the part have {facts.itemsize} bytes, not {self.dtype.itemsize}."
        memory = array.base if isinstance(array.base, _Room) else array
        if memory.nbytes < self.local_bytes or array.__array_interface__["data"] != memory.__array_interface__["data"]:
            sentence = (
                f"The memory of the part has {memory.nbytes} bytes, and {self.local_bytes} are needed; take an array "
                "of Redistribution.empty()."
            )
            return array, sentence
        return memory, ""

    def _refused_on_device(self, part: Operand) -> str:
        """Why this part cannot be; "" where it can."""
        facts, unit = part.facts, self.dtype.itemsize
        rule = refusal(facts)
        if rule is not None:
            return str(refuse(facts, rule._replace(copy=False)))
        if part.queue is None or self._queue is None or part.queue.key != self._queue.key:
            return "The part is not on the device and the stream that the redistribution was made for."
        if part.order() != tuple(range(len(facts.shape))) or facts.itemsize != unit:
            return f"The part is an array in C order, without gaps, of elements of {unit} bytes."
        if part.nbytes < self.local_bytes:
            return f"The part has {part.nbytes} bytes, and {self.local_bytes} are needed; take a larger array."
        return ""

    def _run_on_device(self, array: Any) -> Any:
        part, refused, result = None, "", None
        try:  # the others must hear of what is wrong here
            part = operand(array)
            refused = self._refused_on_device(part)
            result = None if refused else part.result(self._shapes[1], tuple(range(len(self._shapes[1]))))
        except Error as error:
            refused = str(error)
        address = part.address if part is not None and not refused and part.nbytes else None
        status = library.restride_execute(self._pointer(), address)
        if refused or part is None or part.queue is None:
            raise Error(refused)
        self._check(status)
        part.changed()
        if part.queue.wait:
            part.queue.synchronize()
        return part.finished(result)

    def __reduce__(self) -> Any:
        raise Error("A redistribution stays in its process; make another one there.")

    def close(self) -> None:
        """Frees the plan and the communicator's duplicate; collective."""
        if self._group is not None:
            self._plan = self._group = None
            self._connection.close()


def redistribute(
    array: Any, communicator: Any, dimensions: str, source: str, target: str, *, scratch_bytes: int = 0, **options: Any
) -> Any:
    """Changes the layout of an array over processes, and returns this process's part of it, in the memory of `array`.

    Where parts grow, `array` comes from `Redistribution.empty()`, which has room. The arguments are those of
    `Redistribution`. Collective.
    """
    numpy = isinstance(array, np.ndarray) or not hasattr(array, "dtype") and not hasattr(array, "__cuda_array_interface__")
    dtype = getattr(array, "dtype", float) if numpy else float
    like = None if numpy else array
    way = Redistribution(communicator, dimensions, source, target, dtype, scratch_bytes=scratch_bytes, like=like, **options)
    try:
        return way(array)
    finally:
        way.close()
