"""Structured arrays taken apart and put together, and conversions, against their definitions, between guards."""

import unittest

import guarded as g
import numpy as np
import restride as rs
from hypothesis import given
from hypothesis import strategies as st

record_shapes = st.one_of(
    st.integers(0, 400).map(lambda n: (n,)), st.lists(st.integers(1, 9), max_size=3).map(tuple), st.just((5000,))
)


def field_bytes(array, name):
    """The bytes of a field of each record, by its offset: nothing of NumPy's fields or of Restride's parts."""
    kind, offset = array.dtype.fields[name][:2]
    whole = np.ascontiguousarray(g.raw(array)).view(np.uint8).reshape(array.size, array.itemsize)
    return np.ascontiguousarray(whole[:, offset : offset + kind.itemsize]).tobytes()


def column_bytes(column, kind):
    if not kind.itemsize:
        return b""
    base = kind.base
    return np.ascontiguousarray(column.view(np.dtype((np.void, base.itemsize)))).tobytes()


def overlaps(dtype, name):
    kind, offset = dtype.fields[name][:2]
    for other in dtype.names:
        if other != name:
            second, start = dtype.fields[other][:2]
            if offset < start + second.itemsize and start < offset + kind.itemsize:
                return True
    return False


class Records(unittest.TestCase):
    @g.cases(500)
    @given(g.dense(g.records, record_shapes), st.data())
    def test_columns(self, made, data):
        guarded, a = made
        wanted = {name: field_bytes(a, name) for name in a.dtype.names}
        if a.itemsize:
            self.before = np.ascontiguousarray(g.raw(a)).view(np.uint8).reshape(a.size, a.itemsize).copy()
        cols = rs.columns(a, threads=data.draw(st.integers(0, 2)))
        self.assertEqual(tuple(cols), a.dtype.names)
        for name in a.dtype.names:
            kind = a.dtype.fields[name][0]
            column = cols[name]
            self.assertEqual(column.dtype, kind.base)
            self.assertEqual(column.shape, a.shape + kind.shape)
            self.assertEqual(column_bytes(column, kind), wanted[name])
            if len(a.dtype.fields[name]) > 2:
                self.assertIs(cols[a.dtype.fields[name][2]], column)
            if not overlaps(a.dtype, name):
                self.assertTrue(g.is_dense(column))
            if a.flags.c_contiguous and not overlaps(a.dtype, name):
                self.assertTrue(column.flags.c_contiguous)
            if a.dtype.isalignedstruct and a.flags.aligned:
                self.assertTrue(column.flags.aligned)
        guarded.check_guards()
        if a.itemsize:
            self.change_one(a, cols, data)
        else:
            cols.records()
        guarded.check_guards()
        with self.assertRaisesRegex(rs.Error, "records again"):
            cols[a.dtype.names[0]]

    def change_one(self, a, cols, data):
        """Writes into one column; the records differ from what they were in that field alone."""
        name = data.draw(st.sampled_from(a.dtype.names))
        kind, offset = a.dtype.fields[name][:2]
        if kind.itemsize:
            cols[name].view(np.dtype((np.void, kind.base.itemsize)))[...] = np.void(bytes(kind.base.itemsize))
        address = a.ctypes.data
        back = cols.records()
        self.assertIs(back, a)
        self.assertEqual(address, a.ctypes.data)
        self.after_change(a, offset, kind.itemsize)

    def after_change(self, a, offset, size):
        now = np.ascontiguousarray(g.raw(a)).view(np.uint8).reshape(a.size, a.itemsize)
        self.before[:, offset : offset + size] = 0
        self.assertTrue((now == self.before).all())

    @g.cases(300)
    @given(g.dense(g.records, record_shapes))
    def test_back_is_what_it_was(self, made):
        guarded, a = made
        with rs.columns(a) as cols:
            len(cols)
        guarded.check_unchanged()
        apart = rs.columns(a, out_of_place=True)
        for name in cols.dtype.names:
            kind = a.dtype.fields[name][0]
            self.assertEqual(column_bytes(apart[name], kind), field_bytes(a, name))
        guarded.check_unchanged()

    @g.cases(200)
    @given(g.dense(g.records, record_shapes), st.data())
    def test_asta_of_any_record(self, made, data):
        """rs.convert() without dimensions: a layout and back, and the offsets that docs/layouts.md defines."""
        guarded, a = made
        tile = data.draw(st.integers(1, 40))
        edges = {0, a.itemsize}
        for name in a.dtype.names:
            if a.dtype.fields[name][0].itemsize:
                edges |= {span(a.dtype, name)[0], span(a.dtype, name)[-1] + 1}
        edges = sorted(edge for edge in edges if not inside_a_field(a.dtype, edge))
        parts = list(zip(edges, edges[1:]))  # begin and end of what moves as a whole, from the dtype alone
        before = np.array(g.raw(a).transpose(memory_axes(a)).reshape(-1)).view(np.uint8)
        before = before.reshape(a.size, a.itemsize) if a.itemsize else before
        b = rs.convert(a, None, "i f", f"i/{tile} f i%{tile}")
        self.assertIs(b, a)
        after = guarded.buffer[guarded.first : guarded.first + a.nbytes]
        for first in range(0, a.size if a.itemsize else 0, tile):
            width = min(tile, a.size - first)
            for begin, end in parts:
                at = first * a.itemsize + width * begin
                block = after[at : at + width * (end - begin)].reshape(width, end - begin)
                self.assertTrue((block == before[first : first + width, begin:end]).all())
        rs.convert(a, None, f"i/{tile} f i%{tile}", "i f")
        guarded.check_unchanged()

    @g.cases(200)
    @given(st.data())
    def test_convert(self, data):
        """Conversions of elements against Layout.offset()."""
        extents = [data.draw(st.integers(1, 12)) for _ in range(data.draw(st.integers(1, 3)))]
        names = "abc"[: len(extents)]
        dims = " ".join(f"{name}:{n}" for name, n in zip(names, extents))

        def expression():
            slow, fast = [], []
            for name in data.draw(st.permutations(names)):
                tile = data.draw(st.integers(1, 5))
                slow.append(f"{name}/{tile}" if tile > 1 else name)
                fast += [f"{name}%{tile}"] if tile > 1 else []
            return " ".join(slow + fast)

        unit = data.draw(st.integers(1, 9))
        source, target = expression(), expression()
        guarded = g.Guarded(unit * int(np.prod(extents)), data.draw(st.integers(0, 9)), 1)
        memory = guarded.array(np.uint8, (guarded.nbytes,))
        first, second = rs.layout(dims, source), rs.layout(dims, target)
        rs.convert(memory, dims, source, target, itemsize=unit)
        was = guarded.before[guarded.first :]
        for index in np.ndindex(*extents):
            a, b = first.offset(*index) * unit, second.offset(*index) * unit
            self.assertEqual(memory[b : b + unit].tobytes(), was[a : a + unit].tobytes())
        guarded.check_guards()
        with rs.Plan.convert(dims, target, source, itemsize=unit) as p:
            p(memory)
        guarded.check_unchanged()


