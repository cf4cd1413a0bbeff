"""What may be changed in place: one table of rules, and how an array that passes lies in its memory."""

from __future__ import annotations

from typing import Callable, List, NamedTuple, Optional, Sequence, Tuple

from ._library import Error, shown, whole_numbers


class Facts(NamedTuple):
    """What decides about an array of any library. `strides` are in bytes; None: C order."""

    what: str  # for sentences: "the array", "the tensor"
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    itemsize: int
    readonly: bool = False
    closed: bool = False  # its mapping of a file or of memory was closed
    objects: bool = False
    masked: bool = False
    lazy: str = ""  # why memory does not hold the values: "conjugated lazily"
    unaligned: bool = False  # device memory that does not begin where the CUDA engine needs it


Steps = List[Tuple[int, int]]


def _steps(facts: Facts) -> Steps:
    """Stride and length of each axis on which memory is walked, the shortest stride first."""
    if 0 in facts.shape or facts.itemsize == 0:
        return []
    return sorted((step, n) for step, n in zip(facts.strides, facts.shape) if n > 1)


def _misfit(facts: Facts, steps: Steps) -> int:
    """0: every byte from the first to the last belongs to one element. < 0: some to two. > 0: some to none."""
    expected = facts.itemsize
    for step, n in steps:
        if step != expected:
            return step - expected
        expected = step * n
    return 0


class Rule(NamedTuple):
    """A property that an array must not have. `copy`: another array could be made of it, out of place."""

    name: str
    applies: Callable[[Facts, Steps], bool]
    why: str
    copy: bool


# The first rule that applies is the reason that is given. docs/python.md has this table for readers.
RULES: Tuple[Rule, ...] = (
    Rule("closed", lambda f, s: f.closed, "the mmap that had its memory was closed", False),
    Rule(
        "object",
        lambda f, s: f.objects,
        "its elements are references to Python objects, for Python alone to move",
        False,
    ),
    Rule("masked", lambda f, s: f.masked, "its mask would not move with it; pass .data and .mask", False),
    Rule("lazy", lambda f, s: bool(f.lazy), "its values are not what its memory holds", False),
    Rule("read-only", lambda f, s: f.readonly, "its memory is read-only", True),
    Rule(
        "broadcast",
        lambda f, s: 0 in [step for step, _ in s],
        "it is broadcast: several of its elements are one place in memory",
        True,
    ),
    Rule(
        "negative",
        lambda f, s: bool(s) and s[0][0] < 0,
        "it has negative strides, so its first element is not where its memory begins",
        True,
    ),
    Rule(
        "unaligned",
        lambda f, s: f.unaligned and f.itemsize > 0 and 0 not in f.shape,
        "device memory must begin at a multiple of 16 bytes",
        True,
    ),
    Rule("overlapping", lambda f, s: _misfit(f, s) < 0, "its elements overlap in memory", True),
    Rule(
        "gapped",
        lambda f, s: _misfit(f, s) > 0,
        "it has gaps: memory between its elements belongs to another array",
        True,
    ),
)


def refusal(facts: Facts) -> Optional[Rule]:
    """The rule that forbids to change an array in place; None: it may be done."""
    steps = _steps(facts)
    return next((rule for rule in RULES if rule.applies(facts, steps)), None)


def refuse(facts: Facts, rule: Rule) -> Error:
    why = f"{rule.why} ({facts.lazy})" if facts.lazy and rule.name == "lazy" else rule.why
    remedy = "; out_of_place=True works on a copy" if rule.copy else ""
    return Error(f"{facts.what[:1].upper()}{facts.what[1:]} cannot be changed in place: {why}{remedy}.", 5)


def memory_order(facts: Facts) -> Tuple[int, ...]:
    """The axes of a dense array from the slowest to the fastest; axes of length 1 do not matter and come first.

    Where several orders are right, C order is preferred, then Fortran order.
    """
    rank = len(facts.shape)
    ascending = tuple(range(rank))
    for order in (ascending, ascending[::-1]):
        if _is_order(facts, order):
            return order
    short = [axis for axis in ascending if facts.shape[axis] == 1]
    long = [axis for axis in ascending if facts.shape[axis] != 1]
    return tuple(short + sorted(long, key=lambda axis: -facts.strides[axis]))


def _is_order(facts: Facts, order: Sequence[int]) -> bool:
    if 0 in facts.shape or facts.itemsize == 0:
        return True
    expected = facts.itemsize
    for axis in reversed(order):
        if facts.shape[axis] != 1:
            if facts.strides[axis] != expected:
                return False
            expected *= facts.shape[axis]
    return True


class Move(NamedTuple):
    """A permutation of the axes of memory, as the planner takes it: axes of length 1 left out, those that stay together
    joined. `result_order` are the result's axes from the slowest to the fastest."""

    dims: Tuple[int, ...]
    permutation: Tuple[int, ...]
    result_order: Tuple[int, ...]


def order_of(order: Tuple[int, ...], target: str) -> Tuple[int, ...]:
    """The axes of a result from the slowest to the fastest: "C", "F", or "K": axis k is as slow or fast as axis k is now."""
    ascending = tuple(range(len(order)))
    return {"C": ascending, "F": ascending[::-1], "K": order}[target]


def plan_move(
    shape: Tuple[int, ...], order: Tuple[int, ...], axes: Tuple[int, ...], result_order: Tuple[int, ...]
) -> Move:
    """How memory in `order` becomes that of the array whose axis k is axis axes[k]."""
    now = [axis for axis in order if shape[axis] != 1]
    then = [axes[k] for k in result_order if shape[axes[k]] != 1]
    groups: List[List[int]] = []  # axes that are neighbours now and then
    for axis in then:
        if groups and now.index(groups[-1][-1]) + 1 == now.index(axis):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    by_now = sorted(groups, key=lambda group: now.index(group[0]))
    dims = []
    for group in by_now:
        length = 1
        for axis in group:
            length *= shape[axis]
        dims.append(length)
    return Move(tuple(dims), tuple(by_now.index(group) for group in groups), result_order)


def check_axes(axes: Optional[Sequence[int]], rank: int) -> Tuple[int, ...]:
    """Axes as NumPy takes them: negative ones count from the end, None reverses all."""
    if axes is None:
        return tuple(range(rank))[::-1]
    numbers = whole_numbers(axes, f"axes are {rank} whole numbers")
    if sorted(axis + rank if axis < 0 else axis for axis in numbers) != list(range(rank)):
        raise Error(f"axes name each of the {rank} axes once, from 0 on or from -1 down, not {shown(numbers)}.")
    return tuple(axis % rank for axis in numbers) if rank else ()


def dense_strides(shape: Sequence[int], order: Sequence[int], unit: int) -> Tuple[int, ...]:
    """Strides of a dense array whose axes lie in `order`, from the slowest to the fastest, in units of `unit`."""
    strides = [unit] * len(shape)
    step = unit
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)
