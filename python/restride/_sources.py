"""Kernels rewritten for other layouts, and how they access memory: what `restride rewrite` and `analyze` say."""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._command import ask, temporary
from ._library import Error, shown, text, whole_number

_SUFFIXES = {"opencl": ".cl", "cuda": ".cu", "c": ".c"}
_NAME = "source"
# One line that ends like a file's name and has nothing of a kernel.
_FILE_NAME = re.compile(r"[^\n;{}()#*\"]+\.(cl|cu|c|cc|cpp|h)", re.IGNORECASE)


@dataclass(frozen=True)
class Argument:
    """A pointer argument of a kernel and what became of it."""

    kernel: str
    name: str
    index: int
    type: str
    transformed: bool
    layout: str = ""  # that it has now
    reason: str = ""  # why it was kept
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.transformed:
            return f'{self.kernel}.{self.name}: transformed to "{self.layout}"'
        return f"{self.kernel}.{self.name}: kept: {self.file}:{self.line}: {self.reason}"


@dataclass(frozen=True)
class Rewriting:
    """A source with its arrays of structures in another layout. `source` is "" where nothing was transformed."""

    source: str
    arguments: Tuple[Argument, ...]
    header: str = ""  # of the host program, where it was asked for
    reply: Dict[str, Any] = field(default_factory=dict, repr=False)  # all that the program says

    @property
    def refusals(self) -> Tuple[Argument, ...]:
        """The arguments that were kept, each with its reason, file and line."""
        return tuple(argument for argument in self.arguments if not argument.transformed)


@dataclass(frozen=True)
class Note:
    """Something of a source that was not understood, or is left out."""

    file: str
    line: int
    sentence: str


@dataclass(frozen=True)
class Advice:
    """A layout that suits an array, with the transactions of a warp now and then; `reason`: why it cannot be had."""

    layout: str
    dimensions: str
    now: float
    then: float
    reason: str = ""
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Array:
    """An array of a kernel or loop nest."""

    name: str
    type: str
    element_bytes: int
    space: str
    read: bool
    written: bool
    coalesced: bool
    memory: str = ""  # the space of memory that suits it
    advice: Optional[Advice] = None


@dataclass(frozen=True)
class Reference:
    """One place of a source where an array is accessed. `transactions`: of a warp's access."""

    array: str
    text: str
    line: int
    read: bool
    written: bool
    classes: str
    transactions: float
    exact: bool
    member: str = ""


@dataclass(frozen=True)
class Unit:
    """A kernel, or a function with loops."""

    name: str
    line: int
    kernel: bool
    arrays: Tuple[Array, ...]
    references: Tuple[Reference, ...]


@dataclass(frozen=True)
class Analysis:
    """How a source accesses its arrays."""

    language: str
    units: Tuple[Unit, ...]
    notes: Tuple[Note, ...]
    reply: Dict[str, Any] = field(default_factory=dict, repr=False)


def rewrite(
    source: Union[str, "os.PathLike[str]"],
    *,
    language: str = "opencl",
    layouts: Optional[Mapping[str, str]] = None,
    records: Optional[Mapping[str, str]] = None,
    tile: int = 0,
    header: bool = False,
    options: Sequence[str] = (),
) -> Rewriting:
    """Rewrites kernels with their arrays of structures in another layout (docs/rewriting.md says which).

    source: the text of a program, or a `pathlib.Path` of a file.
    language: of a text: "opencl" or "cuda"; a file's name says it.
    layouts: the layout of an argument, by "name" or "kernel.name": {"bodies": "f i"}.
    records: the members of each record of a flat array: {"cells": "20"}.
    tile: "i/T f i%T" for all other arguments; 0: 32 where no layout is given.
    header: also a header for the host program, in C, or in C++ for CUDA.
    options: the program's build options: ["-DN=8"].

    Raises `restride.Error` where the source cannot be read at all. What was not understood is kept and told with its
    line.

    >>> import restride as rs
    >>> made = rs.rewrite('''typedef struct { float x, y; } body;
    ... __kernel void drift(__global body *bodies) { bodies[get_global_id(0)].x += 1; }
    ... __kernel void raw(__global body *bodies) { ((__global char *)bodies)[0] = 1; }
    ... ''')
    >>> for argument in made.arguments:
    ...     print(argument)
    drift.bodies: transformed to "i/32 f i%32"
    raw.bodies: kept: source.cl:3: the pointer is cast
    """
    arguments: List[str] = []
    for option, values in (("--layout", layouts), ("--record", records)):
        if not isinstance(values, (Mapping, type(None))):
            raise Error(f"Layouts and records are mappings from names of arguments, not {shown(values)}.")
        for name, value in (values or {}).items():
            words = (text(word, "Names of arguments, layouts and records are texts") for word in (name, value))
            arguments += [option, b": ".join(words).decode()]
    arguments += _counts(tile=tile)
    with temporary(tempfile.TemporaryDirectory, prefix="restride-") as folder:
        made = os.path.join(folder, "header.h")
        reply = _ask("rewrite", source, language, arguments + (["--header", made] if header else []), options, folder)
        declared = ""
        if header and os.path.exists(made):
            with open(made, encoding="utf-8") as opened:
                declared = opened.read()
    if reply.get("reason"):
        raise Error(f"{reply.get('file', '')}:{reply.get('line', 0)}: {reply['reason']}.", 5)
    return Rewriting(reply.get("source", ""), tuple(_arguments(reply)), declared, reply)


