"""Arrays permuted and converted in their own memory."""

from __future__ import annotations

from typing import Any, Optional, Sequence, TypeVar, cast

import numpy as np

from ._copies import convert_apart, convert_into, permute_apart, permute_into
from ._library import Ended, Error
from ._memory import check_axes
from ._operands import operand
from ._plan import (
    changeable,
    check_itemsize,
    check_options,
    conversion,
    deliver,
    element_layouts,
    flag,
    permute_operand,
    run_once,
)
from ._records import split

_Array = TypeVar("_Array")


def transpose(
    a: _Array, *, out: Any = None, out_of_place: bool = False, threads: int = 0, progress: Any = False
) -> _Array:
    """The transpose of an array, in the array's own memory.

    a: an array of any rank and of elements of any fixed size, dense in any order of its axes: NumPy's, `memoryview`,
        `mmap`, anything with the buffer protocol, `__array_interface__`, `__cuda_array_interface__` or DLPack; tensors
        of PyTorch and arrays of CuPy and JAX in host or CUDA memory. It is not to be used any more.
    out: an array of the same kind of elements that takes the result, in one pass, and is returned; dense in any order
        of its axes, apart from `a` in memory and on its device. `a`, which must be dense, stays as it is.
    out_of_place: the result is a new array; `a` stays as it is and may be read-only or have any strides.
    threads: that work at most, 1 to 256; 0: one for each processor. A CUDA array is worked on by its device.
    progress: True shows a bar where tqdm is installed; a function is called with bytes done and bytes in all. What it
        raises is raised when the memory is whole, with what this would have returned as `.result`.

    Returns an array of the same kind whose shape is `a.shape[::-1]`, in C order where `a` was, else with its axes as
    slow and fast as those of `a` at the same places. Takes at most 1 % of the array and 8 MiB besides.

    Raises `restride.Error`, with the array unchanged, where that cannot be done in place: docs/python.md lists why.

    >>> import numpy as np, restride as rs
    >>> a = np.array([[1, 2, 3], [4, 5, 6]], dtype="f4")
    >>> b = rs.transpose(a)
    >>> b.tolist(), b.flags.c_contiguous, np.shares_memory(a, b)
    ([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], True, True)
    """
    return permute(a, None, out=out, out_of_place=out_of_place, threads=threads, progress=progress)


def permute(
    a: _Array,
    axes: Optional[Sequence[int]],
    *,
    order: str = "K",
    out: Any = None,
    out_of_place: bool = False,
    threads: int = 0,
    progress: Any = False,
) -> _Array:
    """The array whose axis k is axis `axes[k]` of `a`, as `numpy.transpose(a, axes)`, in the memory of `a`.

    axes: each axis once; negative ones count from the end; None reverses all. Axes that stay in front are a batch.
    order: of the result in memory: "C", "F", or "K", which keeps C order and Fortran order as they were. `out` has its own.
    The rest is as in `transpose()`.

    >>> import numpy as np, restride as rs
    >>> a = np.arange(24).reshape(2, 3, 4)
    >>> rs.permute(a, (0, 2, 1)).shape
    (2, 4, 3)
    """
    options = check_options(threads)
    permuted: _Array
    if _has_out(out, out_of_place):
        permuted = permute_into(a, axes, out, options, progress)
    elif out_of_place:
        permuted = permute_apart(a, axes, order, options, progress)
    else:
        on = changeable(a, False)
        permuted = permute_operand(on, check_axes(axes, len(on.facts.shape)), order, options, progress)
    return permuted


def _has_out(out: Any, out_of_place: bool) -> bool:
    if flag("out_of_place", out_of_place) and out is not None:
        raise Error("out is memory for the result, and out_of_place=True makes its own; give one of them.")
    return out is not None


