"""Arrays in files, changed in the files themselves: no second copy, and they may be larger than memory.

`journal=True` writes each step into a journal first: a change that was interrupted by anything, loss of power included,
goes on where it was when the same call is made again (docs/journal.md).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._command import change
from ._library import Error, Interrupted, shown, text, whole_number, whole_numbers
from ._plan import LAYOUT_TEXTS, flag

__all__ = ["FileChange", "convert", "transpose"]

_BYTES = (1 << 63) - 1  # that a number may mean
Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class FileChange:
    """What became of a file."""

    path: str
    changed: bool  # False: only explained
    resumed: bool = False  # an interrupted change was brought to its end; the rest is not known then
    source: str = ""  # shape or layout before
    target: str = ""  # and now
    nbytes: int = 0  # of the array
    seconds: float = 0.0
    plan: Dict[str, Any] = field(default_factory=dict)


def transpose(
    path: Path,
    axes: Optional[Sequence[int]] = None,
    *,
    shape: Optional[Sequence[int]] = None,
    dtype: Any = None,
    offset: Optional[int] = None,
    journal: Union[bool, Path] = False,
    threads: int = 0,
    memory: int = 0,
    explain: bool = False,
    progress: Any = False,
) -> FileChange:
    """Permutes the axes of the array in a file, as `numpy.transpose(a, axes)`; then it is in C order.

    path: a .npy file of any rank, or with `shape` and `dtype` (a dtype, or bytes of an element) a file without header.
    axes: axis k of the result is axis `axes[k]` now; None reverses all.
    offset: byte where the array begins in a file without header; None: 0, and nothing else is in it.
    journal: True: the journal is `path` with ".journal" behind it; or its path. It is removed when the call returns.
    threads: 1 to 256; 0: one for each processor. memory: bytes of scratch memory; 0: the planner's choice.
    explain: only plans, and changes nothing.
    progress: True shows a bar where tqdm is installed; a function is called with bytes done and bytes in all.

    Raises `restride.Error`: the file cannot be read or changed, or nothing can be planned; `restride.Interrupted` at
    Ctrl-C, which says what is left.

    >>> import os, tempfile, numpy as np, restride as rs
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = os.path.join(folder.name, "a.npy")
    >>> np.save(path, np.arange(6).reshape(2, 3))
    >>> rs.file.transpose(path, journal=True).target
    '3 x 2'
    >>> np.load(path).tolist()
    [[0, 3], [1, 4], [2, 5]]
    >>> folder.cleanup()
    """
    arguments = ["--axes", _numbers("axes", axes, ",")] if axes is not None else []
    if (shape is None) != (dtype is None):
        raise Error("A file without header needs both shape and dtype; a .npy file has them in its header.")
    if shape is not None:
        arguments += ["--shape", _numbers("shape", shape, "x")]
    return _run("transpose", path, arguments, dtype, offset, journal, threads, memory, explain, progress)


def convert(
    path: Path,
    source: str,
    target: str,
    *,
    dimensions: Optional[str] = None,
    dtype: Any = None,
    offset: Optional[int] = None,
    journal: Union[bool, Path] = False,
    threads: int = 0,
    memory: int = 0,
    explain: bool = False,
    progress: Any = False,
) -> FileChange:
    """Moves the elements of the array in a file from one layout to another (docs/layouts.md has the notation).

    path: a .npy file of structures, whose dimensions are "i", its records, and "f", their fields; or with `dimensions`
        any file. The header of a .npy file stays, so NumPy reads it rightly again when it was converted back.
    source, target: layouts now and then, such as "i f" and "f i".
    dimensions: such as "i:1000000 f{float x; double m;}".
    dtype: of the elements, where `dimensions` do not say it.
    The rest, and what is raised, is as in `transpose()`.
    """
    arguments: List[str] = []
    for option, value in {"--from": source, "--to": target, "--dims": dimensions}.items():
        if option != "--dims" or value is not None:
            arguments += [option, text(value, LAYOUT_TEXTS).decode()]
    return _run("convert", path, arguments, dtype, offset, journal, threads, memory, explain, progress)


def _numbers(name: str, values: Sequence[int], separator: str) -> str:
    return separator.join(map(str, whole_numbers(values, f"{name} are whole numbers")))


def _run(
    verb: str,
    path: Path,
    arguments: List[str],
    dtype: Any,
    offset: Optional[int],
    journal: Union[bool, Path],
    threads: int,
    memory: int,
    explain: bool,
    progress: Any,
) -> FileChange:
    try:
        name = os.path.abspath(os.fsdecode(path))
        log = None
        if journal is not False and journal is not None:
            log = name + ".journal" if journal is True else os.path.abspath(os.fsdecode(journal))
    except (TypeError, ValueError):
        raise Error(f"path and journal are paths of files, not {shown(path)} and {shown(journal)}.") from None
    if dtype is not None:
        try:
            unit = dtype if isinstance(dtype, int) else np.dtype(dtype).itemsize
            if not isinstance(dtype, int) and np.dtype(dtype).hasobject:
                raise TypeError
        except (TypeError, ValueError):
            unit = 0
        if not 0 < unit <= _BYTES:
            raise Error(f"dtype is a dtype of fixed size or a number of bytes, not {shown(dtype)}.")
        arguments = [*arguments, "--dtype", str(int(unit))]
    for option, value, most in (("offset", offset, _BYTES), ("threads", threads, 256), ("memory", memory, _BYTES)):
        if value is not None:
            number = whole_number(value, most, f"{option} is a whole number from 0 to {most}")
            arguments = [*arguments, f"--{option}", str(number)] if number or option == "offset" else arguments
    if flag("explain", explain):
        arguments, log = [*arguments, "--explain"], None
    if log is not None:
        arguments = [*arguments, "--journal", log]
    answer, held = change([verb, *arguments, "--json", "--", name], name, log, progress)
    if answer.status != 0:
        raise Error(answer.sentence(), 8 if answer.status == 1 else 1)
    made = _read(name, json.loads(answer.output))
    if held:
        raise Interrupted(f"The change of {name} was interrupted and has been brought to its end.", made)
    return made


def _read(path: str, reply: Dict[str, Any]) -> FileChange:
    known: Tuple[str, ...] = ("changed", "resumed", "seconds", "plan")
    return FileChange(
        path=path,
        source=reply.get("from", ""),
        target=reply.get("to", ""),
        nbytes=reply.get("bytes", 0),
        **{key: reply[key] for key in known if key in reply},
    )