def _arguments(reply: Dict[str, Any]) -> List[Argument]:
    return [
        Argument(
            kernel["name"],
            one["name"],
            one["index"],
            one.get("type", ""),
            one["status"] == "transformed",
            one.get("layout", ""),
            one.get("reason", ""),
            one.get("file", ""),
            one.get("line", 0),
        )
        for kernel in reply.get("kernels", [])
        for one in kernel.get("arguments", [])
    ]


def analyze(
    source: Union[str, "os.PathLike[str]"],
    *,
    language: str = "opencl",
    threads: Sequence[str] = (),
    warp: int = 0,
    burst: int = 0,
    options: Sequence[str] = (),
) -> Analysis:
    """Finds how the kernels or loops of a source access each array, and what suits it (docs/analysis.md).

    source, options: as in `rewrite()`; language: "opencl", "cuda" or "c".
    threads: names of the loops whose iterations become threads (C).
    warp: threads that access memory together; 0: 32. burst: bytes of one transaction; 0: 32.

    Raises `restride.Error` where the source cannot be read. What is left out is in `notes`, with its line.

    >>> import restride as rs
    >>> found = rs.analyze('''typedef struct { float v[8]; } cell;
    ... __kernel void sum(__global const cell *a, __global float *b) { int i = get_global_id(0); b[i] = a[i].v[0]; }
    ... ''')
    >>> [(r.text, r.line, r.transactions) for r in found.units[0].references]
    [('a[i].v[0]', 2, 32), ('b[i]', 2, 4)]
    """
    arguments = ["--threads", ",".join(_texts("threads", threads))] if threads else []
    arguments += _counts(warp=warp, burst=burst)
    with temporary(tempfile.TemporaryDirectory, prefix="restride-") as folder:
        reply = _ask("analyze", source, language, arguments, options, folder)
    notes = tuple(Note(note.get("file", ""), note.get("line", 0), note["sentence"]) for note in reply.get("notes", []))
    return Analysis(reply.get("language", ""), tuple(_unit(unit) for unit in reply.get("units", [])), notes, reply)


def _unit(unit: Dict[str, Any]) -> Unit:
    references = tuple(
        Reference(
            one["array"],
            one["text"],
            one["line"],
            one["read"],
            one["write"],
            one.get("classes", ""),
            one.get("transactions", 0),
            one.get("exact", False),
            one.get("member") or "",
        )
        for one in unit.get("references", [])
    )
    return Unit(unit["name"], unit["line"], unit["kernel"], tuple(_array(one) for one in unit["arrays"]), references)


def _array(one: Dict[str, Any]) -> Array:
    told = one.get("advice") or one.get("kept_advice")
    advice = None
    if told is not None:
        advice = Advice(
            told.get("layout", ""),
            told.get("dims", ""),
            told.get("now", 0),
            told.get("then", 0),
            told.get("reason", ""),
            told.get("file", ""),
            told.get("line", 0),
        )
    return Array(
        one["name"],
        one.get("type", ""),
        one.get("element", 0),
        one.get("space", ""),
        one.get("read", False),
        one.get("written", False),
        one.get("coalesced", False),
        one.get("memory", ""),
        advice,
    )


def _counts(**values: Any) -> List[str]:
    """Options that take a number; 0 leaves them out."""
    words: List[str] = []
    for name, value in values.items():
        number = whole_number(value, (1 << 31) - 1, f"{name} is a whole number")
        words += [f"--{name}", str(number)] if number else []
    return words


def _texts(name: str, values: Any) -> List[str]:
    if not isinstance(values, (list, tuple)) or not all(isinstance(value, str) for value in values):
        raise Error(f"{name} are a list of texts, not {shown(values)}.")
    return list(values)


def _ask(
    verb: str,
    source: Union[str, "os.PathLike[str]"],
    language: str,
    arguments: List[str],
    options: Sequence[str],
    folder: str,
) -> Dict[str, Any]:
    if not isinstance(language, str) or language not in _SUFFIXES:
        raise Error(f"language is one of {', '.join(_SUFFIXES)}, not {shown(language)}.")
    words = _texts("options", options)
    where: Optional[str] = None
    if isinstance(source, str) and _FILE_NAME.fullmatch(source):
        raise Error(f"The source is a text, and {shown(source)} is a file's name; hand over a pathlib.Path for a file.")
    if isinstance(source, str):
        where, name = folder, _NAME + _SUFFIXES[language]
        temporary(Path(folder, name).write_bytes, data=source.encode("utf-8", "surrogatepass"))
    else:
        try:
            if isinstance(source, bytes):
                raise TypeError
            name = os.fsdecode(source)
            name = os.path.join(".", name) if name.startswith("-") else name
        except TypeError:
            given = type(source).__name__
            raise Error(f"The source is a text or a pathlib.Path, and this is of type {given}.") from None
    answer = ask([verb, name, *arguments, "--json", "--", *words], where)
    if answer.status != 0 and not answer.output:  # else the reply has the reason
        raise Error(answer.sentence(), 8 if answer.status == 1 else 1)
    reply: Dict[str, Any] = json.loads(answer.output)
    return reply
