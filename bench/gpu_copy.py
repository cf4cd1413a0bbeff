#!/usr/bin/env python3
"""bench/gpu_copy.py [--seconds S] [--only TEXT] [--part N] [--host] LIBRARY...: conversions from one buffer to another on
a GPU, beside a copy of the same bytes and PyTorch's permute().contiguous().

First random tensors and layouts, for S seconds (60): every byte is compared with PyTorch or the host engine, the source
and canaries around both buffers too. Then a table of tensors and records, verified likewise, with the ratio to the
device's copy, for each LIBRARY (librestride.so) a column. --only: rows whose names have that in them. --part N makes arrays
N times smaller. --host tries the program out with the host engine. The exit status is 1 when something was wrong.
"""

import argparse
import ctypes
import json
import random
import sys
import time

import torch

MARGIN = 256  # bytes of canaries, of which the first begin at a multiple of as many
CANARY = 0xA5
REPEATS = 15
TYPES = {1: "uint8_t", 2: "uint16_t", 4: "float", 8: "double", 16: "char[16]"}

# name, extents, axes, bytes of an element
TENSORS = [
    ("7200x1800", (7200, 1800), (1, 0), 4),
    ("28800x7200", (28800, 7200), (1, 0), 4),
    ("20000x20000", (20000, 20000), (1, 0), 4),
    ("19997x20011", (19997, 20011), (1, 0), 4),
    ("24989x18013", (24989, 18013), (1, 0), 4),
    ("7919x65537", (7919, 65537), (1, 0), 4),
    ("31000x9000", (31000, 9000), (1, 0), 4),
    ("12345x23456", (12345, 23456), (1, 0), 4),
    ("17000x29000", (17000, 29000), (1, 0), 4),
    ("12347x17011 f64", (12347, 17011), (1, 0), 8),
    ("50000000x19", (50000000, 19), (1, 0), 4),
    ("100000000x8", (100000000, 8), (1, 0), 4),
    ("20000x30000 u16", (20000, 30000), (1, 0), 2),
    ("20000x30000 u8", (20000, 30000), (1, 0), 1),
    ("512.600.700 210", (512, 600, 700), (2, 1, 0), 4),
    ("512.600.700 120", (512, 600, 700), (1, 2, 0), 4),
    ("512.600.700 021", (512, 600, 700), (0, 2, 1), 4),
    ("512.600.700 102", (512, 600, 700), (1, 0, 2), 4),
    ("64.224.224.64 0312", (64, 224, 224, 64), (0, 3, 1, 2), 4),
    ("128.1024.16.64 0213 f16", (128, 1024, 16, 64), (0, 2, 1, 3), 2),
    ("96.80.70.60 3210", (96, 80, 70, 60), (3, 2, 1, 0), 4),
    ("30.40.20.50.33 41302", (30, 40, 20, 50, 33), (4, 1, 3, 0, 2), 4),
    ("16.20.24.12.18.22 531420", (16, 20, 24, 12, 18, 22), (5, 3, 1, 4, 2, 0), 4),
]
RECORDS = [
    ("20", "float v[5];"),
    ("48", "float v[12];"),
    ("72", "double v[9];"),
    ("144", "double v[18];"),
    ("24 mixed", "double m; float x; float y; int k; short a; short b;"),
    ("40 mixed", "double m; float x[3]; char c; short s; double t[2];"),
]
LAYOUTS = [
    ("AoS to SoA", "i f", "f i"),
    ("AoS to ASTA", "i f", "i/32 f i%32"),
    ("SoA to AoS", "f i", "i f"),
    ("ASTA to AoS", "i/32 f i%32", "i f"),
]
RECORD_BYTES = 1 << 30


