"""From one array to another, in one pass: `out=`, and results out of place."""

from __future__ import annotations

import ctypes
from typing import Any, Optional, Tuple

from . import _library
from ._library import Ended, Error, Handle, library
from ._memory import Facts, Move, check_axes, order_of, plan_move, refusal
from ._operands import Operand, operand
from ._plan import (
    Options,
    changeable,
    check_order,
    deliver,
    element_layouts,
    engine_of,
    layout_pair,
    permute_operand,
)


def _plan(source: Operand, layouts: Tuple[Handle, Handle], unit: int, options: Options) -> Handle:
    with engine_of(source.queue, options.threads) as engine:
        pair = layouts[0].pointer, layouts[1].pointer
        create = library.restride_plan_convert_copy
        return _library.make(library.restride_plan_destroy, create, engine.pointer, *pair, unit, needs=engine)


def _run(handle: Handle, source: Operand, target: Operand, progress: Any) -> Ended:
    """Runs a plan that nobody else has, and frees it. Who watches is told the end."""
    address = ctypes.c_void_p(source.address), ctypes.c_void_p(target.address)
    with _library.HoldInterrupt() as held, _library.progress_of(progress, target.nbytes) as told:
        if source.queue is None:
            _library.check(library.restride_execute_copy(handle.pointer, *address))
        else:
            with source.queue.entered():
                _library.check(library.restride_execute_copy(handle.pointer, *address))
            if source.queue.wait:
                source.queue.synchronize()
        target.changed()
        handle.free()
        if told.tell is not None:
            told.tell(target.nbytes, target.nbytes)
    return Ended(held.seen, told.failure)


def _axes_texts(move: Move) -> Tuple[str, str, str]:
    names = [chr(ord("a") + axis) for axis in range(len(move.dims))]
    dims = " ".join(f"{name}:{n}" for name, n in zip(names, move.dims))
    return dims, " ".join(names), " ".join(names[axis] for axis in move.permutation)


def _copy_axes(source: Operand, target: Operand, move: Move, options: Options, progress: Any) -> Ended:
    if not source.nbytes:
        return Ended()
    texts = _axes_texts(move if move.dims else Move((1,), (0,), ()))
    return _run(_plan(source, layout_pair(*texts), source.facts.itemsize, options), source, target, progress)


def _readable(on: Operand) -> Facts:
    """What decides whether an array can be read: its memory may be read-only."""
    return on.facts._replace(readonly=False)


def _kind(array: Any) -> str:
    return str(getattr(array, "dtype", ""))


def _target(source: Operand, given: Any) -> Operand:
    """The array of `out=`, which must be like the source and may be changed."""
    target = operand(given)
    for on, rule, verb in ((source, refusal(_readable(source)), "read"), (target, refusal(target.facts), "written")):
        if rule is not None:
            raise Error(f"{on.facts.what[:1].upper()}{on.facts.what[1:]} cannot be {verb} in one pass: {rule.why}.", 5)
    if not target.settable:
        raise Error("Arrays of JAX do not change: leave out= away and use what is returned.", 5)
    places = [None if on.queue is None else on.queue.key for on in (source, target)]
    if places[0] != places[1]:
        raise Error("out is on another device or stream than the array.")
    if source.facts.itemsize != target.facts.itemsize or _kind(source.own) != _kind(target.own):
        raise Error(f"out has elements of {_kind(target.own)}, and the array of {_kind(source.own)}.")
    return target


def permute_into(array: Any, axes: Any, out: Any, options: Options, progress: Any) -> Any:
    """Writes the permuted array to `out`, in whatever order its axes lie."""
    source = operand(array)
    axes = check_axes(axes, len(source.facts.shape))
    target = _target(source, out)
    shape = tuple(source.facts.shape[axis] for axis in axes)
    if target.facts.shape != shape:
        raise Error(f"out has the shape {target.facts.shape}, and the result {shape}.")
    move = plan_move(source.facts.shape, source.order(), axes, target.order())
    ended = _copy_axes(source, target, move, options, progress)
    return deliver(out, ended, "The transposition")


def _blank(source: Operand) -> Optional[Operand]:
    """New memory for what is in a dense array; None where there is none without a copy."""
    target = source.blank() if refusal(_readable(source)) is None else None
    return target if target is not None and target.order() == source.order() else None


def permute_apart(array: Any, axes: Any, order: str, options: Options, progress: Any) -> Any:
    """The permuted array in new memory."""
    check_order(order)
    source = operand(array, copy=True)
    axes = check_axes(axes, len(source.facts.shape))
    target = _blank(source)
    if target is None:
        return permute_operand(changeable(array, True), axes, order, options, progress)
    move = plan_move(source.facts.shape, source.order(), axes, order_of(source.order(), order))
    result = target.result(tuple(source.facts.shape[axis] for axis in axes), move.result_order)
    return deliver(result, _copy_axes(source, target, move, options, progress), "The transposition")


def convert_into(
    source: Operand, texts: Tuple[str, str, str], unit: int, out: Any, options: Options, progress: Any
) -> Any:
    """Writes the converted array to `out`. `texts`: the dimensions and both layouts."""
    target = _target(source, out)
    pair, unit, _ = element_layouts(*texts, unit)
    for on, layout in zip((source, target), pair):
        known = int(library.restride_layout_bytes(layout.pointer))
        size = known or int(library.restride_layout_size(layout.pointer)) * unit
        if size != on.nbytes:
            raise Error(f"The layout takes {size} bytes, and {on.facts.what} has {on.nbytes}.")
    ended = _run(_plan(source, pair, unit, options), source, target, progress) if source.nbytes else Ended()
    return deliver(out, ended, "The conversion")


def convert_apart(
    source: Operand, layouts: Tuple[Handle, Handle], unit: int, options: Options, progress: Any
) -> Optional[Any]:
    """The converted array in new memory; None where there is none without a copy."""
    target = _blank(source)
    if target is None:
        return None
    ended = _run(_plan(source, layouts, unit, options), source, target, progress) if source.nbytes else Ended()
    return deliver(target.whole(), ended, "The conversion")
