"""Plans: made once for a shape and an order of memory, run on as many arrays as wanted."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
from typing import Any, Callable, Dict, Iterator, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _library
from ._device import Queue
from ._library import Ended, Error, Handle, Interrupted, PlanOptions, library
from ._memory import Facts, Move, check_axes, order_of, plan_move, refusal, refuse
from ._operands import NumpyOperand, Operand, operand


class Options(NamedTuple):
    threads: int = 0
    scratch_bytes: int = 0
    method: Optional[str] = None


def _planner_options(options: Options) -> Any:
    if not options.scratch_bytes and options.method is None:
        return None
    method = None if options.method is None else options.method.encode()
    return ctypes.byref(PlanOptions(options.scratch_bytes, 0, method))


def check_options(threads: int, scratch_bytes: int = 0, method: Optional[str] = None) -> Options:
    numbers = [
        _library.whole_number(value, most, f"{name} is a whole number from 0 (the library's choice) to {most}")
        for name, value, most in (("threads", threads, 256), ("scratch_bytes", scratch_bytes, (1 << 63) - 1))
    ]
    if method is not None:
        _library.text(method, "method is None or the name of a method as describe() writes it")
    return Options(numbers[0], numbers[1], method)


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise Error(f"{name} is True or False, not {_library.shown(value)}.")
    return bool(value)


def check_itemsize(itemsize: Any) -> int:
    return _library.whole_number(itemsize, (1 << 63) - 1, "itemsize is a whole number of bytes")


def check_order(order: Any) -> None:
    if not isinstance(order, str) or order not in ("C", "F", "K"):
        raise Error(f'order is "C", "F" or "K", not {_library.shown(order)}.')


@contextlib.contextmanager
def engine_of(queue: Optional[Queue], threads: int) -> Iterator[Handle]:
    if queue is None:
        yield _library.host_engine(threads)
    else:
        engine = queue.engine()
        with queue.entered():
            yield engine


def _within_bound(make: Callable[[Options], Handle], nbytes: int, options: Options) -> Handle:
    """A plan in host memory that takes at most 1 % of the array and 6 MiB, unless the caller has said what it may take.

    The library allows itself 4 MiB a thread, which is much on a machine with many. What it has measured (its wisdom) is
    for plans without a bound, so those come first.
    """
    plan = make(options)
    bound = nbytes // 100 + (6 << 20)
    if options.scratch_bytes or int(library.restride_plan_scratch_bytes(plan.pointer)) <= bound:
        return plan
    try:
        return make(options._replace(scratch_bytes=bound))
    except Error:  # nothing is that small
        return plan


def permutation(queue: Optional[Queue], move: Move, unit: int, options: Options) -> Handle:
    """The library's plan for a move of elements of `unit` bytes."""
    dims, axes = _library.sizes(move.dims), (ctypes.c_int * max(len(move.dims), 1))(*move.permutation)
    matrix = None if options.method is None else _matrix(move)

    def make(how: Options) -> Handle:
        with engine_of(queue, how.threads) as engine:
            told = _planner_options(how)
            if matrix is not None:
                create: Any = library.restride_plan_transpose_with
                arguments: Tuple[Any, ...] = (engine.pointer, matrix[0], matrix[1], unit, matrix[2], told)
            else:
                create = library.restride_plan_permute_with
                arguments = (engine.pointer, len(move.dims), dims, axes, unit, told)
            return _library.make(library.restride_plan_destroy, create, *arguments, needs=engine)

    nbytes = unit
    for n in move.dims:
        nbytes *= n
    return make(options) if queue is not None else _within_bound(make, nbytes, options)


def _matrix(move: Move) -> Tuple[int, int, int]:
    if move.permutation == (1, 0):
        return move.dims[0], move.dims[1], 1
    if move.permutation == (0, 2, 1):
        return move.dims[1], move.dims[2], move.dims[0]
    raise Error("A method is chosen for matrices and batches of matrices only; leave it out for other axes.", 5)


LAYOUT_TEXTS = "Dimensions and layouts are texts such as 'i:8 f:3' and 'i/4 f i%4'"


