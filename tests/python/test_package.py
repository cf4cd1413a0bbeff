"""The package as a user meets it: what it takes, threads, forks, Ctrl-C, progress, memory."""

import array as array_module
import ast
import contextlib
import copy
import ctypes
import doctest
import gc
import importlib
import io
import json
import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np
import restride as rs
from restride._command import command

DOCS = Path(__file__).resolve().parents[2] / "docs"


def in_child(code, *arguments, **how):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, timeout=120, **how
    )


def left_out(*verbs):
    """What the command says of the first verb that the build leaves out, or nothing."""
    for verb in verbs:
        told = subprocess.run([command(), verb, "--help"], capture_output=True, text=True, check=False).stderr
        if "This build is without" in told:
            return told.strip()
    return ""


class Taken(unittest.TestCase):
    def check(self, memory, view):
        """`memory`, 6 x 4 numbers of two bytes as `view` shows them, is transposed in its own memory."""
        view[...] = np.arange(24).reshape(6, 4)
        wanted = view.T.copy()
        b = rs.transpose(memory)
        self.assertEqual(b.shape, (4, 6))
        self.assertTrue((b == wanted).all())
        self.assertEqual(b.__array_interface__["data"][0], view.__array_interface__["data"][0])

    def test_memoryview(self):
        memory = memoryview(bytearray(48)).cast("H", (6, 4))
        self.check(memory, np.asarray(memory))

    def test_ctypes(self):
        memory = ((ctypes.c_uint16 * 4) * 6)()
        self.check(memory, np.asarray(memory))

    def test_memmap_and_its_class(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a")
            memory = np.memmap(path, np.uint16, "w+", shape=(6, 4))
            self.check(memory, memory)
            self.assertIsInstance(rs.transpose(memory), np.memmap)
            del memory
            only = np.memmap(path, np.uint16, "r", shape=(6, 4))
            with self.assertRaisesRegex(rs.Error, "read-only"):
                rs.transpose(only)

    def test_mmap_and_flat_buffers(self):
        with mmap.mmap(-1, 48) as memory:
            memory[:] = bytes(range(48))
            self.assertIs(rs.convert(memory, "i:6 f:4", "i f", "f i", itemsize=2), memory)
            wanted = np.arange(48, dtype="u1").view("u2").reshape(6, 4).T.tobytes()
            self.assertEqual(memory[:], wanted)
        flat = array_module.array("H", range(24))
        rs.convert(flat, "i:6 f:4", "i f", "f i")
        self.assertEqual(flat.tolist(), np.arange(24).reshape(6, 4).T.ravel().tolist())
        # A buffer has one axis; its transpose is itself.
        self.assertEqual(rs.transpose(bytearray(b"abc")).tobytes(), b"abc")

    def test_array_interface(self):
        class Owner:
            def __init__(self, array):
                self.kept, self.__array_interface__ = array, array.__array_interface__

        view = np.zeros((6, 4), np.uint16)
        self.check(Owner(view), view)

    def test_arrow_and_pandas(self):
        try:
            import pandas
            import pyarrow
        except ImportError as missing:
            self.skipTest(f"{missing.name} is not installed")
        buffer = pyarrow.allocate_buffer(48)
        view = np.frombuffer(buffer, np.uint16)
        view[...] = range(24)
        rs.convert(buffer, "i:6 f:4", "i f", "f i", itemsize=2)
        self.assertEqual(view.tolist(), np.arange(24).reshape(6, 4).T.ravel().tolist())
        with self.assertRaisesRegex(rs.Error, "read-only"):
            rs.convert(pyarrow.py_buffer(bytes(48)), "i:6 f:4", "i f", "f i", itemsize=2)
        frame = pandas.DataFrame({"x": [1, 2], "y": [3, 4]})
        with self.assertRaisesRegex(rs.Error, "DataFrame gives no access"):
            rs.transpose(frame)
        self.assertEqual(rs.transpose(frame, out_of_place=True).tolist(), [[1, 2], [3, 4]])

    def test_torch_on_the_host(self):
        try:
            import torch
        except ImportError as missing:
            self.skipTest(f"{missing.name} is not installed")
        for kind in (torch.float32, torch.bfloat16, torch.uint8, torch.complex64):
            t = torch.arange(24).reshape(2, 3, 4).to(kind)
            wanted, address = t.permute(2, 0, 1).clone(), t.data_ptr()
            b = rs.permute(t, (2, 0, 1))
            self.assertTrue(torch.equal(b, wanted) and b.is_contiguous() and b.data_ptr() == address)
        with self.assertRaisesRegex(rs.Error, "autograd"):
            rs.transpose(torch.zeros(2, 3, requires_grad=True))
        with self.assertRaisesRegex(rs.Error, "conjugated"):
            rs.transpose(torch.zeros(2, 3, dtype=torch.complex64).conj())

    def test_subclasses(self):
        records = np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]).reshape(1, 2)
        self.assertIsInstance(rs.transpose(records), np.recarray)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            self.assertEqual(rs.transpose(np.matrix([[1, 2, 3]])).shape, (3, 1))
        with self.assertRaisesRegex(rs.Error, "mask"):
            rs.transpose(np.ma.masked_equal([[1, 2], [3, 4]], 2))

    def test_large_and_odd(self):
        a = np.arange(1000 * 700, dtype=np.complex64).reshape(700, 1000)
        wanted = a.T.copy()
        self.assertTrue((rs.transpose(a) == wanted).all())
        for shape in ((), (0, 3), (1, 1), (1,) * 20, (2, 1, 0)):
            self.assertEqual(rs.transpose(np.zeros(shape)).shape, shape[::-1])
        self.assertEqual(rs.transpose(np.zeros((2, 3), "S0")).shape, (3, 2))
        self.assertEqual(rs.Plan((300,), dtype="i4").describe()["bytes"], 1200)  # nothing moves


