#!/usr/bin/python3
"""fields.py [RECORDS]: an array of structures in NumPy becomes a structure of arrays in its own memory, and back.

Afterwards each field is one contiguous array, so that work on one field no longer reads the others. The library is
found as other programs find it, for example by LD_LIBRARY_PATH.
"""
import ctypes
import sys
import time

import numpy

library = ctypes.CDLL("librestride.so")
library.restride_last_error.restype = ctypes.c_char_p
library.restride_layout_size.restype = ctypes.c_size_t


def check(status):
    if status:
        raise RuntimeError(library.restride_last_error().decode())


class Converter:
    """Converts arrays of `count` records of a dtype between two layouts, such as "i f" and "f i"."""

    NAMES = {"i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
             "i8": "long", "u8": "ulong", "f2": "half", "f4": "float", "f8": "double"}

    def __init__(self, dtype, count, source, target, threads=0):
        members = " ".join(f"{self.NAMES[dtype[name].str[1:]]} {name};" for name in dtype.names)
        dims = f"i:{count} f{{ {members} }}".encode()
        self.bytes = count * dtype.itemsize
        self.engine, self.plan = ctypes.c_void_p(), ctypes.c_void_p()
        layouts = ctypes.c_void_p(), ctypes.c_void_p()
        try:
            for layout, expression in zip(layouts, (source, target)):
                check(library.restride_layout_parse(ctypes.byref(layout), dims, expression.encode()))
                if library.restride_layout_size(layout) != self.bytes:
                    raise ValueError("the members do not lie as C would place them; use align=True")
            check(library.restride_engine_create_host(ctypes.byref(self.engine), threads))
            check(library.restride_plan_convert(ctypes.byref(self.plan), self.engine, *layouts))
        finally:
            for layout in layouts:
                library.restride_layout_destroy(layout)

    def __call__(self, array):
        if array.nbytes != self.bytes or not array.flags.c_contiguous or not array.flags.writeable:
            raise ValueError("this is not the array that the plan was made for")
        check(library.restride_execute(self.plan, ctypes.c_void_p(array.ctypes.data)))

    def __del__(self):
        library.restride_plan_destroy(self.plan)
        library.restride_engine_destroy(self.engine)


def fields_of(array):
    """The fields of an array that was converted to "f i", as views of it. Its records have no padding."""
    views, offset = {}, 0
    for name in array.dtype.names:
        kind = array.dtype[name]
        views[name] = numpy.frombuffer(array, kind, array.size, offset)
        offset += array.size * kind.itemsize
    if offset != array.nbytes:
        raise ValueError("the records have padding, which lies among the fields")
    return views


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4000000
    body = numpy.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("mass", "f4"), ("kind", "i4")], align=True)
    bodies = numpy.zeros(count, body)
    for number, name in enumerate(body.names):
        bodies[name] = (numpy.arange(count) * (number + 3)) % 1021
    before = bodies.copy()

    to_fields, back = Converter(body, count, "i f", "f i"), Converter(body, count, "f i", "i f")
    apart = seconds(lambda: before["mass"].sum(dtype="f8"))
    converted = seconds(lambda: to_fields(bodies))
    fields = fields_of(bodies)
    together = seconds(lambda: fields["mass"].sum(dtype="f8"))
    for name in body.names:
        assert (fields[name] == before[name]).all()
    back(bodies)
    assert (bodies == before).all()
    print(f"{count} records, {bodies.nbytes / 1e6:.0f} MB: converted in {converted * 1e3:.1f} ms; "
          f"one field's sum took {apart * 1e3:.2f} ms before and {together * 1e3:.2f} ms after")


if __name__ == "__main__":
    main()
