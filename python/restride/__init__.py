"""Restride: changes the stride of the data, not the program. Arrays are transposed and converted in their own memory.

>>> import numpy as np, restride as rs
>>> b = rs.transpose(np.arange(6).reshape(2, 3))   # the memory of the array, b.shape == (3, 2)
>>> b.tolist()
[[0, 3], [1, 4], [2, 5]]

docs/python.md has a page about it.
"""

from . import distributed, file
from ._arrays import ascontiguousarray, asfortranarray, convert, permute, transpose
from ._layout import Layout, layout
from ._library import Error, Interrupted, library
from ._operands import DeviceArray
from ._plan import Plan
from ._records import Columns, columns
from ._sources import Analysis, Argument, Rewriting, analyze, rewrite

__version__: str = library.restride_version_string().decode()

__all__ = [
    "Analysis",
    "Argument",
    "Columns",
    "DeviceArray",
    "Error",
    "Interrupted",
    "Layout",
    "Plan",
    "Rewriting",
    "analyze",
    "ascontiguousarray",
    "asfortranarray",
    "columns",
    "convert",
    "distributed",
    "file",
    "layout",
    "permute",
    "rewrite",
    "transpose",
]