class Runs(unittest.TestCase):
    def test_threads_run_different_plans(self):
        wrong = []

        def work(seed):
            random = np.random.default_rng(seed)
            for _ in range(30):
                a = random.integers(0, 1 << 30, tuple(random.integers(2, 90, 3)))
                axes = random.permutation(3)
                wanted = a.transpose(axes).copy()
                if not (rs.permute(a, axes) == wanted).all():
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_the_interpreter_goes_on(self):
        """While one thread is in the library, another one counts."""
        a = np.ones((3000, 4001), np.float64)
        counted, ended = [0], threading.Event()

        def count():
            while not ended.is_set():
                counted[0] += 1
                time.sleep(0.0005)

        thread = threading.Thread(target=count)
        thread.start()
        most = 0
        for _ in range(100):  # a busy machine may let the other thread wait
            before = counted[0]
            a = rs.transpose(a, threads=1)
            most = max(most, counted[0] - before)
            if most > 3:
                break
        ended.set()
        thread.join()
        self.assertGreater(most, 3)

    def test_children_after_a_fork(self):
        plan = rs.Plan((300, 500), dtype="f8")
        a = np.arange(150000.0).reshape(300, 500)
        rs.transpose(a.copy())
        stop = threading.Event()

        def keep_busy():
            while not stop.is_set():
                rs.transpose(np.zeros((400, 300)))

        thread = threading.Thread(target=keep_busy)
        thread.start()
        try:
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    good = (plan(a.copy()) == a.T).all() and (rs.transpose(a.copy()) == a.T).all()
                    os._exit(0 if good else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            stop.set()
            thread.join()

    def test_ctrl_c_leaves_the_array_whole(self):
        code = """
import os, signal, threading, time, numpy as np, restride as rs
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started this test
a = np.arange(40000000, dtype='u4').reshape(5000, 8000)
threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
pressed = 0
while not pressed:
    was = a.shape
    before = int(a[1, 2])
    try:
        a = rs.transpose(a, threads=1)
    except rs.Interrupted as stop:
        pressed, sentence = 1, str(stop)
        a = stop.result
    except KeyboardInterrupt:
        pressed, sentence = 2, ''
    if pressed < 2:
        assert a.shape == was[::-1] and int(a[2, 1]) == before
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
b = a if a.shape == (5000, 8000) else a.T
assert (b == np.arange(40000000, dtype='u4').reshape(5000, 8000)).all()
print(pressed, sentence)
"""
        told = in_child(code)
        self.assertEqual((told.returncode, told.stderr), (0, ""), told.stderr)
        self.assertRegex(told.stdout, r"^(1 The transposition was interrupted and has been brought to its end|2)")

    def test_ctrl_c_while_the_plan_is_freed(self):
        code = """
import os, signal, numpy as np, restride as rs
signal.signal(signal.SIGINT, signal.default_int_handler)
destroy = rs._library._destroy
def pressed(function, *arguments):
    if function is rs._library.library.restride_plan_destroy:
        os.kill(os.getpid(), signal.SIGINT)
    destroy(function, *arguments)
rs._library._destroy = pressed
for call in (rs.transpose, lambda a: rs.convert(a, 'i:1000 j:2000', 'i j', 'j i')):
    try:
        call(np.zeros((1000, 2000)))
    except rs.Interrupted as stop:
        print(stop.result.size)
"""
        told = in_child(code)
        self.assertEqual((told.stdout, told.stderr), ("2000000\n2000000\n", ""))

    def test_progress(self):
        told = []
        a = rs.transpose(np.zeros((3000, 2000)), progress=lambda done, total: told.append((done, total)))
        self.assertEqual(told, sorted(told))
        self.assertEqual(told[-1][0], told[-1][1])
        self.assertEqual(a.shape, (2000, 3000))

        def fail(done, total):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough") as caught:
            rs.transpose(a, progress=fail)
        self.assertEqual(caught.exception.result.shape, (3000, 2000))
        records = np.zeros(700000, [("a", "i4"), ("b", "f8")])
        records["a"] = range(700000)
        with self.assertRaisesRegex(RuntimeError, "enough") as caught:
            rs.columns(records, progress=fail)
        self.assertTrue((caught.exception.result["a"] == range(700000)).all())
        caught.exception.result.records()
        self.assertTrue((records["a"] == range(700000)).all())
        shown = in_child("import numpy as np, restride as rs; rs.transpose(np.zeros((999, 777)), progress=True)")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        try:
            importlib.import_module("tqdm")
        except ImportError:
            self.assertEqual(shown.stderr, "")
        else:
            self.assertIn("restride: 100%", shown.stderr)

    def test_scratch_memory_of_many_threads(self):
        """The library would take up to 4 MiB a thread."""
        for shape, axes in (((12000, 8000), None), ((100, 96, 80, 100), (3, 2, 1, 0)), ((3000, 2000), None)):
            nbytes = 4 * int(np.prod(shape))
            for threads in (1, 16, 64, 256):
                with rs.Plan(shape, axes, dtype="f4", threads=threads) as plan:
                    self.assertLessEqual(plan.scratch_bytes, nbytes // 100 + (6 << 20), (shape, threads))

    def test_peak_memory(self):
        """At most 1 % and 8 MiB above the array, for a transposition and for records."""
        code = """
import resource, sys, numpy as np, restride as rs
n = 4_000_000
kind = np.dtype([(name, 'f4') for name in 'abcde'])
rs.transpose(np.zeros((300, 200), 'f4')); rs.columns(np.zeros(99, kind)).records()
if sys.argv[1] == 'matrix':
    a = np.ones((5000, 4000), 'f4')
    call = lambda: rs.transpose(a)
else:
    a = np.ones(n, kind)
    call = lambda: rs.columns(a).records()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
call()
extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert extra * 1024 <= a.nbytes // 100 + (8 << 20), extra
"""
        for task in ("matrix", "records"):
            told = in_child(code, task)
            self.assertEqual((told.returncode, told.stderr), (0, ""), task)


class Pictures(unittest.TestCase):
    def test_copies_are_layouts_of_their_own(self):
        made = rs.layout("i:8 f:2", "f i")
        copies = [copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))]
        del made
        gc.collect()
        for one in copies:
            self.assertEqual((one.offset(1, 1), repr(one)), (9, "restride.layout('i:8 f:2', 'f i')"))

    def test_layout(self):
        made = rs.layout("i:8 f{float x; double m;}", "i/4 f i%4")
        self.assertTrue(made._repr_svg_().lstrip().startswith("<svg") or "<svg" in made.svg())
        self.assertIn("i=0", str(made))
        self.assertEqual(made.size, 128)
        self.assertEqual(made.extents, (8, 3))
        self.assertIn("BODY_x_OFFSET", made.accessors("opencl", "BODY"))
        self.assertEqual(eval(repr(made), {"restride": rs}).size, 128)


