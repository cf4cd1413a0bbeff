"""What the package does by the command `restride`: files changed in place, kernels rewritten and analyzed."""

import contextlib
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import restride as rs
from restride._command import Answer
from test_package import in_child, left_out


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.npy")

    def test_transposed_and_converted(self):
        a = np.arange(24, dtype=">i4").reshape(2, 3, 4)
        np.save(self.path, np.asfortranarray(a))
        made = rs.file.transpose(Path(self.path), (2, 0, 1), journal=True, threads=2)
        self.assertEqual((made.target, made.nbytes, made.changed), ("4 x 2 x 3", 96, True))
        self.assertTrue((np.load(self.path) == a.transpose(2, 0, 1)).all())
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["a.npy"])
        rs.file.transpose(self.path, (1, 2, 0), journal=True)  # another change, not the same one told again
        self.assertTrue((np.load(self.path) == a).all())
        self.assertFalse(rs.file.transpose(self.path, explain=True).changed)
        records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "u1"), ("b", "f8")])
        np.save(self.path, records)
        rs.file.convert(self.path, "i f", "f i")
        rs.file.convert(self.path, "f i", "i f")
        self.assertTrue((np.load(self.path) == records).all())
        a.tofile(self.path)
        rs.file.transpose(self.path, shape=(2, 12), dtype="i4")
        self.assertTrue((np.fromfile(self.path, ">i4").reshape(12, 2) == a.reshape(2, 12).T).all())

    def test_progress(self):
        np.save(self.path, np.zeros((3000, 2000)))
        told = []
        rs.file.transpose(self.path, progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told[-1][0], told[-1][1])
        self.assertEqual(told, sorted(told))
        with self.assertRaisesRegex(rs.Error, "nowhere"):
            rs.file.transpose("/nowhere/a.npy", progress=lambda done, total: None)
        told.clear()
        with mock.patch("pty.openpty", side_effect=OSError("out of pty devices")):
            rs.file.transpose(self.path, progress=lambda done, total: told.append((done, total)))
        self.assertEqual([done for done, _ in told], [told[0][1]])

    def interrupted(self, journal):
        """Ctrl-C while a file of 120 MB is transposed; what the call said."""
        np.save(self.path, np.arange(30000000, dtype="u4").reshape(5000, 6000))
        code = """
import os, signal, sys, threading, restride as rs
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    rs.file.transpose(sys.argv[1], journal=sys.argv[2] == 'True')
    import time
    time.sleep(1)
except rs.Interrupted as stop:
    print(stop, stop.result is not None)
except KeyboardInterrupt:
    print('late')
"""
        told = in_child(code, self.path, journal)
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        return told.stdout

    def check_whole(self, journal):
        """The signal may also have come before the change, or ended it in the middle: then the same call makes it."""
        if np.load(self.path, mmap_mode="r").shape == (5000, 6000):
            self.assertTrue(rs.file.transpose(self.path, journal=journal).changed)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["a.npy"])
        b = np.load(self.path)
        self.assertEqual(b.shape, (6000, 5000))
        self.assertTrue((b == np.arange(30000000, dtype="u4").reshape(5000, 6000).T).all())

    def test_ctrl_c_without_a_journal_waits(self):
        self.assertRegex(self.interrupted(False), "^(.* has been brought to its end. True|late)")
        self.check_whole(False)

    def test_ctrl_c_with_a_journal_goes_on(self):
        said = self.interrupted(True)
        self.assertRegex(said, "^(.*(goes on from .*a.npy.journal|nothing was changed). False|.*end. True|late)")
        self.check_whole(True)

    def test_ctrl_c_at_any_moment(self):
        """While the command begins, and while its finished journal is removed: nothing is left running or behind."""
        np.save(self.path, np.arange(2500000, dtype="u4").reshape(1000, 2500))
        code = """
import os, signal, subprocess, sys, restride as rs
signal.signal(signal.SIGINT, signal.default_int_handler)
begin, remove = subprocess.Popen.__init__, os.remove
def begin_pressed(self, *arguments, **options):
    begin(self, *arguments, **options)
    children.append(self)
    os.kill(os.getpid(), signal.SIGINT)
def remove_pressed(path):
    os.kill(os.getpid(), signal.SIGINT)
    remove(path)
children = []
subprocess.Popen.__init__ = begin_pressed
try:
    rs.file.transpose(sys.argv[1], journal=True)
except rs.Interrupted as stop:
    print(stop.result is not None or os.path.exists(sys.argv[1] + '.journal') or 'nothing was changed' in str(stop))
except KeyboardInterrupt:
    print('anywhere')
print(children[0].poll() is not None)
subprocess.Popen.__init__, os.remove = begin, remove_pressed
try:
    rs.file.transpose(sys.argv[1], journal=True)
except rs.Interrupted as stop:
    print(stop.result is not None, os.listdir(os.path.dirname(sys.argv[1])))
"""
        told = in_child(code, self.path)
        self.assertEqual((told.stdout, told.stderr), ("True\nTrue\nTrue ['a.npy']\n", ""))


class Sources(unittest.TestCase):
    CUDA = """
struct body { float x, y, z, mass, a, b, c, d; };
__global__ void drift(body *bodies, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bodies[i].x += bodies[i].mass;
}
"""

    def setUp(self):
        missing = left_out("rewrite", "analyze")
        if missing:
            self.skipTest(missing)

    def test_rewrite(self):
        made = rs.rewrite(self.CUDA, language="cuda", header=True)
        self.assertEqual([str(one) for one in made.arguments], ['drift.bodies: transformed to "i/32 f i%32"'])
        self.assertIn("drift__asta", made.source)
        self.assertIn("restride_drift_form", made.header)
        soa = rs.rewrite(self.CUDA, language="cuda", layouts={"bodies": "f i"})
        self.assertEqual(soa.arguments[0].layout, "f i")
        raw = "typedef struct { float x, y; } b;\n__kernel void f(__global b *a) {\n  *(__global char *)a = 1;\n}\n"
        kept = rs.rewrite(raw).refusals[0]
        self.assertEqual((kept.line, kept.file, kept.reason), (3, "source.cl", "the pointer is cast"))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "-k.cl").write_text(raw, encoding="utf-8")
            with contextlib.ExitStack() as back:
                back.callback(os.chdir, os.getcwd())
                os.chdir(folder)
                self.assertEqual(rs.rewrite(Path("-k.cl")).refusals[0].line, 3)

    def test_broken_sources(self):
        for source in ("__kernel void f(__global float *a) { a[0] = ; }", "struct S { int x y; };"):
            with self.assertRaisesRegex(rs.Error, r"^source\.cl:1: expected .*\.$"):
                rs.rewrite(source)

    def test_analyze(self):
        found = rs.analyze("void f(float a[64][64]) { for (int i = 0; i < N; i++) a[i][0] = 1; }", language="c",
                           options=["-DN=64"])  # fmt: skip
        self.assertEqual(found.units[0].references[0].text, "a[i][0]")
        self.assertEqual(rs.analyze("__kernel void f(").notes[0].line, 1)


class Requirements(unittest.TestCase):
    def test_a_package_without_libclang(self):
        loader = "rewrite: error while loading shared libraries: libclang.so: cannot open shared object file: No such file"
        self.assertIn("pip install libclang.", Answer("", 127, loader).sentence())


if __name__ == "__main__":
    unittest.main()
