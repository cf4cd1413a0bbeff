"""What the package refuses, each in one sentence, and what it leaves unchanged then."""

import copy
import errno
import itertools
import mmap
import pickle
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import restride as rs


class Odd:
    """An object with just these attributes."""

    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Unwritable:
    """An object that Python cannot write into a sentence."""

    def __repr__(self):
        raise RuntimeError("no text")


NUMBERS = np.zeros((2, 3))
MASKED = {**NUMBERS.__array_interface__, "mask": np.zeros((2, 3), bool)}


class Mappings(unittest.TestCase):
    def test_a_missing_field_is_a_missing_key(self):
        fields = rs.columns(np.zeros(4, "f4,f8"))
        self.assertRaises(KeyError, lambda: fields["x"])
        self.assertIsNone(fields.get("x"))
        self.assertNotIn("x", fields)
        self.assertEqual(copy.copy(self.fails(fields)).status, 1)

    def fails(self, fields):
        with self.assertRaises(rs.Error) as caught:
            fields["x"]
        return caught.exception


class Refused(unittest.TestCase):
    """Every refusal is a restride.Error with one sentence, and comes from no deeper than the package's own checks."""

    CALLS = [
        (lambda: rs.transpose([[1, 2], [3, 4]]), "This list gives no access"),
        (lambda: rs.transpose("a.npy"), "This str is no array; restride.file changes files"),
        (lambda: rs.transpose(Path("a.npy"), out_of_place=True), "is no array; restride.file changes files"),
        (lambda: rs.transpose(None), "This NoneType gives no access"),
        (lambda: rs.transpose(np.float64(3)), "This float64 gives no access"),
        (lambda: rs.transpose(np.array([[1, None]])), "references to Python objects"),
        (lambda: rs.transpose(np.array([[1, None]]), out_of_place=True), "references to Python objects"),
        (lambda: rs.transpose(NUMBERS, out=np.zeros((2, 3))), "out has the shape"),
        (lambda: rs.transpose(NUMBERS, out=np.zeros((3, 2), "f4")), "out has elements of float32"),
        (lambda: rs.transpose(NUMBERS, out=NUMBERS.T), "overlap"),
        (lambda: rs.transpose(NUMBERS, out=np.zeros((3, 4))[:, ::2]), "cannot be written in one pass: it has gaps"),
        (lambda: rs.transpose(np.zeros((4, 4))[:, ::2], out=np.zeros((2, 4))), "cannot be read in one pass: it has gaps"),
        (lambda: rs.transpose(NUMBERS, out=np.broadcast_to(np.zeros(2), (3, 2))), "read-only"),
        (lambda: rs.transpose(NUMBERS, out=np.zeros((3, 2)), out_of_place=True), "give one of them"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", "i f", "f i", out=np.zeros(11)), "takes 96 bytes"),
        (lambda: rs.transpose(NUMBERS, out=5), "gives no access"),
        (lambda: rs.transpose(np.zeros((4, 4))[:, ::2]), "gaps"),
        (lambda: rs.transpose(np.zeros((4, 4))[::-1]), "negative strides"),
        (lambda: rs.transpose(np.broadcast_to(np.zeros(3), (2, 3))), "read-only"),
        (lambda: rs.transpose(np.frombuffer(bytes(12), "u1").reshape(3, 4)), "read-only"),
        (lambda: rs.convert(bytes(12), "i:4 f:3", "i f", "f i"), "read-only"),
        (lambda: rs.permute(np.zeros((2, 3)), (0, 0)), "each of the 2 axes once"),
        (lambda: rs.permute(np.zeros((2, 3)), (0, 2)), "each of the 2 axes once"),
        (lambda: rs.permute(np.zeros((2, 3)), 1), "whole numbers"),
        (lambda: rs.permute(np.zeros((2, 3)), "ab"), "whole numbers"),
        (lambda: rs.permute(np.zeros((2, 3)), (0, 1.5)), "whole numbers"),
        (lambda: rs.permute(np.zeros((2, 3)), (0, 1), order="A"), "order is"),
        (lambda: rs.permute(np.zeros((2, 3)), {1, 0}), "whole numbers"),
        (lambda: rs.permute(np.zeros((2, 3)), {1: 0, 0: 1}), "whole numbers"),
        (lambda: rs.permute(np.zeros((2, 3)), (10**6000, 0)), "whole numbers, not this tuple"),
        (lambda: rs.permute(np.zeros((2, 3)), list(range(10**5))), "..."),
        (lambda: rs.permute(np.zeros((2, 3)), (0, 1), order=Unwritable()), "not this Unwritable"),
        (lambda: rs.permute(np.zeros((2, 3)), itertools.count()), "each of the 2 axes once"),
        (lambda: rs.columns(np.zeros(4, "f4,f8")).__setitem__("f0", np.zeros(3)), "The field f0 was not set"),
        (lambda: rs.columns(np.zeros(4, "f4,f8")).__setitem__("f0", "abc"), "The field f0 was not set"),
        (lambda: rs.columns(np.zeros(4, "f4,f8"))["x"], "There is no field 'x'; the fields are f0, f1."),
        (lambda: rs.columns(np.zeros(4, "f4,f8")).__setitem__(0, 1), "There is no field 0; the fields are f0, f1."),
        (lambda: rs.transpose(np.zeros((2, 3)), threads=10**6000), "threads is a whole number"),
        (lambda: rs.transpose(np.zeros((2, 3)), out_of_place=np.array([1, 2])), "out_of_place is True or False"),
        (lambda: rs.transpose(Odd(__array_interface__=MASKED)), "mask"),
        (lambda: copy.deepcopy(rs.DeviceArray(None, {"shape": (2,)})), "no copies"),
        (lambda: rs.transpose(np.zeros((2, 3)), threads=-1), "threads is a whole number"),
        (lambda: rs.transpose(np.zeros((2, 3)), threads="2"), "threads is a whole number"),
        (lambda: rs.transpose(np.zeros((2, 3)), threads=1000), "threads is a whole number"),
        (lambda: rs.transpose(np.zeros((2, 3)), threads=np.array([1, 2])), "threads is a whole number"),
        (lambda: rs.transpose(np.zeros((200, 300)), progress=3), "progress is"),
        (lambda: rs.transpose(np.zeros((2, 3)), progress=np.zeros(2)), "progress is"),
        (lambda: rs.permute(np.zeros((2, 3)), (1, 0), order=np.array(["C", "F"])), "order is"),
        (lambda: rs.transpose(np.ndarray), "This type cannot be read"),
        (lambda: rs.transpose([[1, 2], [3]], out_of_place=True), "his list "),
        (lambda: rs.transpose(Odd(__array_interface__={"shape": 5})), "This Odd cannot be read"),
        (lambda: rs.transpose(Odd(__cuda_array_interface__={})), "This Odd cannot be read"),
        (lambda: rs.transpose(Odd(__dlpack_device__=lambda: None)), "This Odd cannot be read"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", "i f", "f"), "dimension i"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:2", "i f", "f i"), "take 64 bytes"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:\0", "i f", "f i"), "zero bytes"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:\ud800", "i f", "f i"), "UTF-8"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", "i " * 40000, "f i"), "more than 32767 terms"),
        (lambda: rs.convert(np.zeros(12), 5, "i f", "f i"), "texts"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", 3, "f i"), "texts"),
        (lambda: rs.convert(np.zeros(12), None, "i f", "f i"), "structured array"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", "i f", "f i", itemsize=-1), "itemsize is"),
        (lambda: rs.convert(np.zeros(12), "i:4 f:3", "i f", "f i", itemsize=1.5), "itemsize is"),
        (lambda: rs.columns(np.zeros(3)), "structured array of NumPy, and this is an array of float64"),
        (lambda: rs.columns([1]), "this is a list"),
        (lambda: rs.columns(np.zeros(3, [(f"f{k}", "i4") for k in range(5000)])), "4096 fields"),
        (lambda: pickle.dumps(rs.columns(np.zeros(3, [("a", "i4"), ("b", "f4")]))), "cannot be copied"),
        (lambda: pickle.dumps(rs.Plan((2, 3), dtype="i4")), "stays in its process"),
        (lambda: rs.columns(np.zeros(3, [("a", "i4"), ("b", "O")])), "Python objects"),
        (lambda: rs.columns(np.zeros(6, [("a", "i4"), ("b", "f4")])[::2]), "gaps"),
        (lambda: rs.Plan((2, 3)), "needs the dtype"),
        (lambda: rs.Plan((2, -3), dtype="i4"), "no shape"),
        (lambda: rs.Plan((2.7, 3), dtype="i4"), "no shape"),
        (lambda: rs.Plan((10**40, 3), dtype="i4"), "no shape"),
        (lambda: rs.Plan((2, 3), dtype="i4", method="\ud800"), "UTF-8"),
        (lambda: rs.Plan((2, 3), dtype="nonsense"), "no shape and dtype"),
        (lambda: rs.Plan((2, 3), dtype="O"), "Python objects"),
        (lambda: rs.Plan((20, 30), dtype="i4", method="magic"), "magic"),
        (lambda: rs.Plan((2, 3, 4), (1, 2, 0), dtype="i4", order="Q"), "order is"),
        (lambda: rs.Plan((20, 30, 40), (2, 1, 0), dtype="i4", method="3-stage"), "matrices"),
        (lambda: rs.Plan((1 << 62, 8), dtype="f8"), ""),
        (lambda: rs.Plan((2, 3), dtype="i4")(np.zeros((3, 2), "i4")), "plan is for"),
        (lambda: rs.Plan((2, 3), dtype="i4")(np.zeros((2, 3), "i8")), "plan is for"),
        (lambda: rs.Plan.convert("i:4 f:3", "i f", "f i", itemsize=4)(np.zeros(5)), "plan is for 48 bytes"),
        (lambda: rs.file.transpose("/nowhere/a.npy"), "/nowhere/a.npy"),
        (lambda: rs.file.transpose(b"/nowhere/a.npy"), "/nowhere/a.npy"),
        (lambda: rs.file.transpose("/nowhere/a", shape=(2, 3), dtype=object), "fixed size"),
        (lambda: rs.file.transpose(3), "path and journal are paths"),
        (lambda: rs.file.transpose("a", journal=np.array([1, 2])), "path and journal are paths"),
        (lambda: rs.file.transpose("a\ud800"), "UTF-8"),
        (lambda: rs.file.transpose("a", {0, 1}), "whole numbers"),
        (lambda: rs.file.transpose("a", threads=np.array([1, 2])), "threads is a whole number"),
        (lambda: rs.file.transpose("a", memory=10**6000), "memory is a whole number"),
        (lambda: rs.file.transpose("a", shape=(2, 3), dtype=10**6000), "dtype is"),
        (lambda: rs.file.transpose("a", explain=np.array([1, 2])), "explain is True or False"),
        (lambda: rs.file.convert("a", Unwritable(), "i f"), "not this Unwritable"),
        (lambda: rs.file.transpose("a\0b"), "zero bytes"),
        (lambda: rs.file.transpose("a", (0, "x")), "whole numbers"),
        (lambda: rs.file.transpose("a", shape=(2, 3)), "both shape and dtype"),
        (lambda: rs.file.transpose("a", shape=(2, 3), dtype="nonsense"), "dtype"),
        (lambda: rs.file.transpose("/nowhere/a", threads=-1), "threads is a whole number from 0 to 256"),
        (lambda: rs.file.convert("/nowhere/a.npy", "i f", 3), "texts"),
        (lambda: rs.rewrite(3), "a text or a pathlib.Path"),
        (lambda: rs.rewrite("__kernel void f() {}", language="fortran"), "language is one of"),
        (lambda: rs.rewrite("__kernel void f() {}", options="-DN"), "a list of texts"),
        (lambda: rs.rewrite("__kernel void f() {}", options=["a\0"]), "zero bytes"),
        (lambda: rs.rewrite("__kernel void f() {}", options=5), "options are a list of texts"),
        (lambda: rs.rewrite("__kernel void f() {}", language=["cuda"]), "language is one of"),
        (lambda: rs.rewrite("__kernel void f() {}", layouts=["a"]), "are mappings"),
        (lambda: rs.rewrite("__kernel void f() { /* \ud800 */ }"), "UTF-8"),
        (lambda: rs.rewrite("__kernel void f() {\n" + "(" * 100000 + "}"), "source.cl:2: an expression"),
        (lambda: rs.rewrite(b"__kernel void f() {}"), "of type bytes"),
        (lambda: rs.rewrite("kernels/bodies.cl"), "a file's name; hand over a pathlib.Path"),
        (lambda: rs.analyze("loops.c", language="c"), "a file's name; hand over a pathlib.Path"),
        (lambda: rs.analyze("void f() {}", language="c", threads=[5]), "threads are a list of texts"),
        (lambda: rs.rewrite("__kernel void f() {}", layouts={"a": "i q"}), ""),
        (lambda: rs.rewrite("__kernel void f() {}", tile="x"), "tile"),
        (lambda: rs.rewrite("__kernel void f() {}", tile=np.array([1, 2])), "tile is a whole number"),
        (lambda: rs.rewrite("__kernel void f() {}", layouts={1: "f i"}), "are texts"),
        (lambda: rs.rewrite("__kernel void f() {}", layouts={"a": Unwritable()}), "not this Unwritable"),
        (lambda: rs.rewrite("__kernel void f() {}", options=["-D\ud800"]), "UTF-8"),
        (lambda: rs.analyze("void f() {}", language="c", warp=np.array([1, 2])), "warp is a whole number"),
        (lambda: rs.rewrite(Path("/nowhere/a.cl")), "/nowhere/a.cl"),
        (lambda: rs.analyze(Path("/nowhere/a.cl")), "/nowhere/a.cl"),
        (lambda: rs.analyze("\0"), ""),
        (lambda: rs.layout("i:8", "j"), 'no dimension "j"'),
        (lambda: rs.layout("i:8", 3), "texts"),
        (lambda: rs.layout("i:8 f:2", "f i").offset(8, 0), "indices below"),
        (lambda: rs.layout("i:8 f:2", "f i").offset(1), "indices below"),
        (lambda: rs.layout("i:8 f:2", "f i").offset(np.array([1, 2]), 0), "indices below"),
        (lambda: pickle.dumps(rs.layout("i:8", "i")._handle), "stays in its process"),
        (lambda: rs.layout("i:8 f:2", "f i").accessors("fortran"), "dialect is"),
        (lambda: rs.layout("i:8 f:2", "f i").accessors(["c"]), "dialect is"),
        (lambda: rs.layout("i:8 f:2", "f i").accessors("c", None), "prefix is a C identifier"),
        (lambda: rs.layout("i:8 f:2", "f i").accessors("c", "1x"), "not a C identifier"),
    ]

    def test_sentences(self):
        for number, (call, words) in enumerate(self.CALLS):
            with self.subTest(number=number, words=words):
                with self.assertRaises(rs.Error) as caught:
                    call()
                sentence = str(caught.exception)
                if not sentence.startswith("This build is without"):
                    self.assertIn(words, sentence)
                self.assertIsInstance(caught.exception, ValueError)
                self.assertRegex(sentence, r"(?s)^[^ ].*\.$")
                self.assertTrue(caught.exception.__suppress_context__ or caught.exception.__context__ is None)

    def test_nothing_temporary(self):
        """A disk without room or rights, where a source or what the command says cannot be written."""
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch("tempfile.tempdir", "/nonexistent"):
            with self.assertRaisesRegex(rs.Error, "let TMPDIR name"):
                rs.rewrite("__kernel void f() {}")
            with self.assertRaisesRegex(rs.Error, "let TMPDIR name"):
                rs.file.transpose("/nowhere/a.npy")
        with mock.patch("pathlib.Path.write_bytes", side_effect=full):
            with self.assertRaisesRegex(rs.Error, "No space left"):
                rs.analyze("__kernel void f() {}")

    def test_memory_that_is_gone(self):
        """NumPy lets an mmap be closed under its arrays."""
        memory = mmap.mmap(-1, 4096)
        a = np.ndarray((32, 32), np.uint32, memory)
        memory.close()
        for out_of_place in (False, True):
            with self.assertRaisesRegex(rs.Error, "closed"):
                rs.transpose(a[1:], out_of_place=out_of_place)

    def test_a_result_that_cannot_be_made(self):
        """Then nothing has been changed: the result is made first."""

        class Armed(np.ndarray):
            def __array_finalize__(self, other):
                if other is not None and getattr(other, "armed", False):
                    raise RuntimeError("armed")

        for kind, call in ((np.dtype("f4"), rs.transpose), (np.dtype([("a", "u1"), ("b", "f4")]), rs.columns)):
            a = np.arange(15 * kind.itemsize, dtype="u1").view(kind).reshape(3, 5).view(Armed)
            before = a.tobytes()
            a.armed = True
            with self.assertRaisesRegex(RuntimeError, "armed"):
                call(a)
            a.armed = False
            self.assertEqual(a.tobytes(), before)

    def test_jax(self):
        try:
            import jax
            import jax.numpy as jnp
        except ImportError as missing:
            self.skipTest(f"{missing.name} is not installed")
        a = jnp.arange(6, dtype=jnp.bfloat16).reshape(2, 3)
        with self.assertRaisesRegex(rs.Error, "C order"):
            rs.permute(a, (1, 0), order="F")
        self.assertEqual(a.tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(rs.transpose(a).tolist(), [[0, 3], [1, 4], [2, 5]])
        with self.assertRaisesRegex(rs.Error, "deleted"):
            rs.transpose(a)

        def fail(done, total):
            raise RuntimeError("enough")

        a = jnp.arange(6).reshape(2, 3)
        with self.assertRaisesRegex(RuntimeError, "enough") as caught:
            rs.transpose(a, progress=fail)
        self.assertTrue(a.is_deleted() and caught.exception.result.tolist() == [[0, 3], [1, 4], [2, 5]])
        for packed in (jnp.arange(6).astype(jnp.int4).reshape(2, 3), jax.random.split(jax.random.key(0), 6)):
            with self.assertRaisesRegex(rs.Error, "only JAX knows"):
                rs.transpose(packed)
        with self.assertRaisesRegex(rs.Error, "cannot be read"):
            jax.jit(rs.transpose)(jnp.zeros((2, 3)))


if __name__ == "__main__":
    unittest.main()