class Library:
    """What is used of one librestride.so."""

    def __init__(self, path, host):
        self.calls = ctypes.CDLL(path)
        for name in ("restride_plan_describe", "restride_last_error"):
            getattr(self.calls, name).restype = ctypes.c_void_p
        self.calls.restride_plan_scratch_bytes.restype = ctypes.c_size_t
        self.calls.restride_layout_bytes.restype = ctypes.c_size_t
        self.cpu = self.engine("restride_engine_create_host", ctypes.c_int(0))
        self.device = self.cpu if host else self.engine("restride_engine_create_cuda", ctypes.c_void_p(None))

    def check(self, status):
        if status != 0:
            raise RuntimeError(ctypes.string_at(self.calls.restride_last_error()).decode())

    def engine(self, create, argument):
        engine = ctypes.c_void_p()
        self.check(getattr(self.calls, create)(ctypes.byref(engine), argument))
        return engine

    def layout(self, dims, expression):
        layout = ctypes.c_void_p()
        self.check(self.calls.restride_layout_parse(ctypes.byref(layout), dims.encode(), expression.encode()))
        return layout

    def plan(self, engine, dims, source, target, unit=0):
        plan = ctypes.c_void_p()
        a, b = self.layout(dims, source), self.layout(dims, target)
        status = self.calls.restride_plan_convert_copy(ctypes.byref(plan), engine, a, b, ctypes.c_size_t(unit))
        self.calls.restride_layout_destroy(a)
        self.calls.restride_layout_destroy(b)
        self.check(status)
        return plan

    def run(self, plan, source, target):
        self.check(self.calls.restride_execute_copy(plan, ctypes.c_void_p(source), ctypes.c_void_p(target)))

    def free(self, plan):
        self.calls.restride_plan_destroy(plan)

    def bytes(self, dims, expression):
        layout = self.layout(dims, expression)
        size = self.calls.restride_layout_bytes(layout)
        self.calls.restride_layout_destroy(layout)
        return size

    def shape(self, plan):
        """How a plan is cut, in few words."""
        stage = json.loads(ctypes.string_at(self.calls.restride_plan_describe(plan)))["stages"][0]
        keys = {"box_bytes": "box", "run_bytes": "run", "word_bytes": "w", "even_vector": "e", "uneven_vector": "u"}
        return " ".join(f"{short}{stage[key]}" for key, short in keys.items() if key in stage)


def names(rank):
    return [chr(ord("a") + i) for i in range(rank)]


def tensor_texts(extents, axes):
    own = names(len(extents))
    dims = " ".join(f"{name}:{extent}" for name, extent in zip(own, extents))
    return dims, " ".join(own), " ".join(own[axis] for axis in axes)