class Documented(unittest.TestCase):
    def skip_without(self, *verbs):
        missing = left_out(*verbs)
        if missing:
            self.skipTest(missing)

    def test_doctests(self):
        tried = 0
        for path in sorted(Path(rs.__file__).parent.glob("*.py")):
            name = "restride" if path.stem == "__init__" else f"restride.{path.stem}"
            if path.stem == "_sources" and left_out("rewrite", "analyze"):
                continue
            result = doctest.testmod(importlib.import_module(name))
            self.assertEqual(result.failed, 0, name)
            tried += result.attempted
        self.assertGreater(tried, 30)

    def test_the_page(self):
        self.skip_without("rewrite")
        page = str(DOCS / "python.md")
        result = doctest.testfile(page, module_relative=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
        self.assertEqual(result.failed, 0)
        self.assertGreater(result.attempted, 20)

    def test_the_notebook(self):
        """Each cell runs, prints what it printed, and ends in the same kinds of result."""
        self.skip_without("rewrite", "analyze")
        notebook = json.loads((DOCS / "python.ipynb").read_text(encoding="utf-8"))
        names = {}
        for cell in notebook["cells"]:
            if cell["cell_type"] != "code":
                continue
            source = ast.parse("".join(cell["source"]))
            last = source.body.pop() if isinstance(source.body[-1], ast.Expr) else None
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(source, "cell", "exec"), names)
                value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            wanted = [output for output in cell["outputs"] if output["output_type"] == "stream"]
            self.assertEqual(printed.getvalue(), "".join("".join(output["text"]) for output in wanted))
            for output in cell["outputs"]:
                if output["output_type"] == "execute_result":
                    picture = output["data"].get("image/svg+xml")
                    shown = repr(value) if picture is None else value._repr_svg_()
                    self.assertEqual("".join(picture or output["data"]["text/plain"]).strip(), shown.strip())

    def test_everything_public_has_a_docstring(self):
        for name in rs.__all__:
            self.assertTrue(getattr(rs, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
