"""Layouts: where each element of an array lies, and a picture of it."""

from __future__ import annotations

import ctypes
from typing import Any, Tuple

from . import _library
from ._library import Error, library
from ._plan import LAYOUT_TEXTS

_DIALECTS = {"c": 0, "opencl": 1, "cuda": 2}


class Layout:
    """A layout of an array with named dimensions. `layout()` makes it. In a notebook it is its picture."""

    def __init__(self, dimensions: str, expression: str) -> None:
        texts = [_library.text(value, LAYOUT_TEXTS) for value in (dimensions, expression)]
        self.dimensions = dimensions
        self.expression = expression
        self._handle = _library.make(library.restride_layout_destroy, library.restride_layout_parse, *texts)

    @property
    def extents(self) -> Tuple[int, ...]:
        """Elements along each dimension; a record's are its scalar members, padding included."""
        rank = library.restride_layout_rank(self._handle.pointer)
        return tuple(int(library.restride_layout_extent(self._handle.pointer, k)) for k in range(rank))

    @property
    def size(self) -> int:
        """Of the whole array with its padding: in elements, or in bytes where a dimension is a record."""
        return int(library.restride_layout_size(self._handle.pointer))

    def offset(self, *index: int) -> int:
        """Where an element lies, in elements, or in bytes where a dimension is a record.

        index: one number for each dimension, in the order of `dimensions`.
        """
        extents = self.extents
        what = f"An element of {self.dimensions} has {len(extents)} indices below {extents}"
        numbers = _library.whole_numbers(index, what)
        if len(numbers) != len(extents) or not all(0 <= i < n for i, n in zip(numbers, extents)):
            raise Error(f"{what}, not {_library.shown(index)}.")
        return int(library.restride_layout_offset(self._handle.pointer, _library.sizes(numbers)))

    def accessors(self, dialect: str = "c", prefix: str = "ARRAY") -> str:
        """Source text of accessors for kernels; docs/layouts.md says what it defines.

        dialect: "c", "opencl" or "cuda". prefix: a C identifier.
        """
        if not isinstance(dialect, str) or dialect not in _DIALECTS:
            raise Error(f"dialect is one of {', '.join(_DIALECTS)}, not {_library.shown(dialect)}.")
        name, text = _library.text(prefix, "prefix is a C identifier"), ctypes.c_void_p()
        _library.check(
            library.restride_layout_accessor(self._handle.pointer, _DIALECTS[dialect], name, ctypes.byref(text))
        )
        return _library.take_text(text.value)

    def _draw(self, form: int) -> str:
        text = ctypes.c_void_p()
        _library.check(library.restride_layout_draw(self._handle.pointer, form, ctypes.byref(text)))
        return _library.take_text(text.value)

    def svg(self) -> str:
        """The picture that `restride show --svg` draws."""
        return self._draw(1)

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return self._draw(0)

    def __reduce__(self) -> Any:
        return layout, (self.dimensions, self.expression)

    def __repr__(self) -> str:
        return f"restride.layout({self.dimensions!r}, {self.expression!r})"


def layout(dimensions: str, expression: str) -> Layout:
    """A layout of an array (docs/layouts.md has the notation).

    dimensions: name and extent of each dimension, slowest first: "i:8 f:3", or with a record
        "i:8 f{float x; double m;}".
    expression: terms from the slowest to the fastest: "i f", "f i", "i/4 f i%4".

    Raises `restride.Error`, which names the character at fault.

    >>> import restride as rs
    >>> asta = rs.layout("i:8 f:3", "i/4 f i%4")
    >>> asta.offset(5, 2), asta.size
    (21, 24)
    """
    return Layout(dimensions, expression)