def layout_pair(dimensions: str, source: str, target: str) -> Tuple[Handle, Handle]:
    made = []
    for expression in (source, target):
        texts = [_library.text(value, LAYOUT_TEXTS) for value in (dimensions, expression)]
        made.append(_library.make(library.restride_layout_destroy, library.restride_layout_parse, *texts))
    return made[0], made[1]


def element_layouts(dimensions: str, source: str, target: str, itemsize: int) -> Tuple[Tuple[Handle, Handle], int, int]:
    """Both layouts, the bytes of an element where they do not say it (else 0), and the bytes of the larger one."""
    layouts = layout_pair(dimensions, source, target)
    known = [int(library.restride_layout_bytes(one.pointer)) for one in layouts]
    if any(known):
        return layouts, 0, max(known)
    largest = max(int(library.restride_layout_size(one.pointer)) for one in layouts)
    if largest * itemsize >= 1 << 64:
        raise Error(f"{dimensions} of elements of {itemsize} bytes are more than memory.", 3)
    return layouts, itemsize, largest * itemsize


def conversion(
    queue: Optional[Queue], layouts: Tuple[Handle, Handle], unit: int, nbytes: int, options: Options
) -> Handle:
    """The library's plan from one layout to another. `unit` is 0 where a record says the sizes."""

    def make(how: Options) -> Handle:
        with engine_of(queue, how.threads) as engine:
            pair = layouts[0].pointer, layouts[1].pointer
            arguments = (engine.pointer, *pair, unit, _planner_options(how))
            return _library.make(
                library.restride_plan_destroy, library.restride_plan_convert_with, *arguments, needs=engine
            )

    return make(options) if queue is not None else _within_bound(make, nbytes, options)


def run(handle: Handle, on: Operand, progress: Any) -> Ended:
    """Runs a plan on an array."""
    if on.queue is None:
        ended = _library.execute(handle, on.address, on.nbytes, progress)
    else:
        with on.queue.entered():
            ended = _library.execute(handle, on.address, on.nbytes, progress)
        if on.queue.wait:
            on.queue.synchronize()
    on.changed()
    return ended


def run_once(handle: Handle, on: Operand, progress: Any) -> Ended:
    """Runs a plan that nobody else has, and frees it."""
    with _library.HoldInterrupt() as held:
        ended = run(handle, on, progress)
        handle.free()
    return ended._replace(held=ended.held or held.seen)


def _run_short(move: Move, on: Operand, options: Options) -> None:
    """In one call of the library, whose engine keeps the plans: making one takes as long as such a run."""
    rank, unit = len(move.dims), on.facts.itemsize
    dims, axes = _library.sizes(move.dims), (ctypes.c_int * rank)(*move.permutation)
    engine = _library.host_engine(options.threads)
    _library.check(library.restride_permute_with(engine.pointer, on.address, on.nbytes, rank, dims, axes, unit))
    on.changed()


def changeable(array: Any, out_of_place: bool) -> Operand:
    """The array itself where its memory may be changed, or a copy where that is wanted; else why not."""
    out_of_place = flag("out_of_place", out_of_place)
    on = operand(array, copy=out_of_place)
    rule = refusal(on.facts)
    if out_of_place and (rule is None or rule.copy):
        return on.copy()
    if rule is not None:
        raise refuse(on.facts, rule)
    return on


def deliver(result: Any, ended: Ended, what: str) -> Any:
    """The result; or what happened beside the run, which holds the result."""
    if ended.failure is not None:
        ended.failure.result = result  # type: ignore[attr-defined]
        raise ended.failure
    if ended.held:
        raise Interrupted(f"{what} was interrupted and has been brought to its end: `.result` has it.", result)
    return result


def permute_operand(on: Operand, axes: Tuple[int, ...], order: str, options: Options, progress: Any) -> Any:
    """Permutes the axes of an array that may be changed."""
    check_order(order)
    move = plan_move(on.facts.shape, on.order(), axes, order_of(on.order(), order))
    result = on.result(tuple(on.facts.shape[axis] for axis in axes), move.result_order)
    ended = Ended()
    if on.nbytes and len(move.dims) > 1:
        if on.queue is None and on.nbytes < _library.SHORT and progress is False:
            _run_short(move, on, options)
        else:
            ended = run_once(permutation(on.queue, move, on.facts.itemsize, options), on, progress)
    return deliver(on.finished(result), ended, "The transposition")