def random_bytes(size, where):
    words = torch.arange(size // 8 + 1, dtype=torch.int64, device=where)
    words = (words + 1) * -0x61C8864680B583EB
    words = (words ^ (words >> 29)) * 0x27D4EB2F165667C5
    return words.view(torch.uint8)[:size]


class Guarded:
    """`size` bytes between canaries."""

    def __init__(self, size, where, content=None):
        self.all = torch.full((size + 2 * MARGIN,), CANARY, dtype=torch.uint8, device=where)
        self.bytes = self.all[MARGIN : MARGIN + size]
        if content is not None:
            self.bytes.copy_(content)

    def pointer(self):
        return self.bytes.data_ptr()

    def intact(self):
        ends = torch.cat((self.all[:MARGIN], self.all[MARGIN + self.bytes.numel() :]))
        return bool((ends == CANARY).all())


def permuted(content, extents, axes, unit):
    rank = len(extents)
    return content.view(*extents, unit).permute(*axes, rank).contiguous().view(-1)


def on_host(library, dims, source, target, content, size):
    """The same conversion by the host engine, which the tests compare with the definition."""
    held = content.cpu().contiguous()
    result = torch.zeros(size, dtype=torch.uint8)
    plan = library.plan(library.cpu, dims, source, target)
    library.run(plan, held.data_ptr(), result.data_ptr())
    library.free(plan)
    return result


def wrong(library, where, dims, source, target, unit, content, expected):
    """What is wrong with one conversion; an empty text: nothing."""
    a, b = Guarded(content.numel(), where, content), Guarded(expected.numel(), where)
    plan = library.plan(library.device, dims, source, target, unit)
    library.run(plan, a.pointer(), b.pointer())
    synchronize()
    library.free(plan)
    if not (a.intact() and b.intact()):
        return "a canary changed"
    if not torch.equal(a.bytes, content):
        return "the source changed"
    return "" if torch.equal(b.bytes, expected.to(b.bytes.device)) else "wrong elements"


def synchronize():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def random_tensor(where):
    rank = random.randint(1, 6)
    most = random.choice((3000, 200000, 8000000))
    extents, left = [], most
    for _ in range(rank):
        extents.append(random.randint(1, max(1, min(left, random.choice((7, 40, 600, 5000))))))
        left = max(1, left // extents[-1])
    axes = random.sample(range(rank), rank)
    unit = random.choice((1, 2, 4, 8, 16, random.randint(1, 48)))
    size = unit
    for extent in extents:
        size *= extent
    content = random_bytes(size, where)
    return (*tensor_texts(extents, axes), unit, content, permuted(content, extents, axes, unit))


def random_record(library, where):
    members = random.choices(("float x%d;", "double m%d;", "char c%d;", "short s%d;", "float v%d[3];", "char[12] n%d;"),
                             k=random.randint(1, 7))
    text = " ".join(member % i for i, member in enumerate(members))
    count = random.choice((1, 31, 1000, random.randint(1, 60000)))
    tiles = [random.choice((8, 16, 32, 48, 64, 100)) for _ in range(2)]
    forms = ["i f", "f i", f"i/{tiles[0]} f i%{tiles[0]}", f"i/{tiles[1]} f i%{tiles[1]}"]
    source, target = random.sample(forms, 2)
    packed = random.choice(("", " packed"))
    dims = f"i:{count} f{packed}{{ {text} }}"
    content = random_bytes(library.bytes(dims, source), where)
    expected = on_host(library, dims, source, target, content, library.bytes(dims, target))
    return dims, source, target, 0, content, expected


def verify(library, where, seconds):
    """The number of problems that were wrong."""
    random.seed(1)
    end = time.monotonic() + seconds
    tried = bad = 0
    while time.monotonic() < end:
        case = random_tensor(where) if tried % 2 == 0 else random_record(library, where)
        tried += 1
        try:
            what = wrong(library, where, *case)
        except RuntimeError as error:
            what = str(error)
        if what:
            bad += 1
            print(f'"{case[0]}" "{case[1]}" to "{case[2]}", {case[3]} bytes: {what}')
    print(f"{tried} random problems, {bad} wrong", flush=True)
    return bad


def milliseconds(work):
    """The median time of some runs."""
    times = []
    for i in range(REPEATS + 3):
        if torch.cuda.is_available():
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            work()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        else:
            begin = time.perf_counter()
            work()
            times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times[3:])[REPEATS // 2]


def rows(library, where, part, only):
    """Name, texts, unit, content, expected, and what PyTorch does."""
    for name, extents, axes, unit in TENSORS:
        if only in name:
            own = (max(extents[0] // part, 1),) + extents[1:]
            dims, source, target = tensor_texts(own, axes)
            size = unit
            for extent in own:
                size *= extent
            content = random_bytes(size, where)
            kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[unit]
            view = content.view(kind).view(*own).permute(*axes)
            yield name, dims, source, target, unit, content, permuted(content, own, axes, unit), view
    for size, members in RECORDS:
        for title, source, target in LAYOUTS:
            name = f"{title}, {size}"
            if only in name:
                count = RECORD_BYTES // int(size.split()[0]) // part // 8 * 8
                dims = f"i:{count} f{{ {members} }}"
                content = random_bytes(library.bytes(dims, source), where)
                expected = on_host(library, dims, source, target, content, library.bytes(dims, target))
                yield name, dims, source, target, 0, content, expected.to(where), None


def measure_row(libraries, where, row, table):
    name, dims, source, target, unit, content, expected, view = row
    result = torch.empty(expected.numel(), dtype=torch.uint8, device=where)
    copy = milliseconds(lambda: result[: content.numel()].copy_(content))
    ratios, bad, shape, planning = [], 0, "", 0.0
    for library in libraries:
        result.fill_(CANARY)
        begin = time.perf_counter()
        try:
            plan = library.plan(library.device, dims, source, target, unit)
        except RuntimeError as error:
            print(f"{name}: {error}")
            ratios.append(0.0)
            bad += 1
            continue
        planning = (time.perf_counter() - begin) * 1e3
        library.run(plan, content.data_ptr(), result.data_ptr())
        synchronize()
        if not torch.equal(result, expected):
            print(f"{name}: wrong elements")
            bad += 1
        time_of = milliseconds(lambda: library.run(plan, content.data_ptr(), result.data_ptr()))
        ratios.append(copy / time_of)
        shape = shape or library.shape(plan)
        library.free(plan)
    torch_ratio = 0.0
    if view is not None:
        torch_ratio = copy / milliseconds(lambda: view.contiguous())
    gigabytes = 2 * content.numel() / copy / 1e6
    columns = " ".join(f"{ratio:6.2f}" for ratio in ratios)
    table.append(f"{name:26} {gigabytes:6.0f} {columns} {torch_ratio:7.2f} {planning:8.1f}  {shape}")
    print(table[-1], flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("library", nargs="+")
    options = parser.parse_args()
    where = "cpu" if options.host else "cuda"
    if not options.host:
        torch.cuda.init()
        torch.zeros(1, device=where)
        print(torch.cuda.get_device_name(0))
    libraries = [Library(path, options.host) for path in options.library]
    bad = verify(libraries[0], where, options.seconds)
    table = []
    for row in rows(libraries[0], where, options.part, options.only):
        bad += measure_row(libraries, where, row, table)
        del row
    head = " ".join(f"{'ratio' if i == 0 else f'({i + 1})':>6}" for i in range(len(libraries)))
    print(f"\n{'':26} {'copy':>6} {head} {'PyTorch':>7} {'plan ms':>8}  how it is cut, in bytes and words")
    print("\n".join(table))
    print("all held" if bad == 0 else f"{bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
