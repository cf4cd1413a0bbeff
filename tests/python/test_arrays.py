"""Random arrays against NumPy's own transpose and ascontiguousarray, between guards; refusals change nothing."""

import unittest

import guarded as g
import numpy as np
import restride as rs
from hypothesis import given
from hypothesis import strategies as st


def some_axes(data, rank):
    axes = data.draw(st.permutations(range(rank)))
    return [axis - rank if data.draw(st.booleans()) else axis for axis in axes]


class Arrays(unittest.TestCase):
    @g.cases(600)
    @given(g.dense(), st.data())
    def test_permute(self, made, data):
        guarded, a = made
        axes = some_axes(data, a.ndim)
        order = data.draw(st.sampled_from("KKCF"))
        wanted = g.raw(a.transpose(axes)).tobytes()
        address, was_c, was_f = a.ctypes.data, a.flags.c_contiguous, a.flags.f_contiguous
        b = rs.permute(a, axes, order=order, threads=data.draw(st.integers(0, 3)))
        self.assertEqual(b.shape, tuple(a.shape[axis] for axis in axes))
        self.assertEqual(b.dtype, a.dtype)
        self.assertEqual(g.raw(b).tobytes(), wanted)
        self.assertTrue(b.ctypes.data == address or not a.nbytes)
        self.assertTrue(g.is_dense(b))
        self.assertTrue(b.flags.c_contiguous or not (order == "C" or order == "K" and was_c))
        self.assertTrue(b.flags.f_contiguous or not (order == "F" or order == "K" and was_f and not was_c))
        guarded.check_guards()

    @g.cases(200)
    @given(g.dense(), st.data())
    def test_transpose_and_order(self, made, data):
        guarded, a = made
        name, by_numpy = data.draw(
            st.sampled_from(
                [
                    ("transpose", np.transpose),
                    ("ascontiguousarray", np.ascontiguousarray),
                    ("asfortranarray", np.asfortranarray),
                ]
            )
        )
        wanted = g.raw(a).transpose() if name == "transpose" else by_numpy(g.raw(a))
        wanted_bytes, wanted_shape = wanted.tobytes(), by_numpy(a).shape if a.ndim else a.shape
        b = getattr(rs, name)(a)
        self.assertEqual((b.shape, b.dtype), (wanted_shape, a.dtype))
        self.assertEqual(g.raw(b).tobytes(), wanted_bytes)
        if name != "transpose":
            self.assertTrue(b.flags.c_contiguous if name == "ascontiguousarray" else b.flags.f_contiguous)
        guarded.check_guards()

    @g.cases(600)
    @given(g.views(), st.data())
    def test_views(self, made, data):
        """What is no dense writable memory is refused with one sentence, and permuted out of place."""
        guarded, a = made
        axes = some_axes(data, a.ndim)
        wanted = g.raw(a).transpose(axes).tobytes()
        apart = rs.permute(a, axes, out_of_place=True)
        self.assertEqual(apart.shape, a.transpose(axes).shape)
        self.assertEqual(g.raw(apart).tobytes(), wanted)
        self.assertFalse(np.shares_memory(apart, guarded.buffer))
        guarded.check_unchanged()
        if a.flags.writeable and g.is_dense(a):
            within = bytes_of(a, guarded.buffer)
            b = rs.permute(a, axes)
            self.assertEqual(g.raw(b).tobytes(), wanted)
            changed = np.nonzero(guarded.buffer != guarded.before)[0]
            self.assertTrue(within.issuperset(changed.tolist()))
            return
        with self.assertRaisesRegex(rs.Error, r"^[A-Z].*cannot be changed in place: .*\.$"):
            rs.permute(a, axes)
        with self.assertRaises(rs.Error):
            rs.Plan(np.empty(a.shape, a.dtype))(a)
        guarded.check_unchanged()

    @g.cases(300)
    @given(g.dense(), st.data())
    def test_out(self, made, data):
        """The result goes to an array whose axes lie in any order; the source stays as it is."""
        guarded, a = made
        axes = some_axes(data, a.ndim)
        a.flags.writeable = data.draw(st.booleans())
        shape = a.transpose(axes).shape
        target = g.Guarded(a.nbytes, data.draw(st.integers(0, 17)), data.draw(st.integers(0, 2**32)))
        order = data.draw(st.permutations(range(a.ndim)))
        out = target.array(a.dtype, shape, g.dense_strides(shape, order, a.dtype.itemsize))
        wanted = g.raw(a).transpose(axes).tobytes()
        self.assertIs(rs.permute(a, axes, out=out, threads=data.draw(st.integers(0, 3))), out)
        self.assertEqual(g.raw(out).tobytes(), wanted)
        guarded.check_unchanged()
        target.check_guards()

    @g.cases(100)
    @given(g.dense(), st.data())
    def test_plan(self, made, data):
        guarded, a = made
        axes = some_axes(data, a.ndim)
        wanted = g.raw(a.transpose(axes)).tobytes()
        with rs.Plan(a, axes, threads=data.draw(st.integers(0, 2))) as p:
            guarded.check_unchanged()
            self.assertGreaterEqual(p.scratch_bytes, 0)
            self.assertIn("stages", p.describe())
            self.assertIn("scratch", p.explain())
            b = p(a)
            self.assertEqual(g.raw(b).tobytes(), wanted)
        with self.assertRaisesRegex(rs.Error, "closed"):
            p(a)
        guarded.check_guards()


def bytes_of(array, buffer):
    """The places in a buffer of all bytes of an array."""
    first = array.ctypes.data - buffer.ctypes.data
    return {first + int(place) + byte for place in g.offsets_of(array) for byte in range(array.itemsize)}


if __name__ == "__main__":
    unittest.main()