class Many(unittest.TestCase):
    """An example of its own: 70001 records of five fields."""

    def setUp(self):
        kind = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("mass", "f4"), ("kind", "i4")], align=True)
        self.bodies = np.zeros(70001, kind)
        for number, name in enumerate(kind.names):
            self.bodies[name] = np.arange(70001) * (number + 3) % 1021

    def test_fields_and_back(self):
        before = self.bodies.copy()
        with rs.columns(self.bodies) as fields:
            for name in fields:
                self.assertTrue(fields[name].flags.c_contiguous and np.shares_memory(fields[name], self.bodies))
                self.assertTrue((fields[name] == before[name]).all())
        self.assertTrue((self.bodies == before).all())

    def test_refused(self):
        before = self.bodies.copy()
        with self.assertRaisesRegex(rs.Error, 'At character 3 of the layout "f x": there is no dimension "x"'):
            rs.convert(self.bodies, None, "i f", "f x")
        plan = rs.Plan.convert("i:70002 f{float x; float y; float z; float mass; int kind;}", "i f", "f i")
        with self.assertRaisesRegex(rs.Error, "The plan is for 1400040 bytes, and the array has 1400020"):
            plan(self.bodies)
        self.assertTrue((self.bodies == before).all())


def span(dtype, name):
    kind, offset = dtype.fields[name][:2]
    return range(offset, offset + kind.itemsize)


def inside_a_field(dtype, edge):
    return any(len(span(dtype, name)) and span(dtype, name)[0] < edge <= span(dtype, name)[-1] for name in dtype.names)


def memory_axes(array):
    return sorted(range(array.ndim), key=lambda axis: (-array.strides[axis], array.shape[axis] != 1))


if __name__ == "__main__":
    unittest.main()
