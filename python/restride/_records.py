"""Structured arrays as one contiguous array a field, in their own memory, and back."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, MutableMapping, NamedTuple, Optional, Tuple

import numpy as np

from ._library import Ended, Error, shown
from ._operands import NumpyOperand
from ._plan import Options, changeable, check_options, conversion, deliver, layout_pair, run_once

_MOST_PARTS = 4096  # members of a record, as the library takes it


class Part(NamedTuple):
    """Bytes of a record that move as a whole: a field, fields that overlap, or padding."""

    offset: int
    size: int
    names: Tuple[str, ...]


class Parts(NamedTuple):
    parts: Tuple[Part, ...]

    def dimensions(self, count: int) -> str:
        """`count` such records, as docs/layouts.md writes them: every part is an array of bytes."""
        members = " ".join(f"uchar[{part.size}] p{number};" for number, part in enumerate(self.parts))
        return f"i:{count} f packed{{ {members} }}"


def _fields(dtype: "np.dtype[Any]") -> Mapping[str, Any]:
    """Type, offset and perhaps title of each name and title."""
    fields: Any = dtype.fields
    return dict(fields or {})


def split(dtype: "np.dtype[Any]") -> Parts:
    """The parts of a structured dtype, in the order of their bytes; together they are all of them."""
    fields: List[Tuple[int, int, str]] = []
    for name in dtype.names or ():
        kind, offset = _fields(dtype)[name][:2]
        if kind.itemsize:
            fields.append((int(offset), int(offset) + kind.itemsize, name))
    parts: List[Part] = []
    end = 0
    for begin, stop, name in sorted(fields):
        if begin < end:  # shares bytes with the one before
            last = parts.pop()
            end = max(end, stop)
            parts.append(Part(last.offset, end - last.offset, last.names + (name,)))
            continue
        if begin > end:
            parts.append(Part(end, begin - end, ()))
        parts.append(Part(begin, stop - begin, (name,)))
        end = stop
    if end < dtype.itemsize:
        parts.append(Part(end, dtype.itemsize - end, ()))
    if len(parts) > _MOST_PARTS:
        raise Error(f"A record may have {_MOST_PARTS} fields and gaps between them, and this one has {len(parts)}.", 5)
    return Parts(tuple(parts))


class _NoField(Error, KeyError):
    """A KeyError, as mappings need it, that reads as any other refusal."""

    __str__ = ValueError.__str__


class Columns(MutableMapping[str, Any]):
    """The fields of a structured array, each contiguous, all in the array's memory. `columns()` makes it.

    A mapping from names (and titles) to arrays of shape `shape`, with the axes of a sub-array behind. Assigning to a
    name changes the values of that field. Used with `with`, it becomes records again at the end.
    """

    def __init__(self, records: Any, on: NumpyOperand, parts: Parts, options: Options) -> None:
        self.dtype: "np.dtype[Any]" = on.array.dtype
        self.shape: Tuple[int, ...] = tuple(on.array.shape)
        self._records, self._on, self._parts, self._options = records, on, parts, options
        self._views: Optional[Dict[str, Any]] = None

    def _convert(self, source: str, target: str, progress: Any) -> Ended:
        count = self._on.nbytes // self.dtype.itemsize if self.dtype.itemsize else 0
        if count < 2 or len(self._parts.parts) < 2:
            return Ended()
        layouts = layout_pair(self._parts.dimensions(count), source, target)
        return run_once(conversion(None, layouts, 0, self._on.nbytes, self._options), self._on, progress)

    def _separate(self, progress: Any) -> Ended:
        self._views = {name: self._view(name) for name in self.dtype.names or ()}
        return self._convert("i f", "f i", progress)

    def _view(self, name: str) -> Any:
        kind: "np.dtype[Any]" = _fields(self.dtype)[name][0]
        offset = int(_fields(self.dtype)[name][1])
        order = self._on.order()
        if not kind.itemsize or not self._on.nbytes:
            return np.zeros(self.shape, kind)
        part = next(part for part in self._parts.parts if name in part.names)
        count = self._on.nbytes // self.dtype.itemsize
        memory = self._on.flat().view(np.ndarray).view(np.dtype((np.void, self.dtype.itemsize))).view(np.uint8)
        block = memory[count * part.offset : count * (part.offset + part.size)]
        within = np.dtype(
            {"names": [name], "formats": [kind], "offsets": [offset - part.offset], "itemsize": part.size}
        )
        column = block.view(within)[name]
        inner = column.shape[1:]
        column = column.reshape(tuple(self.shape[axis] for axis in order) + inner)
        inverse = [order.index(axis) for axis in range(len(order))]
        return column.transpose(inverse + list(range(len(order), len(order) + len(inner))))

    def _open(self) -> Dict[str, Any]:
        if self._views is None:
            raise Error("These columns are records again; call restride.columns() to take them apart.")
        return self._views

    def _name(self, key: Any) -> str:
        fields = _fields(self.dtype)
        if not isinstance(key, str) or key not in fields:
            raise _NoField(f"There is no field {shown(key)}; the fields are {', '.join(self.dtype.names or ())}.")
        if key in self._open():
            return key
        return next(name for name in self.dtype.names or () if fields[name][2:] == (key,))

    def __getitem__(self, name: str) -> Any:
        return self._open()[self._name(name)]

    def __setitem__(self, name: str, values: Any) -> None:
        column = self[name]
        if values is not column:  # columns[name] += 1 assigns the array to itself
            try:
                column[...] = values
            except (ValueError, TypeError) as problem:
                raise Error(f"The field {name} was not set: {problem}.") from None

    def __delitem__(self, name: str) -> None:
        raise Error("A field cannot leave its record; its memory belongs to the array.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._open())

    def __len__(self) -> int:
        return len(self._open())

    def __repr__(self) -> str:
        state = "records again" if self._views is None else f"{len(self)} fields"
        return f"<restride.Columns of shape {self.shape}, {state}: {', '.join(self.dtype.names or ())}>"

    def records(self, *, progress: Any = False) -> Any:
        """The structured array again, in the same memory: the very array that `columns()` was given.

        The columns are not to be used any more. progress: as in `transpose()`.
        """
        views, self._views = self._open(), None  # another thread is refused
        try:
            ended = self._convert("f i", "i f", progress)
        except BaseException:
            self._views = views
            raise
        return deliver(self._records, ended, "The conversion")

    def __reduce__(self) -> Any:
        raise Error("Columns share the memory of their records and cannot be copied or pickled; copy the records.")

    def __enter__(self) -> "Columns":
        return self

    def __exit__(self, *ignored: Any) -> None:
        if self._views is not None:
            self.records()


def columns(records: Any, *, out_of_place: bool = False, threads: int = 0, progress: Any = False) -> Columns:
    """Takes a structured array apart: each field becomes one contiguous array, all in the memory of `records`.

    records: a dense structured array of NumPy, of any shape and any fields: packed, `align=True`, nested, sub-arrays,
        strings, with offsets and titles. It is not to be used until `Columns.records()` has put it together again.
    out_of_place, threads, progress: as in `transpose()`.

    Returns a mapping from each name to an array of shape `records.shape` (and the shape of a sub-array behind). Nested
    structures stay together. Padding travels too, so every byte comes back.

    The arrays lie one after the other in the order of the fields' bytes. So a field's array begins at `records.size`
    times the offset of the field: with `align=True` all are aligned; of packed fields one may begin at an odd address.
    It is given as it is, with `flags.aligned` False: NumPy computes with it all the same, about as fast as with the
    packed records; code in C must not take its address for that of aligned numbers. Fields that share bytes (unions)
    cannot be contiguous: each is a view with the stride of the bytes that they share.

    Raises `restride.Error`, with the array unchanged: it is not structured, holds Python objects, or cannot be changed
    in place.

    >>> import numpy as np, restride as rs
    >>> r = np.array([(1, 2.5), (3, 4.5)], dtype=[("id", "i4"), ("x", "f8")])
    >>> cols = rs.columns(r)
    >>> cols["x"] += 1
    >>> cols["x"].tolist(), cols["id"].flags.c_contiguous
    ([3.5, 5.5], True)
    >>> cols.records().tolist()
    [(1, 3.5), (3, 5.5)]
    """
    options = check_options(threads)
    if not isinstance(records, np.ndarray) or records.dtype.names is None:
        raise Error(f"columns() takes a structured array of NumPy, and this is {_describe(records)}.")
    on = changeable(records, out_of_place)
    assert isinstance(on, NumpyOperand)
    made = Columns(on.own, on, split(on.array.dtype), options)
    return deliver(made, made._separate(progress), "The conversion")  # type: ignore[no-any-return]


def _describe(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return f"an array of {array.dtype}"
    return f"a {type(array).__name__}"