class Plan:
    """A permutation of axes, planned once for arrays of one shape, element size and order of memory.

        with rs.Plan(a, (0, 2, 1)) as p:
            b = p(a)

    like: an array that the plan suits (it is not changed), or a shape, a tuple of numbers of elements.
    axes: as in `permute()`; None reverses all.
    dtype: of the elements, where `like` is a shape.
    order: of the result, as in `permute()`; a shape stands for an array in C order.
    threads: that work at most, 1 to 256; 0: one for each processor.
    scratch_bytes: scratch memory that may be used, in bytes; 0: 1 % of the array and 6 MiB.
    method: the name of a method as `describe()` writes it, for matrices and batches of them; None: chosen.

    A plan may run in several threads at once on different arrays, and in a child after a fork. Raises `restride.Error`
    where nothing can be planned, and when it is called with an array that it was not made for.

    >>> import numpy as np, restride as rs
    >>> with rs.Plan((2, 3), dtype="i4") as p:
    ...     p(np.arange(6, dtype="i4").reshape(2, 3)).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """

    def __init__(
        self,
        like: Any,
        axes: Optional[Sequence[int]] = None,
        *,
        dtype: Any = None,
        order: str = "K",
        threads: int = 0,
        scratch_bytes: int = 0,
        method: Optional[str] = None,
    ) -> None:
        on = _like(like, dtype)
        rule = refusal(on.facts._replace(readonly=False))
        if rule is not None:
            raise refuse(on.facts, rule)
        check_order(order)
        options = check_options(threads, scratch_bytes, method)
        self._facts: Optional[Facts] = on.facts
        self._queue = on.queue
        self._order = on.order()
        self._axes = check_axes(axes, len(on.facts.shape))
        self._move = move = plan_move(on.facts.shape, self._order, self._axes, order_of(self._order, order))
        self._nbytes = on.nbytes
        self._nothing = not on.nbytes or len(move.dims) < 2
        queue, unit = on.queue, on.facts.itemsize
        if self._nothing:  # the library plans arrays of at least one byte
            move, unit = Move((1,), (0,), ()), 1
        self._create: Callable[[], Handle] = lambda: permutation(queue, move, unit, options)
        self._handle: Optional[Handle] = self._create()

    @classmethod
    def convert(
        cls,
        dimensions: str,
        source: str,
        target: str,
        *,
        itemsize: int = 0,
        like: Any = None,
        threads: int = 0,
        scratch_bytes: int = 0,
    ) -> "Plan":
        """A plan for `convert()`: its texts, and the bytes of an element where no dimension is a record.

        like: an array on the CUDA device and stream that are meant; None: host memory.

        >>> import numpy as np, restride as rs
        >>> p = rs.Plan.convert("i:2 f:3", "i f", "f i", itemsize=4)
        >>> p(np.arange(6, dtype="i4")).tolist()
        [0, 3, 1, 4, 2, 5]
        """
        plan = cls.__new__(cls)
        options, itemsize = check_options(threads, scratch_bytes), check_itemsize(itemsize)
        layouts, itemsize, plan._nbytes = element_layouts(dimensions, source, target, itemsize)
        plan._facts, plan._order, plan._axes = None, (), ()
        plan._move = Move((), (), ())
        plan._queue = None if like is None else operand(like).queue
        queue = plan._queue
        nbytes = plan._nbytes
        plan._create = lambda: conversion(queue, layouts, itemsize, nbytes, options)
        plan._handle = plan._create()
        plan._nothing = plan._nbytes == 0
        return plan

    def _open(self) -> Handle:
        if self._handle is None:
            raise Error("This plan was closed; make another one.")
        if self._handle.process != os.getpid():  # the engine's threads and locks stayed with the parent
            self._handle = self._create()
        return self._handle

    def __call__(self, array: Any, *, progress: Any = False) -> Any:
        """The permuted array, in the memory of `array`, not to be used any more; of `Plan.convert()`, `array`."""
        on = changeable(array, False)
        self._check(on)
        if self._facts is None:
            result, what = on.whole(), "The conversion"
        else:
            shape = tuple(on.facts.shape[axis] for axis in self._axes)
            result, what = on.result(shape, self._move.result_order), "The transposition"
        ended = Ended() if self._nothing else run(self._open(), on, progress)
        return deliver(on.finished(result), ended, what)

    def _check(self, on: Operand) -> None:
        self._open()
        facts = self._facts
        place = None if self._queue is None else self._queue.key
        if place != (None if on.queue is None else on.queue.key):
            raise Error("This array is on another device or stream than the plan was made for.")
        if facts is None:
            if on.nbytes != self._nbytes:
                raise Error(f"The plan is for {self._nbytes} bytes, and {on.facts.what} has {on.nbytes}.")
            return
        if (facts.shape, facts.itemsize) != (on.facts.shape, on.facts.itemsize) or self._order != on.order():
            raise Error(
                f"The plan is for arrays of shape {facts.shape}, {facts.itemsize} bytes an element, memory order "
                f"{self._order}; this one has {on.facts.shape}, {on.facts.itemsize}, {on.order()}."
            )

    @property
    def scratch_bytes(self) -> int:
        """Memory besides the array, in bytes: while the plan runs, and the tables that it keeps."""
        return int(library.restride_plan_scratch_bytes(self._open().pointer))

    def describe(self) -> Dict[str, Any]:
        """Engine, stages, sizes and bytes moved."""
        described = json.loads(_library.take_text(library.restride_plan_describe(self._open().pointer)))
        return {**described, "bytes": self._nbytes} if self._nothing else dict(described)

    def explain(self) -> str:
        """The plan for people: method, why it was chosen, scratch memory, and one line a stage."""
        plan = self.describe()
        lines = [f"{plan['from']} becomes {plan['to']}, {plan['bytes']} bytes in place."]
        lines += [f"{key}: {plan[key]}" for key in ("method", "why") if plan.get(key)]
        lines += [f"scratch: {plan['scratch_bytes']} bytes", f"stages: {len(plan['stages'])}"]
        for number, stage in enumerate(plan["stages"], 1):
            known = ", ".join(f"{key} {stage[key]}" for key in stage if key not in ("name", "method") and stage[key])
            lines.append(f"  {number}. {stage.get('name')} ({stage.get('method')}): {known}")
        return "\n".join(lines)

    def close(self) -> None:
        """Frees the plan's tables. It cannot run any more."""
        self._handle = None

    def __reduce__(self) -> Any:
        raise Error("A plan stays in its process; make another one there.")

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, *ignored: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle is None:
            return "<restride.Plan, closed>"
        plan = self.describe()
        return f"<restride.Plan {plan['from']} -> {plan['to']}, {plan['bytes']} bytes, {len(plan['stages'])} stages>"


def _like(like: Any, dtype: Any) -> Operand:
    if isinstance(like, (int, np.integer, tuple, list)):
        if dtype is None:
            raise Error("A plan for a shape needs the dtype of the elements.")
        try:
            kind = np.dtype(dtype)
            shape = _library.whole_numbers(like if isinstance(like, (tuple, list)) else (like,), "A shape is numbers")
            # Not the memory, which may be more than there is.
            sample = np.lib.stride_tricks.as_strided(np.zeros((1,) * len(shape), kind), shape, (0,) * len(shape))
        except (TypeError, ValueError, OverflowError) as error:
            raise Error(f"{_library.shown(like)} of {_library.shown(dtype)} is no shape and dtype: {str(error).rstrip('.')}.") from None
        on = NumpyOperand(sample)
        strides, step = [0] * len(shape), kind.itemsize
        for axis in reversed(range(len(shape))):
            strides[axis], step = step, step * max(shape[axis], 1)
        on.facts = on.facts._replace(strides=tuple(strides), readonly=False)
        return on
    if dtype is not None:
        raise Error("dtype is given with a shape only; an array has its own.")
    return operand(like)