def ascontiguousarray(a: _Array, *, out_of_place: bool = False, threads: int = 0, progress: Any = False) -> _Array:
    """The same array in C order, in the memory of `a`, which is not to be used any more.

    As `numpy.ascontiguousarray()` without a second array; the rest is as in `transpose()`.

    >>> import numpy as np, restride as rs
    >>> f = np.asfortranarray([[1, 2, 3], [4, 5, 6]])
    >>> c = rs.ascontiguousarray(f)
    >>> c.tolist(), c.flags.c_contiguous
    ([[1, 2, 3], [4, 5, 6]], True)
    """
    return _reorder(a, "C", out_of_place, threads, progress)


def asfortranarray(a: _Array, *, out_of_place: bool = False, threads: int = 0, progress: Any = False) -> _Array:
    """The same array in Fortran order, in the memory of `a`, which is not to be used any more.

    The rest is as in `transpose()`.

    >>> import numpy as np, restride as rs
    >>> rs.asfortranarray(np.zeros((2, 3))).flags.f_contiguous
    True
    """
    return _reorder(a, "F", out_of_place, threads, progress)


def _reorder(a: _Array, order: str, out_of_place: bool, threads: int, progress: Any) -> _Array:
    options = check_options(threads)
    on = changeable(a, out_of_place)
    reordered: _Array = permute_operand(on, tuple(range(len(on.facts.shape))), order, options, progress)
    return reordered


def convert(
    a: _Array,
    dimensions: Optional[str],
    source: str,
    target: str,
    *,
    itemsize: Optional[int] = None,
    out: Any = None,
    out_of_place: bool = False,
    threads: int = 0,
    progress: Any = False,
) -> _Array:
    """Moves the elements of an array from one layout to another, in place (docs/layouts.md has the notation).

    a: dense memory of exactly the layouts' size (of the larger one, where one is padded); as in `transpose()`.
    dimensions: the array's dimensions, slowest first: "i:1003 f{float x; double m;}"; None: those of a structured NumPy
        array, "i" for its records in the order of memory and "f" for its fields, packed ones too.
    source, target: layouts of these dimensions, now and then: "i f", "i/32 f i%32".
    itemsize: bytes of an element where `dimensions` do not say it; None: the item size of `a`.
    out: as in `transpose()`, of the size of layout `target`; `a` has that of `source`.
    out_of_place, threads, progress: as in `transpose()`.

    Returns `a` itself (`out`, or the new array out of place; of JAX the array that has its memory now), whose dtype and shape still
    describe it as it was.
    Raises `restride.Error`: a layout cannot be read (the sentence names the character), the size differs, or `a` may
    not be changed in place.

    >>> import numpy as np, restride as rs
    >>> rs.convert(np.arange(10, dtype="u1"), "i:5 f:2", "i f", "i/2 f i%2").tolist()
    [0, 2, 1, 3, 4, 6, 5, 7, 8, 9]
    """
    options = check_options(threads)
    apart = _has_out(out, out_of_place) or out_of_place
    on = operand(a, copy=out_of_place) if apart else changeable(a, False)
    if dimensions is None:
        dtype = getattr(a, "dtype", None)
        if not isinstance(dtype, np.dtype) or dtype.names is None:
            raise Error("Without dimensions the array must be a structured array of NumPy.")
        if on.nbytes == 0:
            return a
        dimensions = split(dtype).dimensions(on.nbytes // dtype.itemsize)
    unit = on.facts.itemsize if itemsize is None else check_itemsize(itemsize)
    converted: Any = None
    if out is not None:
        return cast(_Array, convert_into(on, (dimensions, source, target), unit, out, options, progress))
    layouts, unit, needed = element_layouts(dimensions, source, target, unit)
    if needed != on.nbytes:
        raise Error(f"The layouts take {needed} bytes, and {on.facts.what} has {on.nbytes}.")
    if out_of_place:
        converted = convert_apart(on, layouts, unit, options, progress)
    if converted is None:
        on = changeable(a, out_of_place)
        result = on.whole()
        ended = run_once(conversion(on.queue, layouts, unit, needed, options), on, progress) if needed else Ended()
        converted = deliver(on.finished(result), ended, "The conversion")
    return cast(_Array, converted)
